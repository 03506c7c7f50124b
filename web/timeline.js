// The timeline of sessions: what part of it is looked at, and how the reader moves there.

let jumpToAnomaly = () => {};

function setRange(view, from, to) {
  const { low, high, timeline } = view.index,
    least = timeline.timed ? 100 : 1,
    margin = (high - low) * 0.02;
  let range = clamp(to - from, least, high - low + 2 * margin);
  from = clamp(from, low - margin, Math.max(low - margin, high + margin - range));
  view.from = from;
  view.to = from + range;
  view.redraw();
}

function zoomTimeline(view, factor, x = (LANE.gutter + view.width) / 2) {
  const time = xToTime(view, Math.max(x, LANE.gutter));
  setRange(view, time - (time - view.from) * factor, time + (view.to - time) * factor);
}

const panTimeline = (view, part) =>
  setRange(view, view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);

function scrollRows(view, by) {
  view.scroll = clamp(view.scroll + by, 0, Math.max(0, view.tops[view.rows.length] - plotOf(view)));
  view.redraw();
}

// Rows in the order of sessions; around the anomaly those of it are taller, and come first where not all can be seen.
function orderRows(view, around) {
  const sessions = view.index.timeline.sessions.length,
    lane = clamp(Math.floor(LANE.tallest / sessions), LANE.least, LANE.most);
  const tall = (session) => (around && view.involved.has(session) ? Math.max(LANE.involved, lane) : lane);
  view.rows = Array.from({ length: sessions }, (_, session) => session);
  if (around && sessions * lane + view.involved.size * LANE.involved > LANE.tallest)
    view.rows.sort((a, b) => Number(view.involved.has(b)) - Number(view.involved.has(a)) || a - b);
  view.rowOf = new Uint32Array(sessions);
  view.tops = new Float64Array(sessions + 1);
  view.rows.forEach((session, place) => {
    view.rowOf[session] = place;
    view.tops[place + 1] = view.tops[place] + tall(session);
  });
  view.scroll = 0;
}

function markMode(view, mode) {
  view.mode = mode;
  for (const [name, tool] of Object.entries(view.tools)) tool.setAttribute("aria-pressed", String(name === mode));
}

function wholeRun(view) {
  orderRows(view, false);
  setRange(view, view.index.low, view.index.high);
  markMode(view, "whole");
}

function aroundAnomaly(view) {
  if (view.marked.size === 0) return wholeRun(view);
  const { start, end } = view.index.timeline;
  let from = Infinity,
    to = -Infinity;
  for (const i of view.marked.values()) {
    from = Math.min(from, start[i]);
    to = Math.max(to, end[i]);
  }
  const space = Math.max((to - from) * 0.35, view.index.timeline.timed ? 1000 : 0.6);
  orderRows(view, true);
  markMode(view, "around");
  setRange(view, from - space, to + space);
}

function markAnomaly(view, anomaly) {
  const { timeline } = view.index;
  view.marked = anomaly ? findTransactions(timeline, anomaly.graph.nodes) : new Map();
  view.involved = new Set([...view.marked.values()].map((i) => timeline.session[i]));
  view.edges = anomaly
    ? anomaly.graph.edges
        .filter((edge) => edge.from !== edge.to && view.marked.has(edge.from) && view.marked.has(edge.to))
        .map((edge) => ({ from: view.marked.get(edge.from), to: view.marked.get(edge.to), kind: edge.kind }))
    : [];
}

function transactionWords(view, i) {
  const { timeline } = view.index,
    status = STATUSES[Math.min(timeline.status[i], 2)];
  const name = `s${timeline.session[i]}t${timeline.index[i]}`,
    session = timeline.sessions[timeline.session[i]];
  const words = [
    `${name}${session !== String(timeline.session[i]) && session ? ` (session ${session})` : ""}, ${STATUS_WORDS[status]}`,
  ];
  if (timeline.timed)
    words.push(
      `${moment(timeline.start[i], (view.to - view.from) / 1000)} to ${moment(timeline.end[i], (view.to - view.from) / 1000)}, took ${duration(timeline.end[i] - timeline.start[i])}`
    );
  return words;
}

function showTip(view, i, x, y) {
  view.tip.hidden = i < 0;
  if (i < 0) return;
  const [name, ...rest] = transactionWords(view, i);
  clear(view.tip);
  add(view.tip, [el("strong", {}, name), rest.map((line) => el("span", {}, line))]);
  view.tip.style.left = `${clamp(x + 12, 0, Math.max(0, view.width - view.tip.offsetWidth - 4))}px`;
  view.tip.style.top = `${Math.max(0, y + 16)}px`;
}

function pointedAt(view, x, y) {
  const place = lowerBound(0, view.rows.length, (row) => view.tops[row + 1] <= y + view.scroll);
  if (x < LANE.gutter || y > plotOf(view) || place >= view.rows.length) return -1;
  return nearestTransaction(view.index, view.rows[place], xToTime(view, x), ((view.to - view.from) / view.width) * 4);
}

function watchTimelinePointers(view) {
  const pointers = new Map(),
    canvas = view.canvas;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    canvas.setPointerCapture(event.pointerId);
    view.armed = true;
    showTip(view, -1);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId),
      now = [event.offsetX, event.offsetY];
    if (!before) return showTip(view, pointedAt(view, ...now), ...now);
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    pointers.set(event.pointerId, now);
    const per = (view.to - view.from) / (view.width - LANE.gutter);
    if (others.length > 0) {
      const apart = (at) => Math.max(8, Math.abs(at[0] - others[0][0]));
      zoomTimeline(view, apart(before) / apart(now), (now[0] + others[0][0]) / 2);
    } else {
      setRange(view, view.from - (now[0] - before[0]) * per, view.to - (now[0] - before[0]) * per);
      if (event.pointerType === "mouse") scrollRows(view, before[1] - now[1]);
    }
    markMode(view, null);
  });
  const release = (event) => pointers.delete(event.pointerId);
  canvas.addEventListener("pointerup", (event) => {
    release(event);
    const i = pointedAt(view, event.offsetX, event.offsetY);
    showTip(view, i, event.offsetX, event.offsetY);
  });
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    view.armed = false;
    showTip(view, -1);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !event.metaKey && !view.armed && !sideways) return;
      event.preventDefault();
      if (sideways) panTimeline(view, event.deltaX / view.width);
      else if (event.shiftKey) scrollRows(view, event.deltaY);
      else zoomTimeline(view, Math.exp(clamp(event.deltaY, -60, 60) * 0.008), event.offsetX);
      markMode(view, null);
    },
    { passive: false }
  );
}

function watchStrip(view) {
  let held = false;
  const go = (event) => {
    const { low, high } = view.index,
      time = low + ((event.offsetX - LANE.gutter) / (view.width - LANE.gutter)) * (high - low),
      half = (view.to - view.from) / 2;
    setRange(view, time - half, time + half);
    markMode(view, null);
  };
  view.strip.addEventListener("pointerdown", (event) => {
    held = true;
    view.strip.setPointerCapture(event.pointerId);
    if (view.to - view.from > (view.index.high - view.index.low) * 0.9) zoomTimeline(view, 0.1);
    go(event);
  });
  view.strip.addEventListener("pointermove", (event) => held && go(event));
  for (const type of ["pointerup", "pointercancel"]) view.strip.addEventListener(type, () => (held = false));
}

// Goes to the neighbour of the chosen transaction, or chooses one to begin with.
function chooseTransaction(view, step) {
  const { timeline, low } = view.index;
  let i =
    view.chosen >= 0
      ? neighbour(view.index, view.chosen, step)
      : view.marked.size > 0
        ? [...view.marked.values()][0]
        : nearestTransaction(view.index, view.rows[0], Math.max(view.from, low), Infinity);
  if (i < 0) return;
  view.chosen = i;
  if (timeline.start[i] < view.from || timeline.end[i] > view.to)
    setRange(view, timeline.start[i] - (view.to - view.from) / 2, timeline.start[i] + (view.to - view.from) / 2);
  clear(view.said).append(transactionWords(view, i).join(", "));
  const bar = barOf(view, i);
  showTip(view, i, bar.x, bar.middle);
  view.redraw();
}

function watchTimelineKeys(view) {
  const actions = {
    ArrowLeft: () => panTimeline(view, -0.15),
    ArrowRight: () => panTimeline(view, 0.15),
    ArrowUp: () => scrollRows(view, -48),
    ArrowDown: () => scrollRows(view, 48),
    "+": () => zoomTimeline(view, 0.7),
    "=": () => zoomTimeline(view, 0.7),
    "-": () => zoomTimeline(view, 1 / 0.7),
    0: () => wholeRun(view),
    a: () => aroundAnomaly(view),
    ",": () => chooseTransaction(view, -1),
    ".": () => chooseTransaction(view, 1),
    Home: () => setRange(view, view.index.low, view.index.low + view.to - view.from),
    End: () => setRange(view, view.index.high - (view.to - view.from), view.index.high),
  };
  view.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    if (!"0a".includes(event.key)) markMode(view, null);
    actions[event.key]();
    event.preventDefault();
    event.stopPropagation();
  });
}

function timelineLegend(timeline, faults) {
  const item = (name, words) =>
    el("li", {}, el("span", { class: `swatch swatch-${name}`, "aria-hidden": "true" }), words);
  return el(
    "ul",
    { class: "graph-legend", "aria-label": "Colours" },
    item("committed", "committed"),
    item("many", "many, too narrow to tell apart"),
    timeline.status.includes(1) && [item("aborted", "aborted"), item("rate", "share of aborted")],
    timeline.status.includes(2) && item("unknown", "outcome unknown"),
    faults.length > 0 && timeline.timed && item("fault", "fault")
  );
}

function makeTimeline(report) {
  const { timeline } = report;
  const view = {
    index: makeIndex(timeline),
    canvas: el("canvas", {
      tabindex: "0",
      role: "img",
      id: "timeline-canvas",
      "aria-label": `Timeline of ${plural(timeline.count, "transaction")} in ${plural(timeline.sessions.length, "session")}. Arrow keys move, plus and minus zoom, 0 shows the whole run, a the anomaly, comma and full stop go from transaction to transaction.`,
    }),
    strip: el("canvas", { class: "strip", "aria-hidden": "true" }),
    tip: el("div", { class: "tip", hidden: true }),
    said: el("p", { class: "visually-hidden", "aria-live": "polite" }),
    from: 0,
    to: 1,
    width: 600,
    scroll: 0,
    rows: [],
    rowOf: [],
    tops: [0],
    marked: new Map(),
    involved: new Set(),
    edges: [],
    chosen: -1,
    armed: false,
    stripBack: null,
    colours: palette(),
    tools: {},
  };
  const faults = timeline.timed ? report.faults : [];
  view.redraw = eachFrame(() => {
    drawTimeline(view, faults);
    drawStrip(view, faults);
  });
  const recolour = () => {
    view.colours = palette();
    view.stripBack = null;
    view.redraw();
  };
  themeListeners.push(recolour);
  return view;
}

function showTimeline(report) {
  const { timeline } = report;
  if (!timeline) return;
  const part = byId("timeline"),
    view = makeTimeline(report);
  part.hidden = false;
  const around = () => aroundAnomaly(view);
  view.tools.whole = button("Whole run", () => wholeRun(view), { title: "Whole run (0)" });
  if (report.anomalies.length > 0)
    view.tools.around = button("Around the anomaly", around, { title: "Around the anomaly (a)" });
  const box = el("div", { class: "timeline-box" }, view.canvas, view.tip);
  const note = timeline.timed
    ? null
    : "The history has no times: transactions stand by their number within their session.";
  const partly =
    timeline.shown < timeline.total
      ? `${count(timeline.shown)} of ${plural(timeline.total, "transaction")} are shown.`
      : null;
  add(part, [
    heading("timeline", "Timeline of sessions", [note, note && partly && " ", partly]),
    el(
      "div",
      { class: "timeline-tools" },
      Object.values(view.tools),
      button("\u2212", () => zoomTimeline(view, 1 / 0.7), { "aria-label": "Zoom out" }),
      button("+", () => zoomTimeline(view, 0.7), { "aria-label": "Zoom in" }),
      timelineLegend(timeline, report.faults)
    ),
    box,
    view.strip,
    view.said,
    el("div", { id: "timeline-text" }),
  ]);
  const change = (anomaly) => {
    markAnomaly(view, anomaly);
    if (view.tools.around) view.tools.around.disabled = view.marked.size === 0;
    showTimelineText(report, view, anomaly);
    around();
  };
  jumpToAnomaly = (anomaly) => {
    if (anomaly && anomaly !== openAnomaly) showAnomaly(report, anomaly, false);
    around();
    view.canvas.focus({ preventScroll: true });
  };
  orderRows(view, false);
  anomalyListeners.push(change);
  change(openAnomaly);
  watchTimelinePointers(view);
  watchStrip(view);
  watchTimelineKeys(view);
  new ResizeObserver(() => {
    if (box.clientWidth === 0 || box.clientWidth === view.width) return;
    view.width = box.clientWidth;
    view.stripBack = null;
    view.redraw();
  }).observe(box);
}
