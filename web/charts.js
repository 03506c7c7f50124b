// Throughput and latency over time, with faults shaded behind them.

const CHART = { left: 56, right: 12, top: 18, bottom: 24, height: 210 };

const LEAST_DRAWN = 50;
const LINES = {
  rates: [
    ["committed", "committed"],
    ["aborted", "aborted"],
    ["unknown", "unknown"],
  ],
  latencies: [
    ["p50", "median"],
    ["p95", "95 %"],
    ["p99", "99 %"],
    ["max", "slowest"],
  ],
};

function chartFrame(series, width) {
  const end = series.start + series.bucket * series.length;
  return {
    width,
    end,
    x: (time) => CHART.left + ((time - series.start) / (end - series.start)) * (width - CHART.left - CHART.right),
    bottom: CHART.height - CHART.bottom,
    plot: CHART.height - CHART.top - CHART.bottom,
  };
}

function timeAxis(series, frame) {
  const group = svg("g", { class: "axis" }),
    step = timeStep(frame.end - series.start, (frame.width - CHART.left) / 110);
  for (let tick = Math.ceil(series.start / step) * step; tick <= frame.end; tick += step)
    group.append(
      svg(
        "text",
        {
          x: frame.x(tick),
          y: CHART.height - 7,
          "text-anchor": frame.x(tick) > frame.width - 30 ? "end" : frame.x(tick) < CHART.left + 12 ? "start" : "middle",
        },
        moment(tick, step)
      )
    );
  return group;
}

function faultShades(series, frame, faults) {
  const group = svg("g", { class: "faults" });
  let labelled = -Infinity;
  for (const fault of faults) {
    const x0 = clamp(frame.x(fault.start), CHART.left, frame.width),
      x1 = clamp(frame.x(fault.end === null ? frame.end : fault.end), x0, frame.width - CHART.right);
    const words = `${fault.kind}${fault.target ? ` ${fault.target}` : ""}`;
    group.append(
      svg("rect", { x: x0, y: CHART.top, width: Math.max(2, x1 - x0), height: frame.plot }, svg("title", {}, words))
    );
    if (x0 < labelled) continue;
    group.append(svg("text", { x: x0 + 2, y: CHART.top - 5 }, cut(words, 18)));
    labelled = x0 + 8 + Math.min(18, words.length) * 6.2;
  }
  return group;
}

// A line that breaks where a bucket has no value, and a dot where a value stands alone.
function linePath(values, x, y) {
  let d = "",
    open = false;
  values.forEach((value, at) => {
    if (value === null || y(value) === null) {
      open = false;
      return;
    }
    const alone = !open && (at + 1 >= values.length || values[at + 1] === null || y(values[at + 1]) === null);
    d += `${open ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}${alone ? "h1.5" : ""}`;
    open = true;
  });
  return d;
}

function linearScale(highest, frame) {
  const step = niceStep(Math.max(highest, 1e-9), 4),
    top = Math.max(step, Math.ceil(highest / step) * step);
  const ticks = [];
  for (let tick = 0; tick <= top + step / 2; tick += step) ticks.push([tick, series3(tick)]);
  return { y: (value) => frame.bottom - (value / top) * frame.plot, ticks };
}

function logScale(values, frame) {
  let low = Infinity,
    high = 1;
  for (const value of values) {
    if (value === null || value <= 0) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const from = Math.floor(Math.log10(Math.min(low, high))),
    to = Math.max(from + 1, Math.ceil(Math.log10(high))),
    ticks = [];
  for (let power = from; power <= to; power++) ticks.push([10 ** power, duration(10 ** power)]);
  return {
    y: (value) => (value <= 0 ? null : frame.bottom - ((Math.log10(value) - from) / (to - from)) * frame.plot),
    ticks,
  };
}

function drawChart(holder, chart, width) {
  const { series, faults, name } = chart,
    frame = chartFrame(series, width);
  const lines = LINES[name]
    .map(([column, label]) => ({ column, label, values: chart.values(column) }))
    .filter((line) => line.values.some((value) => value !== null && value > 0));
  const every = lines.flatMap((line) => line.values);
  const scale =
    name === "rates"
      ? linearScale(
          every.reduce((most, value) => Math.max(most, value || 0), 0),
          frame
        )
      : logScale(every, frame);
  const grid = svg(
    "g",
    { class: "axis" },
    scale.ticks.map(([value, label]) => [
      svg("path", { class: "grid", d: `M${CHART.left} ${scale.y(value)}H${width - CHART.right}` }),
      svg("text", { x: CHART.left - 8, y: scale.y(value) + 4, "text-anchor": "end" }, label),
    ])
  );
  const x = (at) => frame.x(series.start + (at + 0.5) * series.bucket);
  const cursor = svg("path", { class: "cursor" });
  const drawing = svg(
    "svg",
    {
      class: "chart",
      width,
      height: CHART.height,
      viewBox: `0 0 ${width} ${CHART.height}`,
      tabindex: "0",
      role: "img",
      "aria-label": chart.label,
    },
    faultShades(series, frame, faults),
    grid,
    timeAxis(series, frame),
    lines.map((line) => svg("path", { class: `line line-${line.column}`, d: linePath(line.values, x, scale.y) })),
    cursor
  );
  const tell = (at) => {
    chart.at = clamp(at, 0, series.length - 1);
    cursor.setAttribute("d", `M${x(chart.at)} ${CHART.top}V${frame.bottom}`);
    clear(chart.reading);
    add(chart.reading, [
      `${moment(series.start + chart.at * series.bucket, series.bucket)}: `,
      lines.map((line, n) => [n > 0 && ", ", `${line.label} ${chart.show(line.values[chart.at])}`]),
    ]);
  };
  drawing.addEventListener("pointermove", (event) =>
    tell(Math.floor(((event.offsetX - CHART.left) / (width - CHART.left - CHART.right)) * series.length))
  );
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (!step) return;
    event.preventDefault();
    tell(chart.at + step);
  });
  clear(holder).append(drawing);
}

function chartLegend(name, series) {
  return el(
    "ul",
    { class: "graph-legend" },
    LINES[name]
      .filter(([column]) => series[column].some((value) => value > 0))
      .map(([column, label]) =>
        el(
          "li",
          {},
          svg(
            "svg",
            { class: "sample", width: 26, height: 8, viewBox: "0 0 26 8", "aria-hidden": "true" },
            svg("path", { class: `line line-${column}`, d: "M1 4H25" })
          ),
          label
        )
      )
  );
}

function chartFigure(chart) {
  const holder = el("div", { class: "chart-box" });
  chart.reading = el("p", { class: "reading", "aria-live": "polite" }, chart.hint);
  chart.at = 0;
  let width = 0;
  new ResizeObserver(() => {
    if (holder.clientWidth === width || holder.clientWidth < 80) return;
    width = holder.clientWidth;
    drawChart(holder, chart, width);
  }).observe(holder);
  return el(
    "figure",
    { class: "chart-figure" },
    el("figcaption", {}, el("h3", {}, chart.title), chartLegend(chart.name, chart.series)),
    holder,
    chart.reading
  );
}

// Ten parts of the run, for those who read tables.
function chartTable(series) {
  const parts = Math.min(10, series.length),
    rows = [];
  for (let part = 0; part < parts; part++) {
    const from = Math.floor((part * series.length) / parts),
      to = Math.floor(((part + 1) * series.length) / parts);
    const sum = (name) => series[name].slice(from, to).reduce((total, value) => total + (value || 0), 0);
    const worst = (name) => series[name].slice(from, to).reduce((most, value) => Math.max(most, value || 0), 0);
    rows.push([
      moment(series.start + from * series.bucket, series.bucket),
      count(sum("committed")),
      count(sum("aborted")),
      count(sum("unknown")),
      duration(worst("p50")),
      duration(worst("p99")),
      duration(worst("max")),
    ]);
  }
  return details(
    "Throughput and latency as text",
    table(
      "Ten parts of the run; latencies are the worst of their buckets",
      ["from", "committed", "aborted", "unknown", "median", "99 %", "slowest"],
      rows
    )
  );
}

function showCharts(report) {
  const { series } = report;
  // A handful of transactions has no rates worth drawing.
  if (
    !series ||
    LINES.rates.reduce((total, [name]) => total + series[name].reduce((sum, value) => sum + (value || 0), 0), 0) <
      LEAST_DRAWN
  )
    return;
  const part = byId("rates");
  part.hidden = false;
  // The run may end within its last bucket; a sliver of one has no rate.
  const last = series.length - 1,
    covered = report.times ? report.times.end - series.start - last * series.bucket : series.bucket;
  const sliver = (at) => at === last && last > 0 && covered <= series.bucket / 4,
    seconds = (at) => (at === last && covered > 0 && covered < series.bucket ? covered : series.bucket) / 1e9;
  const rates = {
    name: "rates",
    title: "Transactions per second",
    label: "Throughput over time",
    hint: "Point at the chart for figures.",
    series,
    faults: report.faults,
    values: (column) => series[column].map((value, at) => (value === null || sliver(at) ? null : value / seconds(at))),
    show: (value) => (value === null || value === undefined ? "none" : `${series3(value)}/s`),
  };
  const latencies = {
    name: "latencies",
    title: "Latency of transactions",
    label: "Quantiles of latency over time",
    hint: "The scale is logarithmic.",
    series,
    faults: report.faults,
    values: (column) => series[column].map((value, at) => (sliver(at) ? null : value)),
    show: (value) => (value ? duration(value) : "none"),
  };
  add(part, [
    heading("rates", "Throughput and latency", report.faults.length > 0 ? "Faults are shaded." : null),
    el("div", { class: "chart-row" }, chartFigure(rates), chartFigure(latencies)),
    chartTable(series),
  ]);
}
