// The first screen: the verdict in words, beside it the anomaly that shows it or how hard the run tried, and the levels.

const brokenInvariants = (report) => report.invariants.filter((one) => one.broken);

function verdictTone(report) {
  if (brokenInvariants(report).length > 0) return "violated";
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
// Where an invariant is broken, that is the one that its reason names first: one that people know by name, such as a lost
// update, before patterns with a number.
const mainAnomaly = (report) =>
  (brokenInvariants(report).length > 0 && report.anomalies.find((anomaly) => !anomaly.code.startsWith("TAP-"))) || report.anomalies[0];

function headline(report, tone) {
  const asked = askedLevels(report);
  const be = (names) => (names.length === 1 ? "is" : "are");
  // Of many, the first level and how many others: session guarantees fall with it.
  const family = new Map(report.levels.map((level) => [level.id, level.family === "session-guarantee" ? 1 : 0])),
    brief = (names) => {
      const sorted = [...names].sort((a, b) => (family.get(a) || 0) - (family.get(b) || 0));
      return names.length > 3 ? [sorted[0], `${count(names.length - 1)} others`] : sorted;
    };
  const say = (names, what) => `${enumeration(brief(names).map(levelWords))} ${what}`;
  const broken = brokenInvariants(report).length;
  if (broken > 0 && report.verdict !== "violated") return broken === 1 ? "an invariant is broken" : `${count(broken)} invariants are broken`;
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

const factOf = (report, name) => (report.run.find((fact) => fact.name === name) || { value: "" }).value;

function outcomes(counts) {
  const odd = [];
  if (counts.aborted) odd.push(`${count(counts.aborted)} aborted`);
  if (counts.unknown) odd.push(`${count(counts.unknown)} of unknown outcome`);
  return odd.length > 0 ? `, ${odd.join(", ")}` : "";
}

// What was asked, of which run.
function runLine(report) {
  const { counts } = report,
    database = factOf(report, "database"),
    isolation = factOf(report, "isolation"),
    parts = [];
  if (database) parts.push(`${database}${isolation ? ` at ${isolation}` : ""}: `);
  if (counts.transactions !== null) parts.push(plural(counts.transactions, "transaction"));
  if (counts.sessions !== null) parts.push(` in ${plural(counts.sessions, "session")}`);
  const interrupted = factOf(report, "interrupted");
  const lasted = report.times ? ` over ${duration(report.times.end - report.times.start)}` : "";
  return `${parts.join("")}${lasted}${outcomes(counts)}${interrupted ? `; interrupted ${interrupted}` : ""}.`;
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
  if (report.expected.length > 0) say("Asked for", report.expected);
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
  say("Ruled out", report.models.not);
  say("and with them", report.models.alsoNot);
  say("Proved", report.models.proved);
  rows.push(
    el("dt", {}, "History"),
    el(
      "dd",
      {},
      el("span", { class: "file" }, report.file || "no file"),
      report.format && ` (${report.format})`,
      report.counts.operations !== null && `, ${plural(report.counts.operations, "operation")}`
    )
  );
  return el("dl", { class: "facts" }, rows);
}

// What one has to know about the history behind the verdict.
const notices = (report) =>
  report.notices.map(({ message, line }) =>
    el("p", { class: "notice" }, el("strong", {}, "Notice: "), message, line !== null && ` (line ${line})`)
  );

// What the user's own invariants say, the broken ones first.
const invariants = (report) => [
  brokenInvariants(report).map((one) => el("p", { class: "notice" }, el("strong", {}, "Broken: "), `${one.words}.`)),
  report.invariantsReason && el("p", { class: "notice" }, report.invariantsReason),
  report.invariants
    .filter((one) => !one.broken)
    .map((one) => el("p", { class: "notice" }, `${capital(one.words)}.`)),
];

function showVerdict(report) {
  const tone = verdictTone(report),
    chip = { violated: "Violated", satisfied: "Satisfied", unknown: "Unknown" }[tone];
  const words = add(el("div", { class: "hero-words" }), [
    el("p", { class: `chip chip-${tone}` }, verdictIcon(tone), chip),
    el("h1", { id: "verdict-title" }, `${capital(headline(report, tone))}.`),
    el("p", { class: "run-line" }, runLine(report)),
    invariants(report),
    notices(report),
    report.unknownReason && el("p", { class: "notice" }, el("strong", {}, "Left open: "), report.unknownReason),
    report.leftOut.map((notice) => el("p", { class: "notice" }, el("strong", {}, "Left out: "), notice)),
  ]);
  const shown = report.anomalies.length > 0 || report.effort;
  byId("verdict").classList.add(`tone-${tone}`, shown ? "hero-shown" : "hero-bare");
  add(byId("verdict"), [
    words,
    shown &&
      el(
        "div",
        { class: "hero-show" },
        report.anomalies.length > 0 ? [el("div", { id: "anomaly-place" }), el("div", { id: "anomaly-print" })] : effortPanel(report)
      ),
    el("div", { class: "hero-levels" }, lattice(report), facts(report, tone)),
  ]);
}
