// The drawing for narrow screens: all cards below each other, the arrows on tracks to the right of them.

const COLUMN = { gap: 22, first: 20, track: 20, corner: 7, margin: 6, label: 20 };

// Tracks such that no two arrows that pass each other share one: each takes the innermost that is free.
function takeTrack(tracks, low, high) {
  let at = tracks.findIndex((taken) => taken.every(([from, to]) => high < from || low > to));
  if (at < 0) at = tracks.push([]) - 1;
  tracks[at].push([low, high]);
  return at;
}

// Arrows that meet in one row of a card end a little apart.
function endsOf(edges, nodes) {
  const used = new Map();
  const end = (node, op) => {
    const middle = rowMiddle(node, op),
      key = JSON.stringify([node.id, middle]),
      place = used.get(key) || 0;
    used.set(key, place + 1);
    return node.y + middle + (place % 2 === 0 ? 1 : -1) * Math.ceil(place / 2) * 6;
  };
  return edges.map((edge) => {
    const from = nodes.get(edge.from),
      to = nodes.get(edge.to);
    let y0 = end(from, edge.fromOp),
      y1 = end(to, edge.toOp);
    if (Math.abs(y1 - y0) < 16) y1 = y0 + (y1 < y0 ? -16 : 16);
    return { edge, y0, y1 };
  });
}

// Where the label of an arrow stands: in the middle of it, or as near to that as there is room.
function placeLabel(taken, x, y, width) {
  const free = (at) => taken.every((one) => Math.abs(one.y - at) >= COLUMN.label || Math.abs(one.x - x) * 2 >= one.width + width);
  let at = y;
  for (let step = 1; step < 60 && !free(at); step++) at = y + (step % 2 === 0 ? -1 : 1) * Math.ceil(step / 2) * 6;
  taken.push({ x, y: at, width });
  return [x, at];
}

// From top to bottom as the drawing has them; many of them along the arrows, so that most lead to the next one.
const ALONG = 6;
function columnOrder(graph) {
  const sorted = [...graph.nodes].sort((a, b) => a.y - b.y || a.x - b.x);
  if (sorted.length <= ALONG) return sorted;
  const byId = new Map(sorted.map((node) => [node.id, node])),
    order = new Set();
  for (const first of sorted) {
    let node = first;
    while (node && !order.has(node)) {
      order.add(node);
      const from = node.id,
        next = graph.edges.find((edge) => edge.from === from && !order.has(byId.get(edge.to)));
      node = next && byId.get(next.to);
    }
  }
  return [...order];
}

function columnLayout(graph) {
  const sorted = columnOrder(graph),
    nodes = new Map(),
    right = Math.max(...sorted.map((node) => node.w)) + COLUMN.margin;
  let y = COLUMN.margin;
  for (const node of sorted) {
    nodes.set(node.id, { ...node, x: COLUMN.margin, y });
    y += node.h + COLUMN.gap;
  }
  const tracks = [],
    routes = new Map(),
    taken = [];
  let width = right + COLUMN.margin;
  const ends = endsOf(graph.edges, nodes).sort((a, b) => Math.abs(a.y1 - a.y0) - Math.abs(b.y1 - b.y0));
  for (const { edge, y0, y1 } of ends) {
    const track = takeTrack(tracks, Math.min(y0, y1) - 4, Math.max(y0, y1) + 4),
      x = right + COLUMN.first + track * COLUMN.track,
      x0 = COLUMN.margin + nodes.get(edge.from).w,
      x1 = COLUMN.margin + nodes.get(edge.to).w,
      turn = Math.sign(y1 - y0) * COLUMN.corner,
      c = COLUMN.corner;
    const room = labelWidth(edge),
      label = placeLabel(taken, x + Math.max(0, room / 2 - 14), (y0 + y1) / 2, room);
    routes.set(edge, {
      d: `M${x0} ${y0}H${x - c}Q${x} ${y0} ${x} ${y0 + turn}V${y1 - turn}Q${x} ${y1} ${x - c} ${y1}H${x1}`,
      label,
    });
    width = Math.max(width, label[0] + room / 2 + COLUMN.margin, x + COLUMN.margin);
  }
  return { nodes, routes, width, height: y - COLUMN.gap + COLUMN.margin };
}
