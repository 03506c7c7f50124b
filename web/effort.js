// How hard the run tried: a level that holds says little where nothing could have gone wrong.

const share = (part, whole) => {
  const percent = (part / Math.max(1, whole)) * 100;
  return percent > 0 && percent < 1 ? "less than 1 %" : `${Math.round(percent)} %`;
};

function effortTiles(report) {
  const { effort, counts } = report,
    [least, median, most] = effort.versions;
  const tile = (figure, words, note) =>
    el(
      "div",
      { class: "tile" },
      el("dt", {}, words),
      el("dd", { class: "tile-figure" }, figure),
      el("dd", { class: "tile-note" }, note)
    );
  return el(
    "dl",
    { class: "tiles" },
    counts.committed !== null &&
      tile(count(counts.committed), "committed", `${count(counts.aborted || 0)} aborted${counts.unknown ? `, ${count(counts.unknown)} unknown` : ""}`),
    effort.mean !== null && tile(series3(effort.mean), "at once, on average", `${count(effort.max)} at most`),
    effort.conflicting !== null &&
      tile(share(effort.conflicting, effort.transactions), "met a conflict", "ran while another one used a key of theirs, and one of the two wrote it"),
    most !== null &&
      tile(count(median), median === 1 ? "version per key" : "versions per key", `${count(least)} to ${count(most)} on ${plural(effort.keys, "key")}`)
  );
}

function chanceRow(chance, most) {
  const some = chance.count > 0,
    width = some ? Math.max(1.5, (Math.log10(chance.count + 1) / Math.log10(most + 1)) * 100) : 0;
  return el(
    "li",
    { class: some ? "chance" : "chance chance-none" },
    el("span", { class: "chance-name" }, chance.name),
    el("span", { class: "chance-count" }, some ? `${chance.atLeast ? "at least " : ""}${count(chance.count)}` : "no chance"),
    svg(
      "svg",
      { class: "chance-line", viewBox: "0 0 100 5", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { width, height: 5 })
    ),
    el("span", { class: "chance-what" }, chance.what)
  );
}

// One sentence about what the figures below mean for the verdict.
function effortSentence(effort) {
  if (effort.mean === null)
    return "The history has no times, so it does not tell what ran at the same time, and which anomalies had a chance.";
  const never = effort.chances.filter((chance) => chance.count === 0).map((chance) => chance.name);
  if (effort.chances.length === 0) return "";
  if (never.length === 0) return "Each of the anomalies below had chances to appear.";
  if (never.length === effort.chances.length)
    return "No anomaly had a chance to appear: no two transactions met on a key. The verdict says little about the database.";
  return `The run could not have shown ${enumeration(never)}: nothing that it did gave ${never.length === 1 ? "it" : "them"} a chance.`;
}

function effortPanel(report) {
  const { effort } = report,
    most = Math.max(1, ...effort.chances.map((chance) => chance.count));
  return el(
    "section",
    { class: "effort", "aria-labelledby": "effort-title" },
    el("h2", { id: "effort-title" }, "How hard the run tried"),
    el("p", { class: "meaning" }, effortSentence(effort)),
    effortTiles(report),
    effort.chances.length > 0 && [
      el("h3", {}, "Chances that anomalies had to appear"),
      el("ol", { class: "chances" }, effort.chances.map((chance) => chanceRow(chance, most))),
      el("p", { class: "reading" }, "Bars are logarithmic. A chance is a pair of transactions that did what the anomaly needs at the same time.")
    ]
  );
}
