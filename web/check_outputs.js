// What can be done with a result: make it small, go back to the whole, and save it in several forms.

// Outputs: id, label, ending, type.
const SAVED = [
  ["html", "Report", ".html", "text/html"],
  ["json", "JSON", ".json", "application/json"],
  ["svg", "SVG", ".svg", "image/svg+xml"],
  ["text", "Text", ".txt", "text/plain"],
];
// The ending of a part of a history, by the format that it is written in: that of the whole, or JSON lines.
const ENDINGS = { plume: ".txt", dbcop: ".bincode", edn: ".edn", json: ".json", binary: ".isoproof" };

// The name of a history without endings, for files made from it.
const stemOf = (name) => name.replace(/\.(gz|zst)$/i, "").replace(/\.[a-z]{1,8}$/i, "") || "history";

function save(name, type, bytes) {
  const link = el("a", { href: URL.createObjectURL(new Blob(bytes, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// A level that is violated, the weakest first: what a smaller part is to violate, too.
const violatedLevels = (data) =>
  data.levels
    .filter((level) => level.verdict === "violated" && !level.follows)
    .map((level) => level.id)
    .sort((a, b) => data.weakestViolated.indexOf(b) - data.weakestViolated.indexOf(a));

function minimizeTools(state, act) {
  if (state.which === "part")
    return el("span", { class: "output-group" }, button("Back to the whole history", act.whole, { id: "show-whole" }));
  const levels = violatedLevels(state.data);
  if (levels.length === 0) return null;
  const level = el(
    "select",
    { id: "minimize-level", "aria-label": "Level that the part still violates" },
    levels.map((id) => el("option", { value: id }, id))
  );
  return el(
    "span",
    { class: "output-group" },
    button("Smallest part that violates", () => act.minimize(level.value), { id: "minimize" }),
    level
  );
}

// act: whole(), minimize(level), write(output, name, type)
function fillOutputs(state, act) {
  const place = clear(byId("check-outputs")),
    stem = stemOf(state.name) + (state.which === "part" ? "-smallest" : "");
  place.hidden = false;
  add(place, [
    minimizeTools(state, act),
    el(
      "span",
      { class: "output-group", role: "group", "aria-label": "Save" },
      el("span", { class: "output-label" }, "Save"),
      SAVED.filter(([output]) => output !== "svg" || state.data.anomalies.length > 0).map(([output, label, ending, type]) =>
        button(label, () => act.write(output, stem + ending, type), { id: `save-${output}` })
      ),
      state.which === "part" &&
        button("History", () => act.write("history", stem + (ENDINGS[state.data.format] || ".jsonl"), "application/octet-stream"), {
          id: "save-history",
        })
    ),
  ]);
}
