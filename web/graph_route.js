// Where edges run.  The report brings paths that avoid the cards; once a card was moved, its edges are drawn anew here.

const CARD = { header: 30, row: 20, bottom: 8 };

const rowMiddle = (node, op) =>
  op === null || op < 0 || op >= node.operations.length ? node.h / 2 : CARD.header + CARD.row * op + CARD.row / 2;

// Edges between the same two cards are told apart by their place among them.
function spreads(edges) {
  const seen = new Map(),
    place = new Map();
  for (const edge of edges) {
    const pair = JSON.stringify([edge.from, edge.to].sort());
    place.set(edge, seen.get(pair) || 0);
    seen.set(pair, place.get(edge) + 1);
  }
  return place;
}

function loopRoute(edge, node, spread) {
  const x = node.x + node.w,
    y0 = node.y + rowMiddle(node, edge.fromOp);
  let y1 = node.y + rowMiddle(node, edge.toOp);
  if (Math.abs(y1 - y0) < 4) y1 = y0 + 14;
  const out = x + 36 + spread * 16;
  return { d: `M${x} ${y0}C${out} ${y0} ${out} ${y1} ${x} ${y1}`, label: [x + 30 + spread * 12, (y0 + y1) / 2] };
}

function freshRoute(edge, from, to, spread) {
  if (from === to) return loopRoute(edge, from, spread);
  const bow = (spread % 2 === 0 ? 1 : -1) * Math.ceil(spread / 2) * 22;
  const apart = to.x > from.x + from.w ? 1 : from.x > to.x + to.w ? -1 : 0;
  let x0, y0, x1, y1, cx0, cy0, cx1, cy1;
  if (apart !== 0) {
    x0 = apart > 0 ? from.x + from.w : from.x;
    x1 = apart > 0 ? to.x : to.x + to.w;
    y0 = from.y + rowMiddle(from, edge.fromOp);
    y1 = to.y + rowMiddle(to, edge.toOp);
    const pull = Math.max(24, Math.abs(x1 - x0) / 2) * apart;
    [cx0, cy0, cx1, cy1] = [x0 + pull, y0 + bow, x1 - pull, y1 + bow];
  } else {
    const down = to.y >= from.y ? 1 : -1;
    x0 = from.x + from.w / 2 + bow;
    x1 = to.x + to.w / 2 + bow;
    y0 = down > 0 ? from.y + from.h : from.y;
    y1 = down > 0 ? to.y : to.y + to.h;
    const pull = Math.max(24, Math.abs(y1 - y0) / 2) * down;
    [cx0, cy0, cx1, cy1] = [x0 + bow, y0 + pull, x1 + bow, y1 - pull];
  }
  return {
    d: `M${x0} ${y0}C${cx0} ${cy0} ${cx1} ${cy1} ${x1} ${y1}`,
    label: [(x0 + 3 * cx0 + 3 * cx1 + x1) / 8, (y0 + 3 * cy0 + 3 * cy1 + y1) / 8],
  };
}

function edgeRoute(edge, from, to, spread, moved) {
  if (edge.path && !moved && edge.labelX !== null && edge.labelY !== null)
    return { d: edge.path, label: [edge.labelX, edge.labelY] };
  return freshRoute(edge, from, to, spread);
}
