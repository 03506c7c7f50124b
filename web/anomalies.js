// The list of anomalies with its filter, and the one that is open.  An anomaly's anchor in the address opens it.

const anomalyListeners = [];
let openAnomaly = null;

function anomalyMatches(anomaly, words, level) {
  if (level && anomaly.level !== level) return false;
  const text = [
    anomaly.code,
    anomaly.name,
    anomaly.level,
    anomaly.anchor,
    ...anomaly.keys.map((key) => `key:${key}`),
    ...anomaly.keys,
    ...anomaly.graph.nodes.map((node) => node.id),
  ]
    .join(" ")
    .toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function anomalyRow(anomaly) {
  return el(
    "li",
    { class: "anomaly-row" },
    el(
      "a",
      { href: `#${anomaly.anchor}`, "data-anchor": anomaly.anchor },
      el("span", { class: "code" }, anomaly.code),
      el("span", { class: "row-name" }, sameWords(anomaly.code, anomaly.name) ? "" : anomaly.name),
      el("span", { class: "row-level" }, "breaks ", anomaly.level),
      el(
        "span",
        { class: "row-keys" },
        anomaly.keys.length > 0 && [
          anomaly.keys.length === 1 ? "key " : "keys ",
          cut(anomaly.keys.slice(0, 4).join(", "), 40),
          anomaly.keys.length > 4 && ", \u2026",
        ]
      ),
      el(
        "span",
        { class: "row-count" },
        isCounted(anomaly) && `${anomaly.atLeast ? "\u2265\u202f" : ""}${count(anomaly.count)}\u00d7`
      )
    )
  );
}

function anomalyList(report) {
  const rows = report.anomalies.map((anomaly) => ({ anomaly, row: anomalyRow(anomaly) }));
  const found = el("p", { class: "found", role: "status" });
  const levels = [...new Set(report.anomalies.map((anomaly) => anomaly.level))].filter(Boolean);
  const words = el("input", {
    type: "search",
    id: "filter",
    placeholder: "code, name, key or transaction",
    autocomplete: "off",
    spellcheck: "false",
  });
  const level = el(
    "select",
    { id: "filter-level" },
    el("option", { value: "" }, "every level"),
    levels.map((id) => el("option", { value: id }, id))
  );
  const update = () => {
    let shown = 0;
    for (const { anomaly, row } of rows) {
      row.hidden = !anomalyMatches(anomaly, words.value.trim(), level.value);
      if (!row.hidden) shown++;
    }
    clear(found).append(
      shown === rows.length
        ? `${plural(rows.length, "anomaly", "anomalies")}`
        : `${count(shown)} of ${plural(rows.length, "anomaly", "anomalies")}`
    );
  };
  words.addEventListener("input", update);
  level.addEventListener("change", update);
  update();
  const filter =
    rows.length > 1 &&
    el(
      "div",
      { class: "filter", role: "search" },
      el("label", { for: "filter" }, "Filter"),
      words,
      el("label", { for: "filter-level", class: "visually-hidden" }, "Level broken"),
      level,
      found
    );
  return el(
    "div",
    { class: "anomaly-list" },
    filter,
    el(
      "ol",
      { class: "anomaly-rows" },
      rows.map(({ row }) => row)
    )
  );
}

function caseFigure(one, place) {
  const { figure, look } = graphFigure(one.graph, `Graph of case ${place + 1}`, false);
  const ids = new Set(one.graph.nodes.map((node) => node.id));
  return el(
    "section",
    { class: "case" },
    el("h4", {}, prose(one.title || `Case ${place + 1}`, ids, look)),
    one.sentences.map((sentence) => el("p", {}, prose(sentence, ids, look))),
    figure
  );
}

function anomalyDetail(anomaly) {
  const article = el("article", {
    class: "anomaly",
    tabindex: "-1",
    "aria-labelledby": `${anomaly.anchor}-title`,
    "data-anchor": anomaly.anchor,
  });
  const drawn =
    anomaly.graph.nodes.length > 0
      ? graphFigure(anomaly.graph, `Counterexample ${anomaly.code} ${anomaly.name}`, true)
      : null;
  const ids = new Set(anomaly.graph.nodes.map((node) => node.id));
  const timed = anomaly.graph.nodes.some((node) => /^s\d+t\d+$/.test(node.id));
  return add(article, [
    el(
      "header",
      { class: "anomaly-head" },
      el(
        "h3",
        { id: `${anomaly.anchor}-title` },
        anomalyTitle(anomaly),
        " ",
        el("a", { class: "anchor", href: `#${anomaly.anchor}`, "aria-label": "Link to this anomaly" }, "#")
      ),
      el(
        "p",
        { class: "why-level" },
        "breaks ",
        el("span", { class: "level-name" }, anomaly.level),
        times(anomaly) && [", ", times(anomaly)],
        anomaly.keys.length > 0 && [
          ", on ",
          anomaly.keys.length === 1 ? "key " : "keys ",
          el("span", { class: "file" }, cut(anomaly.keys.join(", "), 80)),
        ]
      )
    ),
    anomaly.meaning && el("p", { class: "meaning" }, anomaly.meaning),
    el(
      "div",
      { class: "anomaly-body" },
      anomaly.sentences.length > 0 &&
        el(
          "div",
          { class: "anomaly-proof" },
          el(
            "ol",
            { class: anomaly.sentences.length > 1 ? "proof" : "proof proof-one" },
            anomaly.sentences.map((sentence) => el("li", {}, prose(sentence, ids, drawn && drawn.look)))
          ),
          timed &&
            el(
              "p",
              { class: "jump" },
              el(
                "a",
                { href: "#timeline", class: "jump-link", on: { click: () => jumpToAnomaly(anomaly) } },
                "Show it in the timeline"
              )
            )
        ),
      drawn && drawn.figure
    ),
    anomaly.cases.length > 0 &&
      el(
        "div",
        { class: "cases" },
        el(
          "p",
          { class: "cases-note" },
          `The history does not tell every order of writes. In each of the ${count(anomaly.cases.length)} cases there is a cycle:`
        ),
        graphLegend({ edges: anomaly.cases.flatMap((one) => one.graph.edges) }, () => {}),
        el("div", { class: "case-row" }, anomaly.cases.map(caseFigure))
      ),
  ]);
}

// Moves to an anomaly; `scroll` where the reader asked for it.
function showAnomaly(report, anomaly, scroll) {
  if (!anomaly) return;
  const place = byId("anomaly-place");
  if (openAnomaly !== anomaly) {
    openAnomaly = anomaly;
    clear(place).append(anomalyDetail(anomaly));
    for (const link of document.querySelectorAll(".anomaly-row a")) {
      if (link.dataset.anchor === anomaly.anchor) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const listener of anomalyListeners) listener(anomaly);
  }
  if (!scroll) return;
  place.firstChild.focus({ preventScroll: true });
  place.scrollIntoView({ block: "start" });
}

const anomalyOfAddress = (report) => report.anomalies.find((anomaly) => `#${anomaly.anchor}` === location.hash);

function stepAnomaly(report, step) {
  const total = report.anomalies.length;
  if (total === 0) return;
  const next = report.anomalies[(openAnomaly.number + step + total) % total];
  if (location.hash === `#${next.anchor}`) showAnomaly(report, next, true);
  else location.hash = next.anchor;
}

// On paper nothing can be opened: the other anomalies follow the open one, as many as are reasonable.
const PRINTED = 20;
function printAnomalies(report) {
  const more = byId("anomaly-print");
  addEventListener("beforeprint", () => {
    clear(more);
    const others = report.anomalies.filter((anomaly) => anomaly !== openAnomaly);
    for (const anomaly of others.slice(0, PRINTED)) more.append(anomalyDetail(anomaly));
    if (others.length > PRINTED)
      more.append(el("p", { class: "notice" }, `${count(others.length - PRINTED)} more anomalies are not printed.`));
  });
  addEventListener("afterprint", () => clear(more));
}

function showAnomalies(report) {
  if (report.anomalies.length === 0) return;
  const part = byId("anomalies");
  part.hidden = false;
  add(part, [
    heading("anomalies", report.anomalies.length === 1 ? "Counterexample" : "Counterexamples"),
    report.anomalies.length > 1 && anomalyList(report),
    el("div", { id: "anomaly-place" }),
    el("div", { id: "anomaly-print" }),
  ]);
  showAnomaly(report, anomalyOfAddress(report) || mainAnomaly(report), false);
  addEventListener("hashchange", () => showAnomaly(report, anomalyOfAddress(report), true));
  part.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-anchor]");
    if (link && `#${link.dataset.anchor}` === location.hash) showAnomaly(report, anomalyOfAddress(report), true);
  });
  printAnomalies(report);
}
