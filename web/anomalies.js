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
      el("span", { class: "row-count" }, times(anomaly))
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

// One of the orders of writes that the history leaves open, and the cycle that it leads to.
function caseFigure(one, place) {
  const { figure, look } = graphFigure(one.graph, `Graph of case ${place + 1}`, false);
  const ids = new Set(one.graph.nodes.map((node) => node.id));
  return el(
    "section",
    { class: "case" },
    el("h4", {}, prose(one.title || `Case ${place + 1}`, ids, look)),
    one.graph.edges.length === 0 && one.sentences.map((sentence) => el("p", {}, prose(sentence, ids, look))),
    figure
  );
}

// The first sentence stands below the drawing; a short rest follows it, a long one is there on demand.
const SHORT_PROOF = 330,
  SHORT_REST = 160,
  LONG_SENTENCE = 480;
function proofParts(anomaly) {
  const opens = anomaly.cases.map((one) => (one.sentences[0] || "").slice(0, 48)),
    opensCase = (sentence) => opens.some((open) => open !== "" && sentence.startsWith(open));
  const sentences = anomaly.sentences.filter((sentence) => !opensCase(sentence));
  const whole =
    anomaly.cases.length === 0 && sentences.reduce((sum, sentence) => sum + sentence.length, 0) <= SHORT_PROOF;
  if (whole) return { lead: sentences, rest: [] };
  // A sentence that nobody reads to its end becomes the cycle that it tells.
  const first = sentences[0] || "",
    cycle = first.length > LONG_SENTENCE ? findCycle(anomaly.graph) : null;
  if (cycle) return { lead: [cycle], rest: sentences };
  const rest = sentences.slice(1);
  return rest.length === 1 && rest[0].length <= SHORT_REST && anomaly.cases.length === 0
    ? { lead: sentences, rest: [] }
    : { lead: [first], rest };
}

// A cycle of the drawing in words: "A cycle of 3 transactions: a -RW-> b -WR-> c -RW-> a."
function findCycle(graph) {
  const next = new Map(graph.nodes.map((node) => [node.id, []]));
  for (const edge of graph.edges) if (edge.from !== edge.to) next.get(edge.from).push(edge);
  const done = new Set();
  for (const { id } of graph.nodes) {
    const path = [],
      on = new Map(),
      at = new Map();
    let here = done.has(id) ? null : id;
    while (here !== null) {
      if (!on.has(here)) on.set(here, path.length);
      const step = at.get(here) || 0,
        edge = next.get(here)[step];
      at.set(here, step + 1);
      if (edge && on.has(edge.to)) return cycleWords([...path.slice(on.get(edge.to)), edge]);
      if (edge && !done.has(edge.to)) {
        path.push(edge);
        here = edge.to;
      } else if (!edge) {
        done.add(here);
        on.delete(here);
        const back = path.pop();
        here = back ? back.from : null;
      }
    }
  }
  return null;
}

const cycleWords = (edges) =>
  `A cycle of ${plural(edges.length, "transaction")}: ${edges.map((edge) => `${edge.from} \u2192 ${edge.kind} \u2192 `).join("")}${edges[0].from}.`;

function caseList(anomaly) {
  if (anomaly.cases.length === 0) return null;
  const told =
    anomaly.cases.length === 2
      ? "The history does not tell which of the writes came first. Either way there is a cycle:"
      : `The history does not tell every order of writes. In each of the ${count(anomaly.cases.length)} cases there is a cycle:`;
  return el(
    "div",
    { class: "cases" },
    el("p", { class: "cases-note" }, told),
    graphLegend({ edges: anomaly.cases.flatMap((one) => one.graph.edges) }, () => {}),
    el("div", { class: "case-row" }, anomaly.cases.map(caseFigure))
  );
}

// The proof beyond the drawing: made when it is opened, as cases are many drawings.
function proofDetails(anomaly, rest, ids, look) {
  if (rest.length === 0 && anomaly.cases.length === 0) return null;
  const cases = anomaly.cases.length;
  const more = el(
    "details",
    { class: "proof-more" },
    el("summary", {}, cases > 0 ? `The proof, in ${plural(cases, "case")}` : "The proof, step by step")
  );
  const fill = () => {
    if (more.children.length > 1) return;
    add(more, [
      caseList(anomaly),
      rest.length > 0 &&
        el(
          "ol",
          { class: rest.length > 1 ? "proof" : "proof proof-one" },
          rest.map((sentence) => el("li", {}, prose(sentence, ids, look)))
        ),
    ]);
  };
  more.addEventListener("toggle", fill);
  more.fill = fill;
  return more;
}

// Whether places of operations in the input are shown; one choice for the whole page.
function placesTool(anomaly) {
  if (!anomaly.graph.nodes.some((node) => node.operations.some((op) => op.line !== null))) return null;
  const shown = () => document.documentElement.classList.contains("with-places");
  const tool = button("Places in the file", () => {
    document.documentElement.classList.toggle("with-places");
    tool.setAttribute("aria-pressed", String(shown()));
  });
  return dress(tool, { class: "tool tool-small", "aria-pressed": String(shown()) });
}

function anomalyHead(anomaly, report) {
  const others = report.anomalies.length - 1;
  return el(
    "header",
    { class: "anomaly-head" },
    el(
      "h2",
      { id: `${anomaly.anchor}-title` },
      anomalyTitle(anomaly),
      " ",
      el("a", { class: "anchor", href: `#${anomaly.anchor}`, "aria-label": "Link to this anomaly" }, "#")
    ),
    el(
      "p",
      { class: "why-level" },
      anomaly.level && ["breaks ", el("span", { class: "level-name" }, anomaly.level)],
      times(anomaly) && [anomaly.level && ", ", times(anomaly)],
      anomaly.keys.length > 0 && [
        ", on ",
        anomaly.keys.length === 1 ? "key " : "keys ",
        el("span", { class: "file" }, cut(anomaly.keys.join(", "), 60)),
      ],
      others > 0 && [
        " \u00b7 ",
        el("a", { href: "#anomalies" }, others === 1 ? "one other anomaly" : `${count(others)} other anomalies`),
      ]
    ),
    anomaly.meaning && el("p", { class: "meaning" }, anomaly.meaning)
  );
}

function anomalyDetail(anomaly, report) {
  const article = el("article", {
    class: "anomaly",
    tabindex: "-1",
    "aria-labelledby": `${anomaly.anchor}-title`,
    "data-anchor": anomaly.anchor,
  });
  const ids = new Set(anomaly.graph.nodes.map((node) => node.id)),
    { lead, rest } = proofParts(anomaly),
    caption = el("div", { class: "lead" });
  const drawn =
    anomaly.graph.nodes.length > 0
      ? graphFigure(anomaly.graph, `Counterexample ${anomaly.code} ${anomaly.name}`, true, { caption, brief: true })
      : null;
  const look = drawn && drawn.look;
  add(caption, [lead.map((sentence) => el("p", {}, prose(sentence, ids, look)))]);
  const timed = anomaly.graph.nodes.some((node) => /^s\d+t\d+$/.test(node.id));
  return add(article, [
    anomalyHead(anomaly, report),
    el("div", { class: "anomaly-body" }, drawn ? drawn.figure : caption),
    proofDetails(anomaly, rest, ids, look),
    drawn && graphText(anomaly.graph),
    el(
      "p",
      { class: "jump" },
      placesTool(anomaly),
      timed &&
        report.timeline &&
        el(
          "a",
          { href: "#timeline", class: "jump-link", on: { click: () => jumpToAnomaly(anomaly) } },
          "Show it in the timeline"
        )
    ),
  ]);
}

// Moves to an anomaly; `scroll` where the reader asked for it.
function showAnomaly(report, anomaly, scroll) {
  if (!anomaly) return;
  const place = byId("anomaly-place");
  if (openAnomaly !== anomaly) {
    openAnomaly = anomaly;
    clear(place).append(anomalyDetail(anomaly, report));
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
  whileShown(window, "beforeprint", () => {
    clear(more);
    const others = report.anomalies.filter((anomaly) => anomaly !== openAnomaly);
    for (const anomaly of others.slice(0, PRINTED)) more.append(anomalyDetail(anomaly, report));
    for (const proof of document.querySelectorAll(".proof-more")) {
      if (proof.fill) proof.fill();
      proof.open = true;
    }
    if (others.length > PRINTED)
      more.append(el("p", { class: "notice" }, `${count(others.length - PRINTED)} more anomalies are not printed.`));
  });
  whileShown(window, "afterprint", () => clear(more));
}

function showAnomalies(report) {
  if (report.anomalies.length === 0) return;
  const part = byId("anomalies");
  part.hidden = report.anomalies.length === 1;
  if (!part.hidden)
    add(part, [heading("anomalies", "All anomalies", "Choose one to see it drawn above."), anomalyList(report)]);
  showAnomaly(report, anomalyOfAddress(report) || mainAnomaly(report), false);
  whileShown(window, "hashchange", () => showAnomaly(report, anomalyOfAddress(report), true));
  whileShown(part, "click", (event) => {
    const link = event.target.closest("a[data-anchor]");
    if (link && `#${link.dataset.anchor}` === location.hash) showAnomaly(report, anomalyOfAddress(report), true);
  });
  printAnomalies(report);
}
