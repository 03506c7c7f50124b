// Drawing the timeline on canvases: only what is visible, and bars too narrow to tell apart as one.

const LANE = { gutter: 64, axis: 24, least: 7, most: 24, involved: 46, bar: 18, tallest: 440 };
const NARROW = 2.5; // pixels below which bars are merged

function canvasOf(canvas, width, height) {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function palette() {
  const names = [
    "ink",
    "muted",
    "line",
    "paper",
    "card",
    "fault",
    "accent",
    "committed",
    "committed-many",
    "aborted",
    "unknown",
    "row",
    "on-bar",
  ];
  const colours = Object.fromEntries(names.map((name) => [name, ink(name)]));
  colours.kinds = Object.fromEntries(KINDS.map((kind) => [kind, ink(`edge-${kind}`)]));
  colours.font = "11px Inter, system-ui, -apple-system, 'Segoe UI', sans-serif";
  return colours;
}

const timeToX = (view, time) => LANE.gutter + ((time - view.from) / (view.to - view.from)) * (view.width - LANE.gutter);
const xToTime = (view, x) => view.from + ((x - LANE.gutter) / (view.width - LANE.gutter)) * (view.to - view.from);

// The bars of one group: wide ones by themselves, runs of narrow ones as one bar; with `paint.many` null only the wide.
function drawGroup(context, view, group, y, height, paint) {
  const { index } = view,
    {
      order,
      timeline: { start, end },
    } = index,
    last = index.first[group + 1];
  const perPixel = (view.to - view.from) / (view.width - LANE.gutter);
  let runFrom = -1,
    runTo = -1;
  const flush = () => {
    if (runFrom >= 0 && paint.many) {
      context.fillStyle = paint.many;
      context.fillRect(runFrom, y, Math.max(1, runTo - runFrom), height);
    }
    runFrom = -1;
  };
  let p = firstLasting(index, group, view.from);
  while (p < last) {
    const i = order[p];
    if (start[i] > view.to) break;
    const x0 = Math.max(LANE.gutter, timeToX(view, start[i])),
      x1 = Math.min(view.width, timeToX(view, end[i]));
    if (x1 - x0 >= NARROW) {
      flush();
      context.fillStyle = paint.wide;
      context.fillRect(x0, y, x1 - x0 - 0.6, height);
      if (paint.frame) {
        context.strokeStyle = paint.frame;
        context.lineWidth = 1;
        context.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0 - 1.6), height - 1);
      }
      p++;
      continue;
    }
    const pixel = Math.floor(x0);
    if (x1 >= LANE.gutter) {
      if (runFrom >= 0 && pixel > runTo + 0.5) flush();
      if (runFrom < 0) runFrom = pixel;
      runTo = Math.max(runTo, pixel + 1, x1);
    }
    // Whatever else starts within this pixel looks the same, except the last one, which may be long.
    const next = firstStarting(index, group, p + 1, view.from + (pixel + 1 - LANE.gutter) * perPixel);
    p =
      next > p + 1 && end[order[next - 1]] - start[order[next - 1]] >= NARROW * perPixel
        ? next - 1
        : Math.max(next, p + 1);
  }
  flush();
}

// How many of those that start in a bin were rolled back, as a bar from the bottom that is as tall as their share: a
// colour per transaction would make everything red where one in ten aborts.
const RATE_BIN = 6;
function drawAbortRate(context, view, session, y, height, colour) {
  const { index } = view,
    perPixel = (view.to - view.from) / (view.width - LANE.gutter);
  const at = [0, 1, 2].map((status) => firstStarting(index, session * 3 + status, index.first[session * 3 + status], view.from));
  context.fillStyle = colour;
  for (let x = LANE.gutter; x < view.width; x += RATE_BIN) {
    const until = view.from + (x + RATE_BIN - LANE.gutter) * perPixel,
      found = at.map((from, status) => {
        at[status] = firstStarting(index, session * 3 + status, from, until);
        return at[status] - from;
      });
    const total = found[0] + found[1] + found[2];
    if (found[1] === 0) continue;
    const last = index.order[at[1] - 1],
      wide = (index.timeline.end[last] - index.timeline.start[last]) / perPixel >= NARROW;
    if (total === 1 && wide) continue;
    const tall = Math.max(2, (found[1] / total) * height);
    context.fillRect(x, y + height - tall, RATE_BIN - 1, tall);
  }
}

function drawFaults(context, view, faults, colours, top, height) {
  context.fillStyle = colours.fault;
  for (const fault of faults) {
    const x0 = Math.max(LANE.gutter, timeToX(view, fault.start)),
      x1 = Math.min(view.width, timeToX(view, fault.end === null ? view.index.high : fault.end));
    if (x1 >= LANE.gutter && x0 <= view.width) context.fillRect(x0, top, Math.max(2, x1 - x0), height);
  }
}

function drawAxis(context, view, colours, top, height) {
  const range = view.to - view.from,
    timed = view.index.timeline.timed;
  const parts = (view.width - LANE.gutter) / 110,
    step = timed ? timeStep(range, parts) : Math.max(niceStep(range, parts), 1);
  context.font = colours.font;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
    const x = Math.round(timeToX(view, tick)) + 0.5;
    context.fillStyle = colours.line;
    context.fillRect(x - 0.5, top, 1, height);
    context.fillStyle = colours.muted;
    const label = timed ? moment(tick, step) : whole.format(Math.round(tick) || 0);
    if (x < view.width - 20 && x > LANE.gutter + 12) context.fillText(label, x, height + 13);
  }
}

function drawRows(context, view, colours, visible) {
  context.font = colours.font;
  context.textBaseline = "middle";
  context.textAlign = "right";
  let labelled = -Infinity;
  for (let place = visible.first; place < visible.last; place++) {
    const session = view.rows[place],
      y = view.tops[place] - view.scroll,
      height = view.tops[place + 1] - view.tops[place];
    if (place % 2 === 1) {
      context.fillStyle = colours.row;
      context.fillRect(LANE.gutter, y, view.width - LANE.gutter, height);
    }
    if (y + height / 2 - labelled >= 12) {
      labelled = y + height / 2;
      context.fillStyle = view.involved.has(session) ? colours.ink : colours.muted;
      context.fillText(`s${session}`, LANE.gutter - 8, y + height / 2, LANE.gutter - 12);
    }
  }
}

// Where the bars of a row stand: in the middle of it, and not taller than a bar should be.
function barsOf(view, place) {
  const top = view.tops[place] - view.scroll,
    lane = view.tops[place + 1] - view.tops[place],
    height = Math.min(LANE.bar, lane - (lane > 12 ? 6 : 2));
  return { y: top + (lane - height) / 2, height, middle: top + lane / 2, lane };
}

function barOf(view, i) {
  const { timeline } = view.index,
    x = timeToX(view, timeline.start[i]);
  return {
    x,
    width: Math.max(2, timeToX(view, timeline.end[i]) - x),
    ...barsOf(view, view.rowOf[timeline.session[i]]),
  };
}

const DASHES = { WW: [8, 4], RW: [4, 3], RT: [1.5, 3], CM: [8, 3, 2, 3] };

// Where a dependency leaves and arrives: between the bars, or along the row where both are of one session.
function dependencyEnds(view, edge, share) {
  const from = barOf(view, edge.from),
    to = barOf(view, edge.to),
    down = Math.sign(to.middle - from.middle);
  if (down === 0) return { x0: from.x + from.width, y0: from.middle, x1: to.x, y1: to.middle };
  return {
    x0: from.x + from.width * share,
    y0: from.middle + (down * from.height) / 2,
    x1: to.x + to.width * share,
    y1: to.middle - (down * to.height) / 2,
  };
}

// Lines above everything, or, below the bars, the room around them that keeps them legible.
function drawDependencies(context, view, colours, room) {
  view.edges.forEach((edge, place) => {
    const { x0, y0, x1, y1 } = dependencyEnds(view, edge, (place + 1) / (view.edges.length + 1));
    const length = Math.hypot(x1 - x0, y1 - y0) || 1,
      dx = (x1 - x0) / length,
      dy = (y1 - y0) / length;
    context.strokeStyle = context.fillStyle = room ? colours.card : colours.kinds[edge.kind] || colours.muted;
    context.lineWidth = room ? 6 : 1.8;
    context.setLineDash(room ? [] : DASHES[edge.kind] || []);
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1 - dx * 6, y1 - dy * 6);
    context.stroke();
    context.setLineDash([]);
    if (room) return;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - dx * 9 - dy * 4.5, y1 - dy * 9 + dx * 4.5);
    context.lineTo(x1 - dx * 9 + dy * 4.5, y1 - dy * 9 - dx * 4.5);
    context.fill();
  });
}

// The transactions of the open anomaly, with their names.
function drawAnomaly(context, view, colours) {
  context.font = `600 ${colours.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const { status } = view.index.timeline;
  for (const [name, i] of view.marked) {
    const bar = barOf(view, i);
    if (bar.x > view.width || bar.x + bar.width < LANE.gutter) continue;
    const x = Math.max(LANE.gutter, Math.round(bar.x)),
      width = Math.round(Math.min(bar.x + bar.width, view.width) - x);
    context.fillStyle = [colours.committed, colours.aborted, colours.unknown][Math.min(status[i], 2)];
    context.fillRect(x, bar.y, width, bar.height);
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    context.strokeRect(x - 1, Math.round(bar.y) - 1, width + 2, Math.round(bar.height) + 2);
    const room = context.measureText(name).width;
    if (bar.height > 11 && width > room + 10) {
      context.fillStyle = status[i] === 1 ? colours.card : colours["on-bar"];
      context.fillText(name, x + 6, bar.middle + 0.5);
      continue;
    }
    // Above the bar where its row is tall: dependencies within a session run beside it.
    const above = bar.lane >= LANE.involved,
      at = above
        ? clamp(x, LANE.gutter, view.width - room - 4)
        : x + width + 6 + room < view.width
          ? x + width + 6
          : Math.max(LANE.gutter, x - room - 8);
    const y = above ? bar.y - 9 : bar.middle;
    context.fillStyle = colours.card;
    context.fillRect(at - 2, y - 6, room + 4, 12);
    context.fillStyle = colours.ink;
    context.fillText(name, at, y + 0.5);
  }
}

// The rows that are in view, and how tall all of them are.
const plotOf = (view) => Math.min(LANE.tallest, view.tops[view.rows.length]);
function visibleRows(view) {
  const first = Math.max(
    0,
    lowerBound(0, view.rows.length, (place) => view.tops[place + 1] <= view.scroll)
  );
  return { first, last: lowerBound(first, view.rows.length, (place) => view.tops[place] < view.scroll + plotOf(view)) };
}

function drawTimeline(view, faults) {
  const colours = view.colours,
    plot = plotOf(view);
  const context = canvasOf(view.canvas, view.width, plot + LANE.axis);
  const visible = visibleRows(view);
  context.save();
  context.beginPath();
  context.rect(0, 0, view.width, plot);
  context.clip();
  drawRows(context, view, colours, visible);
  drawFaults(context, view, faults, colours, 0, plot);
  context.restore();
  drawAxis(context, view, colours, 0, plot);
  context.save();
  context.beginPath();
  context.rect(0, 0, view.width, plot);
  context.clip();
  // Around the anomaly everything else steps back.
  context.globalAlpha = view.mode === "around" && view.marked.size > 0 ? 0.45 : 1;
  for (let place = visible.first; place < visible.last; place++) {
    const session = view.rows[place],
      { y, height } = barsOf(view, place);
    drawGroup(context, view, session * 3, y, height, { wide: colours.committed, many: colours["committed-many"] });
    drawGroup(context, view, session * 3 + 1, y, height, { wide: colours.card, many: null, frame: colours.aborted });
    drawGroup(context, view, session * 3 + 2, y, height, { wide: colours.unknown, many: colours.unknown });
    drawAbortRate(context, view, session, y, height, colours.aborted);
  }
  context.globalAlpha = 1;
  drawDependencies(context, view, colours, true);
  drawAnomaly(context, view, colours);
  drawDependencies(context, view, colours, false);
  if (view.chosen >= 0) {
    const bar = barOf(view, view.chosen);
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(bar.x - 3, bar.y - 3, bar.width + 6, bar.height + 6);
  }
  context.restore();
}

// The share of aborted transactions as a line, from nothing at the bottom to all at the top.
const STRIP_BIN = 6;
function drawShare(context, colours, aborted, ended, height) {
  if (!aborted.some((some) => some > 0)) return;
  context.strokeStyle = colours.aborted;
  context.lineWidth = 1.3;
  context.beginPath();
  let open = false;
  for (let bin = 0; bin < ended.length; bin++) {
    if (ended[bin] === 0) {
      open = false;
      continue;
    }
    const x = LANE.gutter + (bin + 0.5) * STRIP_BIN,
      y = height - 1.5 - (aborted[bin] / ended[bin]) * (height - 6);
    if (open) context.lineTo(x, y);
    else context.moveTo(x, y);
    open = true;
  }
  context.stroke();
}

// The whole run as a strip: how many transactions were under way at each pixel, and which part is shown above.
function drawStripBack(view, width, height, faults) {
  const { timeline, low, high } = view.index,
    bins = Math.max(1, Math.floor(width - LANE.gutter)),
    scale = bins / (high - low);
  const all = new Uint32Array(bins),
    open = new Uint8Array(bins),
    wide = Math.ceil(bins / STRIP_BIN),
    ended = new Uint32Array(wide),
    aborted = new Uint32Array(wide);
  for (let i = 0; i < timeline.count; i++) {
    const bin = Math.min(bins - 1, Math.floor((timeline.start[i] - low) * scale));
    all[bin]++;
    ended[Math.floor(bin / STRIP_BIN)]++;
    if (timeline.status[i] === 1) aborted[Math.floor(bin / STRIP_BIN)]++;
    else if (timeline.status[i] === 2) open[bin] = 1;
  }
  const back = document.createElement("canvas");
  const context = canvasOf(back, width, height),
    colours = view.colours;
  drawFaults(context, { ...view, from: low, to: high, width }, faults, colours, 0, height);
  let most = 1;
  for (const value of all) most = Math.max(most, value);
  for (let bin = 0; bin < bins; bin++) {
    const tall = all[bin] === 0 ? 0 : Math.max(1, (all[bin] / most) * (height - 10));
    context.fillStyle = colours["committed-many"];
    context.fillRect(LANE.gutter + bin, height - tall, 1, tall);
    if (!open[bin]) continue;
    context.fillStyle = colours.unknown;
    context.fillRect(LANE.gutter + bin, height - 3, 1, 3);
  }
  drawShare(context, colours, aborted, ended, height);
  return back;
}

function drawStrip(view, faults) {
  const height = 46,
    width = view.width;
  if (!view.stripBack) view.stripBack = drawStripBack(view, width, height, faults);
  const context = canvasOf(view.strip, width, height),
    whole_run = { ...view, from: view.index.low, to: view.index.high };
  context.drawImage(view.stripBack, 0, 0, width, height);
  context.fillStyle = view.colours.muted;
  context.font = view.colours.font;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("whole run", LANE.gutter - 8, height / 2);
  for (const i of view.marked.values()) {
    const x = timeToX(whole_run, view.index.timeline.start[i]);
    context.fillStyle = view.colours.ink;
    context.beginPath();
    context.moveTo(x - 4, 0);
    context.lineTo(x + 4, 0);
    context.lineTo(x, 7);
    context.fill();
  }
  const x0 = clamp(timeToX(whole_run, view.from), LANE.gutter, width - 3),
    x1 = clamp(timeToX(whole_run, view.to), x0 + 3, width);
  context.strokeStyle = view.colours.accent;
  context.lineWidth = 1.5;
  context.strokeRect(x0 + 0.75, 0.75, x1 - x0 - 1.5, height - 1.5);
}
