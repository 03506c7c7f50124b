// The lattice for narrow screens: one level per line, the strongest first, and rails on the left that lead to what it implies.

const RAIL = { step: 14, row: 34, left: 12 };

// Levels such that each comes before everything that it implies.
function strongestFirst(levels, implies) {
  const above = new Map(levels.map((level) => [level.id, 0]));
  for (const [from, to] of implies) if (above.has(from) && above.has(to)) above.set(to, above.get(to) + 1);
  const waiting = [...levels],
    order = [];
  while (waiting.length > 0) {
    const at = Math.max(
      0,
      waiting.findIndex((level) => above.get(level.id) === 0)
    );
    const [level] = waiting.splice(at, 1);
    order.push(level);
    for (const [from, to] of implies) if (from === level.id && above.has(to)) above.set(to, above.get(to) - 1);
  }
  return order;
}

// Gives every level a rail; a rail is taken from the first level that leads there until the level itself.
function rails(order, implies) {
  const taken = [],
    rail = new Map(),
    known = new Set(order.map((level) => level.id));
  const free = () => {
    const at = taken.indexOf(null);
    return at < 0 ? taken.push(null) - 1 : at;
  };
  for (const level of order) {
    if (!rail.has(level.id)) {
      rail.set(level.id, free());
    }
    taken[rail.get(level.id)] = null;
    for (const [from, to] of implies) {
      if (from !== level.id || !known.has(to) || rail.has(to)) continue;
      const at = free();
      rail.set(to, at);
      taken[at] = to;
    }
  }
  return { rail, count: Math.max(1, taken.length) };
}

function latticeNarrow(report, tell) {
  const order = strongestFirst(report.levels, report.implies);
  const { rail, count: lanes } = rails(order, report.implies);
  const row = new Map(order.map((level, at) => [level.id, at]));
  const x = (id) => RAIL.left + rail.get(id) * RAIL.step,
    y = (id) => row.get(id) * RAIL.row + RAIL.row / 2;
  const left = RAIL.left + lanes * RAIL.step + 10,
    width = left + 230,
    height = order.length * RAIL.row;
  const drawing = svg("svg", {
    class: "lattice lattice-narrow",
    viewBox: `0 0 ${width} ${height}`,
    style: `max-width:${Math.round(width * 1.3)}px`,
    role: "list",
    "aria-label": "Levels, the strongest first",
  });
  for (const [from, to] of report.implies) {
    if (!row.has(from) || !row.has(to)) continue;
    const x0 = x(from),
      y0 = y(from),
      x1 = x(to),
      y1 = y(to),
      turn = y0 + RAIL.row * 0.9;
    drawing.append(
      svg("path", { class: "imply", d: `M${x0} ${y0}C${x0} ${turn} ${x1} ${y0 + 6} ${x1} ${turn}V${y1}` })
    );
  }
  for (const level of order) {
    const mark = verdictMark(level.verdict);
    mark.setAttribute("transform", `translate(${x(level.id)} ${y(level.id)}) scale(.8)`);
    drawing.append(
      svg(
        "g",
        {
          class: `level level-${level.verdict}${level.asked ? " level-asked" : ""}`,
          tabindex: "0",
          role: "listitem",
          "aria-label": `${level.id}: ${VERDICT_WORDS[level.verdict]}`,
          on: { focus: () => tell(level), click: () => tell(level) },
        },
        svg("rect", { class: "lane-hit", x: left - 10, y: y(level.id) - 13, width: width - left, height: 26, rx: 7 }),
        mark,
        svg("text", { x: left, y: y(level.id) + 5 }, cut(levelWords(level.id), 34))
      )
    );
  }
  return drawing;
}
