// The first screen: the verdict in words, the lattice, the first anomaly and its proof.

function verdictTone(report) {
  if (report.verdict !== "none") return report.verdict;
  if (report.weakestViolated.length > 0 || report.models.not.length > 0 || report.anomalies.length > 0)
    return "violated";
  return report.levels.some((level) => level.verdict === "satisfied") || report.models.proved.length > 0
    ? "satisfied"
    : "unknown";
}

// The levels that the verdict is about.
function brokenLevels(report) {
  const verdictOf = new Map(report.levels.map((level) => [level.id, level.verdict]));
  const broken = askedLevels(report).filter((id) => verdictOf.get(id) === "violated");
  return broken.length > 0 ? broken : report.weakestViolated;
}

const askedLevels = (report) =>
  report.expected.length > 0 ? report.expected : report.levels.filter((level) => level.asked).map((level) => level.id);

// The anomaly that explains the verdict best: the most telling one comes first in every output.
const mainAnomaly = (report) => report.anomalies[0];

function headline(report, tone) {
  const asked = askedLevels(report);
  const be = (names) => (names.length === 1 ? "is" : "are");
  const say = (names, what) => `${enumeration(names.map(levelWords))} ${what}`;
  if (tone === "violated") {
    const names = brokenLevels(report);
    if (names.length > 0) return say(names, `${be(names)} violated`);
    if (report.models.not.length > 0) return `not ${enumeration(report.models.not.map(levelWords))}`;
    return "anomalies were found";
  }
  if (tone === "satisfied") {
    const names = asked.length > 0 ? asked : report.strongest;
    if (names.length > 0) return say(names, names.length === 1 ? "holds" : "hold");
    return report.models.proved.length > 0
      ? say(report.models.proved, report.models.proved.length === 1 ? "holds" : "hold")
      : "no anomaly was found";
  }
  return "the verdict is open";
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function inputLine(report) {
  const { counts } = report,
    parts = [];
  if (counts.transactions !== null) parts.push(plural(counts.transactions, "transaction"));
  if (counts.sessions !== null) parts.push(`in ${plural(counts.sessions, "session")}`);
  if (counts.operations !== null) parts.push(`with ${plural(counts.operations, "operation")}`);
  const odd = [];
  if (counts.aborted) odd.push(`${count(counts.aborted)} aborted`);
  if (counts.unknown) odd.push(`${count(counts.unknown)} of unknown outcome`);
  return `${parts.join(" ")}${odd.length > 0 ? `; ${odd.join(", ")}` : ""}`;
}

function facts(report, tone) {
  const rows = [];
  const say = (name, ids, empty) =>
    (ids.length > 0 || empty) &&
    rows.push(
      el("dt", {}, name),
      el(
        "dd",
        {},
        ids.length > 0 ? ids.map((id, at) => [at > 0 && ", ", el("span", { class: "level-name" }, id)]) : empty
      )
    );
  if (report.expected.length > 0) say("Expected", report.expected);
  const models = report.models.not.length + report.models.proved.length > 0;
  if (report.levels.length > 0 && (!models || report.strongest.length > 0))
    say("Strongest that holds", report.strongest, "none of the levels that were decided");
  if (tone === "violated" || report.expected.length > 0) say("Weakest violated", report.weakestViolated);
  const left = report.levels.filter((level) => level.verdict === "undecided" && level.reason);
  for (const reason of new Set(left.map((level) => level.reason)))
    rows.push(
      el("dt", {}, "Not decided"),
      el(
        "dd",
        {},
        left
          .filter((level) => level.reason === reason)
          .map((level, at) => [at > 0 && ", ", el("span", { class: "level-name" }, level.id)]),
        ` (${reason})`
      )
    );
  say("Models ruled out", report.models.not);
  say("and with them", report.models.alsoNot);
  say("Models proved", report.models.proved);
  if (report.unknownReason) rows.push(el("dt", {}, "Left open because"), el("dd", {}, report.unknownReason));
  rows.push(
    el("dt", {}, "History"),
    el(
      "dd",
      {},
      el("span", { class: "file" }, report.file || "no file"),
      report.format && ` (${report.format})`,
      el("br"),
      inputLine(report)
    )
  );
  return el("dl", { class: "facts" }, rows);
}

// As much of a proof as the first screen has room for.
const FIRST_LETTERS = 620;
function firstSentences(sentences) {
  let letters = 0;
  const fit = sentences.findIndex((sentence) => (letters += sentence.length) > FIRST_LETTERS);
  return fit < 0 ? sentences : sentences.slice(0, Math.max(1, fit));
}

function firstAnomaly(report) {
  const anomaly = mainAnomaly(report);
  if (!anomaly) return null;
  const ids = new Set(anomaly.graph.nodes.map((node) => node.id));
  const others = report.anomalies.length - 1,
    shown = firstSentences(anomaly.sentences),
    rest = anomaly.sentences.length - shown.length;
  return el(
    "div",
    { class: "why-box" },
    el("h2", { class: "why-title" }, anomalyTitle(anomaly)),
    el(
      "p",
      { class: "why-level" },
      "breaks ",
      el("span", { class: "level-name" }, anomaly.level),
      report.verdict === "satisfied" && ", which was not asked for",
      ", ",
      plural(anomaly.count, "time")
    ),
    el(
      "ol",
      { class: anomaly.sentences.length > 1 ? "proof" : "proof proof-one" },
      shown.map((sentence) => el("li", {}, prose(sentence, ids)))
    ),
    el(
      "p",
      { class: "why-more" },
      el(
        "a",
        { href: `#${anomaly.anchor}` },
        rest > 0 ? `Read on, ${plural(rest, "more sentence")}, and see it drawn` : "See it drawn"
      ),
      others > 0 && [
        " or ",
        el(
          "a",
          { href: "#anomalies" },
          others === 1 ? "the other kind of anomaly" : `the other ${count(others)} kinds`
        ),
      ],
      "."
    )
  );
}

function showVerdict(report) {
  const tone = verdictTone(report),
    chip = { violated: "Violated", satisfied: "Satisfied", unknown: "Unknown" }[tone];
  const words = add(el("div", { class: "hero-words" }), [
    el("p", { class: `chip chip-${tone}` }, verdictIcon(tone), chip),
    el("h1", { id: "verdict-title" }, `${capital(headline(report, tone))}.`),
    el("div", { class: "hero-parts" }, firstAnomaly(report), facts(report, tone)),
    report.leftOut.map((notice) => el("p", { class: "notice" }, el("strong", {}, "Left out: "), notice)),
  ]);
  byId("verdict").classList.add(`tone-${tone}`);
  add(byId("verdict"), [words, lattice(report)]);
}
