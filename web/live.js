// A run in progress: asks for its state once a second, shows figures and how they went, and gives way to the report.
"use strict";

const KEPT = 600; // looks, of which the charts are made
const looks = [];
const byId = (id) => document.getElementById(id);

function number(value, digits = 0) {
  return Number(value || 0).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function milliseconds(value) {
  return value >= 1000 ? number(value / 1000, 1) + " s" : number(value, value < 10 ? 2 : 0) + " ms";
}

function megabytes(bytes) {
  return number(bytes / 1048576, bytes < 10485760 ? 1 : 0) + " MB";
}

function set(id, text) {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text;
}

// "12 s", "3 min 05 s", "2 h 10 min"
function duration(seconds) {
  const whole = Math.floor(seconds || 0);
  if (whole < 60) return whole + " s";
  if (whole < 3600) return Math.floor(whole / 60) + " min " + String(whole % 60).padStart(2, "0") + " s";
  return Math.floor(whole / 3600) + " h " + String(Math.floor(whole / 60) % 60).padStart(2, "0") + " min";
}

function showVerdict(live) {
  const chip = byId("verdict");
  const shown = { satisfied: "satisfied so far", waiting: "waiting for writes", none: "nothing expected" };
  chip.className = "chip " + (live.verdict === "waiting" ? "unknown" : live.verdict);
  set("verdict", live.note ? "judged when the run has ended" : shown[live.verdict] || live.verdict);
  set("violation", live.violation || live.note || "");
  const names = Object.keys(live.levels || {});
  set("levels", names.map((name) => name + ": " + live.levels[name]).join(", "));
}

function showFigures(run, live) {
  const limit = run.seconds_limit > 0 ? " of " + duration(run.seconds_limit) : "";
  set("time", duration(run.seconds) + limit);
  set("committed", number(run.committed));
  set("aborted", number(run.aborted) + " aborted, " + number(run.unknown) + " unknown");
  set("throughput", number(run.per_second) + " per second");
  const l = run.latency_ms || {};
  set("latency", ["p50", "p90", "p99", "max"].map((name) => name + " " + milliseconds(l[name] || 0)).join(", "));
  set("sessions", number(run.sessions));
  set("fault", run.fault || "none at the moment");
  set("judged", number(live.judged) + " transactions, " + number(live.judged_per_second) + " per second");
  const behind = number(live.behind) + " transactions, " + number(live.behind_seconds, 1) + " s";
  set("behind", live.behind > 0 ? behind : "up to date");
  set("memory", megabytes(live.bytes) + ", " + number(live.retained) + " transactions in memory");
}

function svg(name, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
  return node;
}

// One line over time; spans with a fault are shaded.
function draw(id, value, unit) {
  const WIDTH = 600,
    HEIGHT = 90,
    chart = byId(id);
  const most = Math.max(1, ...looks.map(value));
  const at = (look) => (WIDTH * (look.time - looks[0].time)) / Math.max(1, looks[looks.length - 1].time - looks[0].time);
  const points = looks.map((look) => at(look).toFixed(1) + "," + (HEIGHT - (HEIGHT - 4) * (value(look) / most)).toFixed(1));
  chart.replaceChildren();
  looks.forEach((look, i) => {
    if (look.fault === null || i === 0) return;
    const x = at(looks[i - 1]);
    chart.append(svg("rect", { x, y: 0, width: at(look) - x, height: HEIGHT, class: "fault" }));
  });
  chart.append(svg("polyline", { points: points.join(" "), class: "line" }));
  chart.setAttribute("aria-label", "now " + number(value(looks[looks.length - 1])) + " " + unit + ", at most " + number(most));
  set(id + "-most", "at most " + number(most, most < 10 ? 1 : 0) + " " + unit);
}

function show(state) {
  const run = state.run || {},
    live = state.live || {};
  showVerdict(live);
  showFigures(run, live);
  looks.push({ time: run.seconds, rate: run.per_second || 0, behind: live.behind_seconds || 0, fault: run.fault || null });
  if (looks.length > KEPT) looks.shift();
  draw("rate-chart", (look) => look.rate, "transactions per second");
  draw("lag-chart", (look) => look.behind, "s behind");
  const silent = Date.now() / 1000 - state.updated;
  set("news", silent > 10 ? "No news for " + duration(silent) + ": the run may have been killed." : "");
}

// Once the state is gone, the run has ended: its report is here, or the list knows.
async function look() {
  let again = 1000;
  try {
    const reply = await fetch("live.json", { cache: "no-store" });
    if (reply.ok) {
      show(await reply.json());
    } else {
      set("news", "The run has ended; its report is being written.");
      const report = await fetch("result.json", { cache: "no-store" });
      if (report.ok) return location.reload();
    }
  } catch {
    set("news", "isoproof serve does not answer.");
    again = 3000;
  }
  setTimeout(look, again);
}

look();
