// Looking at a graph: moving and zooming it, dragging cards, pointing at arrows; with mouse, fingers or keys.

// Below this scale nobody reads the cards: they go below each other instead, where that is not too wide, either.
const READABLE = 0.86,
  MOST_IN_COLUMN = 24;

function sizeGraph(view) {
  const { graph, box, drawing } = view,
    room = box.clientWidth || 640;
  graph.arrange(view.wide + 24 > room / READABLE && graph.nodes.size <= (room < 560 ? MOST_IN_COLUMN : 8));
  if (graph.inColumn && graph.width > room / 0.7) graph.arrange(false);
  const widest = graph.width + (graph.inColumn ? 4 : 24),
    fit = Math.min(1.15, room / widest),
    least = graph.inColumn ? 0.3 : room < 560 ? 0.6 : 0.36;
  view.home = Math.max(fit, least);
  const most = graph.inColumn ? Infinity : Math.max(320, Math.round(innerHeight * 0.5));
  view.height = clamp(Math.ceil((graph.height + 24) * view.home), 120, most);
  drawing.setAttribute("width", room);
  drawing.setAttribute("height", view.height);
  drawing.setAttribute("viewBox", `0 0 ${room} ${view.height}`);
  view.room = room;
}

function showGraph(view) {
  view.graph.world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`);
  // One finger scrolls the page as long as everything is in view.
  const beyond = view.graph.width * view.zoom > view.room + 1 || view.graph.height * view.zoom > view.height + 1;
  view.drawing.style.touchAction = view.zoom > view.home * 1.01 || beyond ? "none" : "pan-y";
  view.hint.hidden = !beyond;
}

const TOOLS = { width: 122, height: 40 };

function fitGraph(view) {
  sizeGraph(view);
  view.zoom = view.home;
  if (view.zoom * (view.graph.height + 24) > view.height && view.room >= 560)
    view.zoom = Math.max(0.4, view.height / (view.graph.height + 24));
  view.x = Math.max((view.graph.inColumn ? 2 : 12) * view.zoom, (view.room - view.graph.width * view.zoom) / 2);
  view.y = Math.max(12 * view.zoom, (view.height - view.graph.height * view.zoom) / 2);
  // The buttons stand in the upper right corner: cards go below them.
  const tools = !view.box.closest(".case");
  if (tools && view.x + view.graph.width * view.zoom > view.room - TOOLS.width && view.y < TOOLS.height) {
    const more = TOOLS.height - view.y;
    view.height += more;
    view.y += more;
    view.drawing.setAttribute("height", view.height);
    view.drawing.setAttribute("viewBox", `0 0 ${view.room} ${view.height}`);
  }
  showGraph(view);
}

function zoomGraph(view, factor, x = view.room / 2, y = view.height / 2) {
  const zoom = clamp(view.zoom * factor, 0.2, 4),
    ratio = zoom / view.zoom;
  view.x = x - (x - view.x) * ratio;
  view.y = y - (y - view.y) * ratio;
  view.zoom = zoom;
  showGraph(view);
}

function panGraph(view, dx, dy) {
  view.x += dx;
  view.y += dy;
  showGraph(view);
}

// On paper a graph is as wide as the page and nothing of it is out of view.
const graphViews = new Set();
function paperGraph(view) {
  let [left, top, right, bottom] = [0, 0, view.graph.width, view.graph.height];
  for (const node of view.graph.nodes.values()) {
    [left, top] = [Math.min(left, node.x), Math.min(top, node.y)];
    [right, bottom] = [Math.max(right, node.x + node.w), Math.max(bottom, node.y + node.h)];
  }
  view.graph.world.removeAttribute("transform");
  dress(view.drawing, {
    viewBox: `${left - 12} ${top - 12} ${right - left + 24} ${bottom - top + 24}`,
    width: right - left + 24,
    height: bottom - top + 24,
  });
}

function startGraphs() {
  addEventListener("beforeprint", () => graphViews.forEach(paperGraph));
  addEventListener("afterprint", () => {
    for (const view of graphViews) {
      if (view.box.isConnected) fitGraph(view);
      else graphViews.delete(view);
    }
  });
}

// What an arrow says, below the drawing.
function tellEdge(view, edge) {
  clear(view.evidence);
  if (!edge) {
    view.evidence.append("Point at an arrow, or reach it with Tab, to see what it rests on.");
    return;
  }
  const from = view.graph.nodes.get(edge.from),
    to = view.graph.nodes.get(edge.to);
  const ops = [
    [from, edge.fromOp],
    [to, edge.toOp],
  ]
    .filter(([node, at]) => at !== null && node.operations[at])
    .map(([node, at]) =>
      el(
        "li",
        {},
        el("span", { class: "txn" }, node.label),
        ` ${node.operations[at].text}${opPlace(node.operations[at])}`
      )
    );
  add(view.evidence, [
    el(
      "p",
      {},
      el("strong", { class: `kind kind-${edge.kind}` }, edge.kind, edge.key && ` ${edge.key}`),
      " ",
      el("span", { class: "txn" }, from.label),
      " \u2192 ",
      el("span", { class: "txn" }, to.label),
      edge.assumed && el("em", {}, " (assumed)"),
      edge.why && [". ", prose(edge.why, new Set(view.graph.nodes.keys()))]
    ),
    ops.length > 0 && el("ul", { class: "ops" }, ops),
  ]);
}

function focusGraph(view, what) {
  view.graph.light(what || view.pinned);
  tellEdge(view, what ? what.edge : view.pinned && view.pinned.edge);
}

function watchParts(view) {
  for (const { edge, group, tag } of view.graph.edges) {
    const enter = () => focusGraph(view, { edge }),
      leave = () => focusGraph(view, null);
    const pin = () => {
      view.pinned = view.pinned && view.pinned.edge === edge ? null : { edge };
      focusGraph(view, { edge });
    };
    for (const part of [group, tag]) {
      part.addEventListener("pointerenter", enter);
      part.addEventListener("pointerleave", leave);
      part.addEventListener("click", pin);
    }
    group.addEventListener("focus", enter);
    group.addEventListener("blur", leave);
  }
  for (const [id, card] of view.graph.cards) {
    card.addEventListener("pointerenter", () => view.grabbed || focusGraph(view, { card: id }));
    card.addEventListener("pointerleave", () => view.grabbed || focusGraph(view, null));
    card.addEventListener("focus", () => focusGraph(view, { card: id }));
    card.addEventListener("blur", () => focusGraph(view, null));
  }
}

function watchPointers(view) {
  const pointers = new Map();
  const place = (event) => {
    const frame = view.drawing.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  view.drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (event.target.closest(".edge, .tag") && event.pointerType === "mouse")) return;
    const card = event.target.closest(".card");
    pointers.set(event.pointerId, place(event));
    view.grabbed = { card: card ? card.dataset.id : null };
    view.armed = true;
    view.drawing.setPointerCapture(event.pointerId);
    view.drawing.classList.add("grabbing");
  });
  view.drawing.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = place(event),
      others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    pointers.set(event.pointerId, now);
    if (others.length > 0) {
      const apart = (at) => Math.hypot(at[0] - others[0][0], at[1] - others[0][1]) || 1;
      zoomGraph(view, apart(now) / apart(before), (now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2);
    } else if (view.grabbed.card !== null)
      view.graph.move(view.grabbed.card, (now[0] - before[0]) / view.zoom, (now[1] - before[1]) / view.zoom);
    else panGraph(view, now[0] - before[0], now[1] - before[1]);
  });
  const release = (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    view.grabbed = null;
    view.drawing.classList.remove("grabbing");
  };
  view.drawing.addEventListener("pointerup", release);
  view.drawing.addEventListener("pointercancel", release);
  view.drawing.addEventListener("pointerleave", () => (view.armed = false));
  // A wheel scrolls the page, unless Ctrl is held (pinching sends that, too) or the drawing was clicked.
  view.drawing.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && !view.armed) return;
      event.preventDefault();
      zoomGraph(view, Math.exp(-clamp(event.deltaY, -60, 60) * 0.006), ...place(event));
    },
    { passive: false }
  );
}

function watchGraphKeys(view) {
  const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  view.box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = arrows[event.key],
      card = event.target.closest && event.target.closest(".card");
    if (step && event.shiftKey && card) view.graph.move(card.dataset.id, -step[0] * 16, -step[1] * 16);
    else if (step) panGraph(view, step[0] * 40, step[1] * 40);
    else if (event.key === "+" || event.key === "=") zoomGraph(view, 1.25);
    else if (event.key === "-") zoomGraph(view, 0.8);
    else if (event.key === "0") fitGraph(view);
    else if (event.key === "Escape") {
      view.pinned = null;
      focusGraph(view, null);
    } else if ((event.key === "Enter" || event.key === " ") && event.target.classList.contains("edge"))
      event.target.dispatchEvent(new Event("click"));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// A graph with everything that belongs to it.
function graphFigure(graph, label, legend, parts = {}) {
  const drawn = drawGraph(graph, label);
  const box = el(
    "div",
    {
      class: "graph-box",
      tabindex: "0",
      role: "group",
      "aria-label": `${label}. Arrow keys move it, plus and minus zoom, 0 fits, Tab goes through cards and arrows.`,
    },
    drawn.drawing
  );
  const view = {
    graph: drawn,
    drawing: drawn.drawing,
    box,
    evidence: el("div", { class: "evidence", "aria-live": "polite" }),
    hint: el("p", { class: "graph-hint", hidden: true }, "There is more: drag to see it"),
    wide: graph.width,
    x: 0,
    y: 0,
    zoom: 1,
    home: 1,
    pinned: null,
    grabbed: null,
    armed: false,
    fresh: true,
  };
  const tools = el(
    "div",
    { class: "graph-tools" },
    button("\u2212", () => zoomGraph(view, 0.8), { "aria-label": "Zoom out", title: "Zoom out (-)" }),
    button("+", () => zoomGraph(view, 1.25), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
    button("Fit", () => fitGraph(view), { title: "Fit (0)" })
  );
  watchParts(view);
  watchPointers(view);
  watchGraphKeys(view);
  tellEdge(view, null);
  for (const old of graphViews) if (!old.fresh && !old.box.isConnected) graphViews.delete(old);
  graphViews.add(view);
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth === width || box.clientWidth === 0) return;
    width = box.clientWidth;
    view.fresh = false;
    fitGraph(view);
  }).observe(box);
  const figure = el(
    "figure",
    { class: "graph-figure" },
    el("div", { class: "graph-frame" }, box, tools, view.hint),
    parts.caption,
    legend && graphLegend(graph, (what) => focusGraph(view, what)),
    view.evidence,
    !parts.brief && graphText(graph)
  );
  return { figure, look: (id) => focusGraph(view, id === null ? null : { card: id }) };
}
