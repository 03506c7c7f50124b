// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat("en-GB");
const count = (value) => (value === null ? "an unknown number of" : whole.format(value));
const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many || `${one}s`}`;
// How often there is an anomaly: "3 times", "at least 3 times", or nothing where that says no more than that there is one.
const isCounted = (anomaly) => anomaly.count !== null && (!anomaly.atLeast || anomaly.count > 1);
const times = (anomaly) =>
  isCounted(anomaly) ? `${anomaly.atLeast ? "at least " : ""}${plural(anomaly.count, "time")}` : "";
// The code of an anomaly and its name, unless they are the same words.
const sameWords = (code, name) =>
  code.toLowerCase().replace(/[^a-z0-9]/g, "") === name.toLowerCase().replace(/[^a-z0-9]/g, "");
const anomalyTitle = (anomaly) => [
  anomaly.name ? capital(anomaly.name) : anomaly.code,
  anomaly.name && !sameWords(anomaly.code, anomaly.name) && [" ", el("span", { class: "code" }, anomaly.code)],
];
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const levelWords = (id) => id.replace(/([a-z])-(?=[a-z])/g, "$1 ");

const compact = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });

function series3(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e5) return compact.format(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

// A duration in nanoseconds.
function duration(ns) {
  const size = Math.abs(ns);
  if (size >= 59.95e9) {
    const seconds = Math.round(ns / 1e9);
    return `${Math.floor(seconds / 60)} min${seconds % 60 > 0 ? ` ${seconds % 60} s` : ""}`;
  }
  if (size >= 1e9) return `${series3(ns / 1e9)} s`;
  if (size >= 1e6) return `${series3(ns / 1e6)} ms`;
  if (size >= 1e3) return `${series3(ns / 1e3)} \u00b5s`;
  return `${series3(ns)} ns`;
}

// A moment, told as finely as a step on its axis asks for, in the largest unit that needs at most two decimals.
function moment(ns, step) {
  if (step >= 60e9) return step >= 3600e9 && ns % 3600e9 === 0 ? `${ns / 3600e9} h` : `${Math.round(ns / 60e9)} min`;
  const [unit, name] =
    step >= 1e7 || ns >= 1e9
      ? [1e9, "s"]
      : step >= 1e4 || ns >= 1e6
        ? [1e6, "ms"]
        : step >= 10 || ns >= 1e3
          ? [1e3, "\u00b5s"]
          : [1, "ns"];
  return `${Number((ns / unit).toFixed(clamp(Math.ceil(-Math.log10(step / unit)), 0, 9)))} ${name}`;
}

// Steps of 1, 2 or 5 that cut a range into about so many parts.
function niceStep(range, parts) {
  const rough = range / Math.max(1, parts),
    power = 10 ** Math.floor(Math.log10(rough));
  const factor = rough / power;
  return (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10) * power;
}

// The same for times: from half a minute on, whole minutes and hours.
const MINUTES = [1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1440];
function timeStep(range, parts) {
  const rough = range / Math.max(1, parts);
  if (rough <= 30e9) return niceStep(range, parts);
  return (MINUTES.find((minutes) => minutes * 60e9 >= rough) || 10 ** Math.ceil(Math.log10(rough / 60e9))) * 60e9;
}

function enumeration(names) {
  return names.length <= 1 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

const STATUS_WORDS = {
  committed: "committed",
  aborted: "aborted",
  unknown: "outcome unknown",
  initial: "initial version",
};
const VERDICT_WORDS = { satisfied: "satisfied", violated: "violated", unknown: "unknown", undecided: "not decided" };

const verdictWords = (level) => VERDICT_WORDS[level.verdict] + (level.follows ? ", which follows" : "");

const KIND_WORDS = {
  SO: ["session order", "is earlier in the same session"],
  WR: ["read from", "wrote what the other one read"],
  WW: ["overwritten by", "wrote a version that the other one's write comes after"],
  RW: ["missed the write of", "read a version that the other one overwrote"],
  RT: ["real time", "had ended when the other one began"],
  CM: ["commit order", "must come before the other one"],
  PO: ["program order", "is earlier in the same transaction"],
};

// Sentences with the names of transactions set apart; pointing at one tells `look` about it.  Where an operation stands in
// the input, "(h.jsonl:12)", is there for those who ask for it.
const NAMED = /\bs\d+t\d+\b| \((?:[^\s()]+:(?:byte )?|byte )\d+\)/g;
function prose(text, ids, look) {
  const parts = [],
    shown = plain(text);
  let last = 0;
  for (const match of shown.matchAll(NAMED)) {
    const id = match[0];
    if (!ids.has(id) && !id.startsWith(" ")) continue;
    parts.push(shown.slice(last, match.index));
    last = match.index + id.length;
    if (id.startsWith(" ")) {
      parts.push(el("span", { class: "op-place" }, id));
      continue;
    }
    parts.push(
      el("span", { class: "txn", on: look ? { pointerenter: () => look(id), pointerleave: () => look(null) } : {} }, id)
    );
  }
  parts.push(shown.slice(last));
  return parts;
}
