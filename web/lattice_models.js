// Elle's models, of which there are too many for a lattice that one can read: in groups, one model a line, the strongest
// first.  What a model becomes when the order of sessions or real time count, too, stands beside it in columns.

const MODEL = { row: 24, step: 12, left: 11, column: 64, name: 184, lanes: 4 };
const VARIANTS = [
  ["session", "strong-session-", "session", "order"],
  ["time", "strong-", "real", "time"],
];

// Everything that a model implies, itself included.
function implied(implies, id) {
  const found = new Set([id]);
  for (const one of found) for (const [above, below] of implies) if (above === one) found.add(below);
  return found;
}

// Which family a model of transactions belongs to; what stands in none is of the last one.
const FAMILIES = [
  ["Serializability", /serializable|1SR/],
  ["Snapshots", /snapshot-isolation|prefix|causal|atomic$|snapshot-read/],
  ["Reads", /./],
];

// Families of models of transactions, with variants beside them; and those about sessions and single objects.
function groupModels(report) {
  const byName = new Map(report.levels.map((level) => [level.id, level]));
  const objects = byName.has("linearizable") ? implied(report.implies, "linearizable") : new Set();
  const variants = new Map(),
    folded = new Set();
  for (const level of report.levels) {
    const found = {};
    if (level.id.startsWith("session-")) continue;
    for (const [name, prefix] of VARIANTS) {
      const variant = byName.get(prefix + level.id);
      if (!variant || objects.has(level.id)) continue;
      found[name] = variant;
      folded.add(variant.id);
    }
    if (Object.keys(found).length > 0) variants.set(level.id, found);
  }
  const rest = report.levels.filter((level) => !folded.has(level.id));
  const familyOf = (level) => FAMILIES.findIndex(([, pattern]) => pattern.test(level.id));
  const groups = FAMILIES.map(([title], place) => ({
    title,
    levels: rest.filter((level) => !objects.has(level.id) && familyOf(level) === place),
  }));
  groups.push({ title: "Sessions and single objects", levels: rest.filter((level) => objects.has(level.id)) });
  return { variants, groups: groups.filter((group) => group.levels.length > 0) };
}

// Lines are drawn within a family only: which models elsewhere imply all of it, or nearly all, is said in words.
function impliedBy(report, group) {
  const members = group.levels.map((level) => level.id),
    found = [];
  for (const level of report.levels) {
    if (members.includes(level.id) || level.id.startsWith("strong-")) continue;
    const below = implied(report.implies, level.id),
      missing = members.filter((id) => !below.has(id));
    if (missing.length <= 1 && members.length > 2) found.push({ id: level.id, missing, below });
  }
  // The weakest of them say it all.
  const weakest = found.filter(
    (one) =>
      !found.some((other) => other !== one && one.below.has(other.id) && other.missing.length <= one.missing.length)
  );
  const words = weakest.map(
    ({ id, missing }) => levelWords(id) + (missing.length > 0 ? ` (all but ${levelWords(missing[0])})` : "")
  );
  return words.length > 0 ? `implied by ${enumeration(words)}` : "";
}

function modelCell(level, x, y, text, look) {
  const mark = verdictMark(level.verdict);
  mark.setAttribute("transform", `translate(${x} ${y}) scale(.78)`);
  return svg(
    "g",
    {
      class: `level level-line level-${level.verdict}${level.asked ? " level-asked" : ""}`,
      tabindex: "0",
      role: "listitem",
      "aria-label": `${level.id}: ${verdictWords(level)}${level.asked ? ", asked for" : ""}. ${level.summary}`,
      "data-level": level.id,
      on: {
        pointerenter: () => look(level),
        focus: () => look(level),
        pointerleave: () => look(null),
        blur: () => look(null),
      },
    },
    text
      ? svg("rect", { class: "lane-hit", x: text - 5, y: y - 10, width: MODEL.name, height: 20, rx: 6 })
      : svg("rect", { class: "lane-hit", x: x - 12, y: y - 11, width: 24, height: 22, rx: 7 }),
    mark,
    text && svg("text", { x: text, y: y + 4 }, cut(levelWords(level.id), 30))
  );
}

// Lines between the variants in a column, and from each to what it is a variant of.
function variantLines(order, variants, columnX, rowY, x) {
  const lines = [];
  VARIANTS.forEach(([name], column) => {
    let above = null;
    for (const level of order) {
      const found = variants.get(level.id);
      if (!found || !found[name]) continue;
      const y = rowY(level.id);
      if (above !== null) lines.push(svg("path", { class: "imply", d: `M${columnX(column)} ${above}V${y}` }));
      const from = column > 0 && found[VARIANTS[column - 1][0]] ? columnX(column - 1) : x(level.id);
      if (column > 0) lines.push(svg("path", { class: "imply imply-quiet", d: `M${from} ${y}H${columnX(column)}` }));
      above = y;
    }
  });
  return lines;
}

function modelGroup(report, group, variants, look, headed) {
  const { title } = group,
    order = strongestFirst(group.levels, report.implies),
    { rail, count: lanes } = rails(order, report.implies),
    withVariants = order.some((level) => variants.has(level.id));
  const top = headed ? 30 : 2,
    row = new Map(order.map((level, at) => [level.id, at]));
  const x = (id) => MODEL.left + rail.get(id) * MODEL.step,
    y = (id) => top + row.get(id) * MODEL.row + MODEL.row / 2;
  const text = MODEL.left + Math.max(lanes, MODEL.lanes) * MODEL.step + 2,
    columnX = (column) => text + MODEL.name + 26 + column * MODEL.column;
  const width = columnX(VARIANTS.length - 1) + 34,
    height = top + order.length * MODEL.row;
  const lines = svg("g", { class: "implies", "aria-hidden": "true" }),
    cells = svg("g", { role: "list", "aria-label": `${title}, the strongest first` });
  for (const [from, to] of report.implies) {
    if (!row.has(from) || !row.has(to)) continue;
    const [x0, y0, x1, y1] = [x(from), y(from), x(to), y(to)],
      turn = y0 + MODEL.row * 0.9;
    lines.append(svg("path", { class: "imply", d: `M${x0} ${y0}C${x0} ${turn} ${x1} ${y0 + 5} ${x1} ${turn}V${y1}` }));
  }
  lines.append(...variantLines(order, variants, columnX, y, x));
  if (headed && withVariants)
    VARIANTS.forEach(([, , first, second], column) =>
      lines.append(
        svg("text", { class: "model-head", x: columnX(column), y: 10, "text-anchor": "middle" }, `and ${first}`),
        svg("text", { class: "model-head", x: columnX(column), y: 22, "text-anchor": "middle" }, second)
      )
    );
  for (const level of order) {
    cells.append(modelCell(level, x(level.id), y(level.id), text, look));
    const found = variants.get(level.id) || {};
    VARIANTS.forEach(([name], column) => {
      if (found[name]) cells.append(modelCell(found[name], columnX(column), y(level.id), null, look));
    });
  }
  return el(
    "section",
    { class: "model-group" },
    el("h3", {}, title, " ", el("span", { class: "model-by" }, impliedBy(report, group))),
    svg(
      "svg",
      { class: "lattice lattice-models", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title },
      lines,
      cells
    )
  );
}

function latticeModels(report, tell) {
  const { variants, groups } = groupModels(report),
    place = el("div", { class: "models" });
  const look = (level) => {
    tell(level);
    const bright = level ? implied(report.implies, level.id) : new Set();
    place.classList.toggle("looking", Boolean(level));
    for (const cell of place.querySelectorAll(".level")) cell.classList.toggle("bright", bright.has(cell.dataset.level));
  };
  return add(
    place,
    groups.map((group, at) => modelGroup(report, group, variants, look, at === 0))
  );
}
