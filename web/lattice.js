// The levels as a drawn lattice: the strongest at the top, a line from each level to those that it implies directly.
// A verdict shows as colour, as the shape of its mark, and as a word for those who see neither.

const BOX = { width: 144, height: 44, across: 156, down: 67 };

function levelPlaces(levels, implies) {
  const places = new Map();
  if (levels.every((level) => level.column !== null && level.row !== null)) {
    for (const level of levels) places.set(level.id, { column: level.column, row: level.row });
    const rows = [...new Set([...places.values()].map((place) => place.row))].sort((a, b) => a - b);
    const left = Math.min(...[...places.values()].map((place) => place.column));
    for (const place of places.values()) {
      place.row = rows.indexOf(place.row);
      place.column -= left;
    }
    return places;
  }
  // Without places: as deep as the longest chain above, in rows as they come.
  const depth = new Map(levels.map((level) => [level.id, 0]));
  for (let round = 0; round < levels.length; round++)
    for (const [above, below] of implies)
      if (depth.has(above) && depth.has(below))
        depth.set(below, Math.min(levels.length, Math.max(depth.get(below), depth.get(above) + 1)));
  const used = new Map();
  for (const level of levels) {
    const row = depth.get(level.id),
      column = used.get(row) || 0;
    used.set(row, column + 1);
    places.set(level.id, { column, row });
  }
  const widest = Math.max(...used.values());
  for (const place of places.values()) place.column += (widest - used.get(place.row)) / 2;
  return places;
}

// A mark of 16 by 16 around the origin: the shape alone tells the verdict.
function verdictMark(verdict) {
  const mark = svg("g", { class: `mark mark-${verdict}`, "aria-hidden": "true" });
  if (verdict === "satisfied")
    mark.append(svg("circle", { r: 8 }), svg("path", { class: "sign", d: "M-3.6 .2 L-1 2.9 L3.8 -2.8" }));
  else if (verdict === "violated")
    mark.append(
      svg("path", { d: "M-3.4 -8H3.4L8 -3.4V3.4L3.4 8H-3.4L-8 3.4V-3.4Z" }),
      svg("path", { class: "sign", d: "M-2.9 -2.9L2.9 2.9M2.9 -2.9L-2.9 2.9" })
    );
  else if (verdict === "unknown")
    mark.append(
      svg("path", { d: "M0 -9L9 0L0 9L-9 0Z" }),
      svg("path", { class: "sign", d: "M-2.2 -1.9A2.3 2.3 0 1 1 .6 .4Q0 .8 0 1.6M0 4.2V4.3" })
    );
  else mark.append(svg("circle", { class: "hollow", r: 7 }));
  return mark;
}

const verdictIcon = (verdict) =>
  svg(
    "svg",
    { class: "icon", viewBox: "-10 -10 20 20", width: 20, height: 20, "aria-hidden": "true" },
    verdictMark(verdict)
  );

function twoLines(words) {
  const parts = words.split(" ");
  if (words.length <= 14 || parts.length === 1) return [words];
  let best = 1;
  for (let at = 1; at < parts.length; at++) {
    const longer = (cutAt) => Math.max(parts.slice(0, cutAt).join(" ").length, parts.slice(cutAt).join(" ").length);
    if (longer(at) < longer(best)) best = at;
  }
  return [parts.slice(0, best).join(" "), parts.slice(best).join(" ")];
}

function levelBox(level, x, y, tell) {
  const lines = twoLines(cut(levelWords(level.id), 34));
  const box = svg(
    "g",
    {
      class: `level level-${level.verdict}${level.asked ? " level-asked" : ""}${level.follows ? " level-follows" : ""}`,
      transform: `translate(${x} ${y})`,
      tabindex: "0",
      role: "listitem",
      "aria-label": `${level.id}: ${verdictWords(level)}${level.asked ? ", asked for" : ""}. ${level.summary}`,
      "data-level": level.id,
      on: {
        pointerenter: () => tell(level),
        focus: () => tell(level),
        pointerleave: () => tell(null),
        blur: () => tell(null),
      },
    },
    svg("rect", { x: -BOX.width / 2, y: -BOX.height / 2, width: BOX.width, height: BOX.height, rx: 9 })
  );
  const mark = verdictMark(level.verdict);
  mark.setAttribute("transform", `translate(${-BOX.width / 2 + 17} 0)`);
  const text = svg("text", { x: -BOX.width / 2 + 32, y: lines.length === 1 ? 4 : -3 });
  lines.forEach((line, at) => text.append(svg("tspan", { x: -BOX.width / 2 + 32, dy: at === 0 ? 0 : 14 }, line)));
  box.append(mark, text);
  return box;
}

function latticeWide(report, tell) {
  const places = levelPlaces(report.levels, report.implies);
  balance(places, report.implies);
  const all = [...places.values()];
  const columns = Math.max(...all.map((place) => place.column)),
    rows = Math.max(...all.map((place) => place.row));
  const width = columns * BOX.across + BOX.width + 8,
    height = rows * BOX.down + BOX.height + 8;
  const x = (place) => place.column * BOX.across + BOX.width / 2 + 4,
    y = (place) => place.row * BOX.down + BOX.height / 2 + 4;
  const verdictOf = new Map(report.levels.map((level) => [level.id, level.verdict]));
  const lines = svg("g", { class: "implies", "aria-hidden": "true" });
  for (const [above, below] of report.implies) {
    const a = places.get(above),
      b = places.get(below);
    if (!a || !b) continue;
    const x0 = x(a),
      y0 = y(a) + BOX.height / 2,
      x1 = x(b),
      y1 = y(b) - BOX.height / 2,
      bend = Math.min(34, Math.abs(y1 - y0) / 2);
    lines.append(
      svg("path", {
        class: `imply imply-${verdictOf.get(above)}`,
        "data-from": above,
        "data-to": below,
        d: `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`,
      })
    );
  }
  const boxes = svg("g", { role: "list", "aria-label": "Levels, the strongest first" });
  const ordered = [...report.levels].sort(
    (one, two) =>
      places.get(one.id).row - places.get(two.id).row || places.get(one.id).column - places.get(two.id).column
  );
  for (const level of ordered)
    boxes.append(
      levelBox(level, x(places.get(level.id)), y(places.get(level.id)), (which) => {
        tell(which);
        lightImplied(lines, boxes, report.implies, which);
      })
    );
  if (columns > 6) byId("verdict").classList.add("hero-wide");
  return svg(
    "svg",
    {
      class: "lattice lattice-wide",
      viewBox: `0 0 ${width} ${height}`,
      style: `max-width:${Math.round(width * 1.06)}px`,
      role: "group",
      "aria-label": "The lattice of levels",
    },
    lines,
    boxes
  );
}

// Everything that a level implies stays bright while the level is looked at.
function lightImplied(lines, boxes, implies, level) {
  const bright = new Set(level ? [level.id] : []);
  for (const id of bright) for (const [above, below] of implies) if (above === id) bright.add(below);
  lines.parentNode.classList.toggle("looking", Boolean(level));
  for (const line of lines.children) line.classList.toggle("bright", bright.has(line.dataset.from));
  for (const box of boxes.children) box.classList.toggle("bright", bright.has(box.dataset.level));
}

function latticeLegend(report) {
  const present = VERDICTS.filter((verdict) => report.levels.some((level) => level.verdict === verdict));
  return el(
    "ul",
    { class: "lattice-legend", "aria-label": "Meaning of the marks" },
    present.map((verdict) => el("li", {}, verdictIcon(verdict), VERDICT_WORDS[verdict])),
    report.levels.some((level) => level.asked) &&
      el("li", {}, el("span", { class: "asked-sample", "aria-hidden": "true" }), "asked for")
  );
}

// Fonts differ: a name that is wider than its box is pressed into it.
function squeeze(figure) {
  for (const line of figure.querySelectorAll(".lattice-wide tspan")) {
    line.removeAttribute("textLength");
    if (line.getComputedTextLength() > BOX.width - 38)
      dress(line, { textLength: BOX.width - 38, lengthAdjust: "spacingAndGlyphs" });
  }
}

function lattice(report) {
  if (report.levels.length === 0) return null;
  const about = el("p", { class: "level-about", "aria-live": "polite" });
  const tell = (level) => {
    clear(about);
    if (!level)
      about.append("A level implies those below that it is connected to. Point at one to read what it asks.");
    else add(about, [el("strong", {}, level.id), ` ${verdictWords(level)}. ${level.summary}`]);
  };
  tell(null);
  const figure = el(
    "figure",
    { class: "lattice-figure" },
    el("figcaption", { class: "visually-hidden" }, "Verdict on each isolation level"),
    latticeWide(report, tell),
    latticeNarrow(report, tell),
    latticeLegend(report),
    about
  );
  new ResizeObserver(() => squeeze(figure)).observe(figure);
  return figure;
}
