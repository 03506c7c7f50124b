// The drawing of a counterexample: transactions as cards with their operations, dependencies as arrows.

let graphsDrawn = 0;

const opPlace = (op) => (op && op.line !== null ? ` (line ${op.line})` : "");

function cardLabel(node) {
  const ops = node.operations.map((op) => op.text + opPlace(op)).join("; ");
  return `Transaction ${node.label}${node.ownId ? `, ${node.ownId} in the input` : ""}, ${STATUS_WORDS[node.status]}. ${ops || "No operations"}${node.more > 0 ? `; and ${node.more} more` : ""}.`;
}

function drawCard(node) {
  const letters = Math.max(6, Math.floor((node.w - 24) / 7.25));
  const card = svg(
    "g",
    {
      class: `card card-${node.status}`,
      tabindex: "0",
      role: "img",
      "aria-label": cardLabel(node),
      "data-id": node.id,
    },
    svg(
      "title",
      {},
      `${node.label}${node.called ? `, ${node.called}` : ""}${node.ownId ? `, ${node.ownId} in the input` : ""}${node.node ? `, on ${node.node}` : ""}${node.isolation ? `, at ${node.isolation}` : ""}: ${STATUS_WORDS[node.status]}`
    ),
    svg("rect", { class: "card-back", width: node.w, height: node.h, rx: 9 }),
    svg("path", { class: "card-rule", d: `M0 ${CARD.header}H${node.w}` }),
    svg("text", { class: "card-name", x: 12, y: 20 }, cut(node.called ? `${node.label} ${node.called}` : node.label, Math.max(4, letters - 10))),
    svg(
      "text",
      { class: "card-status", x: node.w - 12, y: 19.5, "text-anchor": "end" },
      node.isolation && node.status === "committed" ? cut(node.isolation, 18) : node.status
    )
  );
  node.operations.forEach((op, at) => {
    const y = CARD.header + CARD.row * at;
    card.append(
      svg(
        "g",
        { class: `op${op.involved ? " op-involved" : ""}`, "data-op": at },
        svg("title", {}, op.text + opPlace(op)),
        svg("rect", { class: "op-back", x: 4, y: y + 1, width: node.w - 8, height: CARD.row - 2, rx: 5 }),
        svg("text", { x: 12, y: y + 14.5 }, cut(op.text, letters))
      )
    );
  });
  if (node.more > 0)
    card.append(
      svg(
        "text",
        { class: "op-more", x: 12, y: CARD.header + CARD.row * node.operations.length + 14.5 },
        `and ${count(node.more)} more`
      )
    );
  return card;
}

function arrowHead(id, kind, hollow) {
  return svg(
    "marker",
    {
      id,
      class: `head head-${kind}${hollow ? " head-hollow" : ""}`,
      viewBox: "0 0 10 10",
      refX: 9,
      refY: 5,
      markerWidth: 9,
      markerHeight: 9,
      markerUnits: "userSpaceOnUse",
      orient: "auto",
    },
    svg("path", { d: "M1 1L9 5L1 9Z" })
  );
}

function drawEdge(edge, nodes, marker) {
  const from = nodes.get(edge.from),
    to = nodes.get(edge.to);
  return svg(
    "g",
    {
      class: `edge edge-${edge.kind}${edge.assumed ? " edge-assumed" : ""}`,
      tabindex: "0",
      role: "img",
      "data-from": edge.from,
      "data-to": edge.to,
      "data-kind": edge.kind,
      "aria-label": `${edge.kind}${edge.key ? ` on ${edge.key}` : ""} from ${from.label} to ${to.label}${edge.assumed ? ", assumed" : ""}. ${edge.why}`,
    },
    svg("path", { class: "edge-hit" }),
    svg("path", { class: "edge-line", "marker-end": `url(#${marker})` })
  );
}

// Its label stands above all lines, so that none of them is in the way of the pointer.
const edgeLabel = (edge) => cut(edge.key ? `${edge.kind} ${edge.key}` : edge.kind, 22);
const labelWidth = (edge) => 10 + 6.8 * Array.from(edgeLabel(edge)).length;
function drawTag(edge) {
  const label = edgeLabel(edge),
    width = labelWidth(edge);
  return svg(
    "g",
    { class: `tag edge-${edge.kind}`, "aria-hidden": "true" },
    svg("rect", { x: -width / 2, y: -9, width, height: 18, rx: 9 }),
    svg("text", { y: 3.8, "text-anchor": "middle" }, label)
  );
}

// Makes the SVG and what is needed to move and light its parts.
function drawGraph(graph, label) {
  const name = `graph-${++graphsDrawn}`;
  const nodes = new Map(graph.nodes.map((node) => [node.id, { ...node }])),
    spread = spreads(graph.edges),
    moved = new Set();
  const defs = svg("defs"),
    world = svg("g", { class: "world" }),
    cards = new Map();
  const kinds = new Set(graph.edges.map((edge) => `${edge.kind}${edge.assumed ? "-assumed" : ""}`));
  for (const kind of kinds) defs.append(arrowHead(`${name}-${kind}`, kind.split("-")[0], kind.endsWith("-assumed")));
  for (const node of nodes.values()) {
    const card = drawCard(node);
    cards.set(node.id, card);
    world.append(card);
  }
  const edges = graph.edges.map((edge) => ({
    edge,
    group: drawEdge(edge, nodes, `${name}-${edge.kind}${edge.assumed ? "-assumed" : ""}`),
    tag: drawTag(edge),
  }));
  world.append(...edges.map(({ group }) => group), ...edges.map(({ tag }) => tag));
  let layout = null;
  const place = (only) => {
    for (const [id, card] of cards)
      if (!only || only === id) card.setAttribute("transform", `translate(${nodes.get(id).x} ${nodes.get(id).y})`);
    for (const { edge, group, tag } of edges) {
      if (only && edge.from !== only && edge.to !== only) continue;
      const loose = moved.has(edge.from) || moved.has(edge.to),
        route =
          layout && !loose
            ? layout.routes.get(edge)
            : edgeRoute(edge, nodes.get(edge.from), nodes.get(edge.to), spread.get(edge), loose);
      group.children[0].setAttribute("d", route.d);
      group.children[1].setAttribute("d", route.d);
      tag.setAttribute("transform", `translate(${route.label[0]} ${route.label[1]})`);
    }
  };
  place(null);
  const drawing = svg("svg", { class: "graph", role: "group", "aria-label": label }, defs, world);
  const move = (id, dx, dy) => {
    const node = nodes.get(id);
    node.x += dx;
    node.y += dy;
    moved.add(id);
    place(id);
  };
  const drawn = {
    drawing,
    world,
    nodes,
    cards,
    edges,
    move,
    light: (what) => lightGraph(drawing, cards, edges, what),
    width: graph.width,
    height: graph.height,
    inColumn: false,
  };
  // All cards below each other, or as the report has them.
  drawn.arrange = (column) => {
    if (column === drawn.inColumn) return;
    layout = column ? columnLayout(graph) : null;
    const from = layout ? layout.nodes : new Map(graph.nodes.map((node) => [node.id, node]));
    for (const [id, node] of nodes) [node.x, node.y] = [from.get(id).x, from.get(id).y];
    moved.clear();
    [drawn.width, drawn.height] = layout ? [layout.width, layout.height] : [graph.width, graph.height];
    drawn.inColumn = column;
    place(null);
  };
  return drawn;
}

// Lights an edge with the operations that it rests on, or a card with its edges, or all edges of a kind; null is nothing.
function lightGraph(drawing, cards, edges, what) {
  drawing.classList.toggle("lighting", Boolean(what));
  const bright = new Set();
  for (const { edge, group, tag } of edges) {
    const hit =
      Boolean(what) &&
      (what.edge === edge ||
        what.kind === edge.kind ||
        (what.card !== undefined && (edge.from === what.card || edge.to === what.card)));
    group.classList.toggle("lit", hit);
    tag.classList.toggle("lit", hit);
    if (hit) bright.add(edge.from).add(edge.to);
  }
  if (what && what.card !== undefined) bright.add(what.card);
  for (const [id, card] of cards) {
    card.classList.toggle("lit", bright.has(id));
    for (const op of card.querySelectorAll(".op")) {
      const at = Number(op.dataset.op),
        edge = what && what.edge;
      op.classList.toggle(
        "lit",
        Boolean(edge) && ((edge.from === id && edge.fromOp === at) || (edge.to === id && edge.toOp === at))
      );
    }
  }
}

function graphLegend(graph, light) {
  const kinds = KINDS.filter((kind) => graph.edges.some((edge) => edge.kind === kind));
  const sample = (kind, assumed) =>
    svg(
      "svg",
      { class: "sample", width: 34, height: 10, viewBox: "0 0 34 10", "aria-hidden": "true" },
      svg(
        "g",
        { class: `edge edge-${kind}${assumed ? " edge-assumed" : ""}` },
        svg("path", { class: "edge-line", d: "M1 5H27" })
      ),
      svg("path", { class: `head head-${kind}${assumed ? " head-hollow" : ""}`, d: "M25 1L33 5L25 9Z" })
    );
  const assumed = graph.edges.find((edge) => edge.assumed);
  return el(
    "ul",
    { class: "graph-legend", "aria-label": "Kinds of arrows" },
    kinds.map((kind) =>
      el(
        "li",
        { on: { pointerenter: () => light({ kind }), pointerleave: () => light(null) } },
        sample(kind, false),
        el("span", {}, el("strong", {}, kind), ` ${KIND_WORDS[kind][1]}`)
      )
    ),
    assumed &&
      el("li", {}, sample(assumed.kind, true), el("span", {}, el("strong", {}, "open head"), " assumed in this case"))
  );
}

// The same in words, for those who cannot see the drawing.
function graphText(graph) {
  const names = new Map(graph.nodes.map((node) => [node.id, node.label]));
  return details(
    "The graph as text",
    table(
      "Transactions",
      ["transaction", "in the input", "outcome", "operations"],
      graph.nodes.map((node) => [
        node.label,
        node.ownId,
        STATUS_WORDS[node.status],
        el(
          "ul",
          { class: "ops" },
          node.operations.map((op) => el("li", {}, op.text + opPlace(op))),
          node.more > 0 && el("li", {}, `and ${count(node.more)} more`)
        ),
      ])
    ),
    table(
      "Dependencies",
      ["from", "kind", "to", "key", "why"],
      graph.edges.map((edge) => [
        names.get(edge.from),
        edge.kind + (edge.assumed ? " (assumed)" : ""),
        names.get(edge.to),
        edge.key,
        edge.why,
      ])
    )
  );
}
