// Reports to try the page with: sample(options) is the data of one, page(data, template) the file.
"use strict";

const LEVELS = [
  ["strict-serializable", 1.5, 0],
  ["serializable", 1, 1],
  ["strong-snapshot-isolation", 2, 1],
  ["linearizable", 3, 1],
  ["snapshot-isolation", 1.5, 2],
  ["prefix", 1, 3],
  ["parallel-snapshot-isolation", 2, 3],
  ["causal", 1.5, 4],
  ["update-atomic", 3, 4],
  ["monotonic-reads", 0, 5],
  ["monotonic-writes", 1, 5],
  ["writes-follow-reads", 2, 5],
  ["read-atomic", 3, 5],
  ["read-your-writes", 2, 6],
  ["read-committed", 3, 6],
  ["cut-isolation", 4, 6],
];
const IMPLIES = [
  ["read-atomic", "read-committed"],
  ["read-atomic", "cut-isolation"],
  ["read-atomic", "read-your-writes"],
  ["update-atomic", "read-atomic"],
  ["causal", "read-atomic"],
  ["causal", "monotonic-reads"],
  ["causal", "monotonic-writes"],
  ["causal", "writes-follow-reads"],
  ["prefix", "causal"],
  ["parallel-snapshot-isolation", "causal"],
  ["parallel-snapshot-isolation", "update-atomic"],
  ["snapshot-isolation", "prefix"],
  ["snapshot-isolation", "parallel-snapshot-isolation"],
  ["serializable", "snapshot-isolation"],
  ["strong-snapshot-isolation", "snapshot-isolation"],
  ["strict-serializable", "serializable"],
  ["strict-serializable", "strong-snapshot-isolation"],
  ["strict-serializable", "linearizable"],
];

function random(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
}

function node(id, x, y, operations, more = {}) {
  const longest = Math.max(...operations.map((op) => op.text.length), 14);
  return {
    id,
    label: id,
    own_id: null,
    session: id.split("t")[0],
    status: "committed",
    start: null,
    end: null,
    node: null,
    x,
    y,
    w: Math.min(320, Math.max(150, 28 + 7.25 * longest)),
    h: 38 + 20 * (operations.length + (more.more ? 1 : 0)),
    operations,
    more: 0,
    ...more,
  };
}

const op = (kind, key, value, line, involved = true) => ({
  text: `${kind === "r" ? "read" : "write"} ${key} = ${value}`,
  kind,
  key,
  value: String(value),
  line,
  involved,
});

function edge(from, to, kind, key, fromOp, toOp, why, more = {}) {
  return {
    from: from.id,
    to: to.id,
    kind,
    key,
    from_op: fromOp,
    to_op: toOp,
    why,
    path: null,
    label_x: null,
    label_y: null,
    assumed: false,
    ...more,
  };
}

function writeSkew(key) {
  const a = node("s1t4", 40, 40, [op("r", key, 3, 12), op("r", "y", 7, 13), op("w", key, 4, 14)], {
    start: 4.02e8,
    end: 4.13e8,
  });
  const b = node(
    "s2t7",
    430,
    120,
    [op("r", key, 3, 21), op("r", "y", 7, 22), op("w", "y", 8, 23), op("w", "log", 9, 24, false)],
    { start: 4.05e8, end: 4.11e8, more: 2 }
  );
  return {
    width: 640,
    height: 320,
    nodes: [a, b],
    edges: [
      edge(a, b, "RW", "y", 1, 2, "s1t4 read y = 7, and s2t7 overwrote it with y = 8: so s1t4 comes before s2t7."),
      edge(
        b,
        a,
        "RW",
        key,
        0,
        2,
        `s2t7 read ${key} = 3, and s1t4 overwrote it with ${key} = 4: so s2t7 comes before s1t4.`
      ),
    ],
  };
}

function fork(assumed) {
  const init = node("init", 20, 130, [op("w", "x", 0, null)], { status: "initial", session: "" });
  const a = node("s0t1", 240, 10, [op("w", "x", 1, 3)]),
    b = node("s3t2", 240, 230, [op("w", "x", 2, 5)], { status: "unknown" });
  const c = node("s2t7", 470, 110, [op("r", "x", 1, 8), op("r", "z", 5, 9)]);
  const first = assumed ? a : b,
    second = assumed ? b : a;
  return {
    width: 640,
    height: 310,
    nodes: [init, a, b, c],
    edges: [
      edge(init, a, "SO", null, null, null, "The initial version comes before everything."),
      edge(a, c, "WR", "x", 0, 0, "s2t7 read x = 1, which s0t1 wrote."),
      edge(first, second, "WW", "x", 0, 0, `${first.id} is assumed to have written x before ${second.id}.`, {
        assumed: true,
      }),
      edge(c, b, "RW", "x", 0, 0, "s2t7 did not see the write of s3t2."),
      edge(b, a, "RT", null, null, null, "s3t2 had ended when s0t1 began."),
    ],
  };
}

function anomalies() {
  return [
    {
      anchor: "anomaly-1",
      code: "write-skew",
      name: "write skew",
      level: "serializable",
      count: 3,
      count_is: "at least",
      keys: ["x", "y"],
      meaning:
        "Two transactions read the same data and each writes what the other one read: neither order explains both.",
      sentences: [
        "s1t4 read y = 7 (history.jsonl:13), which s2t7 overwrote with y = 8 (history.jsonl:23): so s1t4 must come before s2t7.",
        "s2t7 read x = 3 (history.jsonl:21), which s1t4 overwrote with x = 4 (history.jsonl:14): so s2t7 must come before s1t4.",
        "Neither can be first: the transactions cannot have run one after the other.",
      ],
      graph: writeSkew("x"),
      cases: [],
    },
    {
      anchor: "anomaly-2",
      code: "long-fork",
      name: "long fork",
      level: "prefix",
      keys: ["x", "z"],
      meaning: "Two readers disagree on which of two writes came first.",
      sentences: ["The history does not tell whether s0t1 or s3t2 wrote x first; neither order is possible."],
      graph: fork(true),
      cases: [
        {
          title: "If s0t1 wrote x before s3t2",
          sentences: ["Then s2t7 missed a write that it must have seen."],
          graph: fork(true),
        },
        {
          title: "If s3t2 wrote x before s0t1",
          sentences: ["Then s3t2 comes both before and after s0t1."],
          graph: fork(false),
        },
      ],
    },
    {
      anchor: "anomaly-3",
      code: "TAP-b",
      name: "AbortedRead",
      level: "read-committed",
      count: 12,
      count_is: "exact",
      keys: ["k17"],
      meaning: "A transaction saw what another one took back.",
      sentences: ["s0t9 read k17 = 5, which s1t3 wrote; but that transaction was rolled back."],
      graph: {
        width: 500,
        height: 120,
        nodes: [
          node("s1t3", 20, 20, [op("w", "k17", 5, 70)], { status: "aborted" }),
          node("s0t9", 320, 20, [op("r", "k17", 5, 75)]),
        ],
        edges: [
          {
            from: "s1t3",
            to: "s0t9",
            kind: "WR",
            key: "k17",
            from_op: 0,
            to_op: 0,
            why: "s0t9 read k17 = 5.",
            path: "M170 60L320 60",
            label_x: 245,
            label_y: 60,
            assumed: false,
          },
        ],
      },
      cases: [],
    },
  ];
}

const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");

function timeline(transactions, sessions, timed) {
  const next = random(7),
    session = new Uint32Array(transactions),
    index = new Uint32Array(transactions),
    status = new Uint8Array(transactions);
  const start = new Float64Array(transactions),
    end = new Float64Array(transactions),
    clock = new Float64Array(sessions),
    each = Math.ceil(transactions / sessions);
  for (let i = 0; i < transactions; i++) {
    const s = Math.floor(i / each);
    session[i] = s;
    index[i] = i % each;
    const luck = next();
    status[i] = luck < 0.03 ? 1 : luck < 0.035 ? 2 : 0;
    start[i] = clock[s] + next() * 4e5;
    end[i] = start[i] + 2e5 + -Math.log(1 - next()) * 1.5e6;
    clock[s] = end[i];
  }
  const columns = { session: base64(session), index: base64(index), status: base64(status) };
  if (timed) Object.assign(columns, { start: base64(start), end: base64(end) });
  return {
    data: {
      sessions: Array.from({ length: sessions }, (_, s) => String(s)),
      total: transactions,
      shown: transactions,
      ...columns,
    },
    raw: { session, index, status, start, end, last: Math.max(...clock) },
  };
}

function series(raw, buckets) {
  const bucket = raw.last / buckets,
    rows = Array.from({ length: buckets }, () => ({ 0: 0, 1: 0, 2: 0, took: [] }));
  raw.start.forEach((start, i) => {
    const row = rows[Math.min(buckets - 1, Math.floor(raw.end[i] / bucket))];
    row[raw.status[i]]++;
    row.took.push(raw.end[i] - start);
  });
  const quantile = (row, q) =>
    row.took.sort((a, b) => a - b)[Math.min(row.took.length - 1, Math.floor(q * row.took.length))] || 0;
  return {
    start: 0,
    bucket,
    committed: rows.map((row) => row[0]),
    aborted: rows.map((row) => row[1]),
    unknown: rows.map((row) => row[2]),
    p50: rows.map((row) => quantile(row, 0.5)),
    p95: rows.map((row) => quantile(row, 0.95)),
    p99: rows.map((row) => quantile(row, 0.99)),
    max: rows.map((row) => quantile(row, 1)),
  };
}

function sample({ transactions = 4000, sessions = 8, timed = true } = {}) {
  const broken = new Set([
      "strict-serializable",
      "serializable",
      "snapshot-isolation",
      "strong-snapshot-isolation",
      "prefix",
    ]),
    lines = timeline(transactions, sessions, timed),
    last = lines.raw.last;
  const verdict = (id) =>
    broken.has(id)
      ? "violated"
      : id === "linearizable"
        ? "undecided"
        : id === "update-atomic"
          ? "unknown"
          : "satisfied";
  const found = anomalies(),
    each = Math.ceil(transactions / sessions);
  const places = new Map(found.flatMap((anomaly) => anomaly.graph.nodes).map((one) => [one.id, one]));
  for (const one of places.values()) {
    const parts = /^s(\d+)t(\d+)$/.exec(one.id);
    if (!parts) continue;
    const i = Number(parts[1]) * each + Number(parts[2]);
    [one.start, one.end] = [lines.raw.start[i], lines.raw.end[i]];
  }
  return {
    schema: 1,
    isoproof: "0.1.0",
    title: "isoproof test on a sample",
    file: "isoproof-out/latest/history.jsonl",
    format: "jsonl",
    counts: {
      sessions,
      transactions,
      operations: transactions * 9,
      committed: Math.round(transactions * 0.965),
      aborted: Math.round(transactions * 0.03),
      unknown: Math.round(transactions * 0.005),
    },
    verdict: "violated",
    expected: ["serializable"],
    unknown_reason: null,
    levels: LEVELS.map(([id, column, row]) => ({
      id,
      verdict: verdict(id),
      asked: id === "serializable",
      summary: `What ${id} promises, in a sentence.`,
      column,
      row,
      family: "levels",
    })),
    implies: IMPLIES,
    strongest: ["parallel-snapshot-isolation"],
    weakest_violated: ["prefix"],
    models: { not: [], also_not: [], proved: [] },
    anomalies: found,
    run: [
      { name: "command", value: "isoproof test --db=sim: --seed=42" },
      { name: "seed", value: "42" },
      { name: "database", value: "sample 1.0" },
      { name: "isolation", value: "serializable" },
    ],
    faults: timed
      ? [
          { kind: "kill", target: "n2", start: last * 0.3, end: last * 0.36 },
          { kind: "pause", target: "n1", start: last * 0.7, end: last * 0.78 },
        ]
      : [],
    aborts: [
      { class: "serialization failure", count: 91 },
      { class: "deadlock", count: 22 },
      { class: "connection lost", count: 7 },
    ],
    series: timed ? series(lines.raw, Math.min(300, Math.max(20, Math.floor(transactions / 30)))) : null,
    timeline: lines.data,
    left_out: [],
  };
}

// Every string of a report replaced by one that wants to be markup.
const ATTACKS = [
  '<img src=x onerror="window.hacked=1">',
  "</script><script>window.hacked=1</script>",
  '"><svg onload=window.hacked=1>',
  "javascript:window.hacked=1",
  "\u202egnp.exe\u0000\u001b[31m",
  "__proto__",
  "'-window.hacked=1-'",
  "&lt;b&gt;",
  "url(https://example.invalid/x)",
];
const KEPT = new Set(["session", "index", "status", "start", "end", "anchor", "kind", "verdict", "path"]);
function hostile(value, name = "", state = { next: 0 }) {
  if (typeof value === "string" && !KEPT.has(name) && !/^(s\d+t\d+|init)$/.test(value))
    return ATTACKS[state.next++ % ATTACKS.length];
  if (Array.isArray(value)) return value.map((one) => hostile(one, name, state));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hostile(one, key, state)]));
  return value;
}

const escape = (text) =>
  text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

function page(data, template) {
  const [head, tail] = template.split("<!--isoproof:data-->");
  return `${head}<script type="application/json" id="isoproof-report">${escape(JSON.stringify(data))}</script>${tail}`;
}

module.exports = { sample, hostile, page, ATTACKS };

// node sample.js TEMPLATE [TRANSACTIONS] > report.html
if (require.main === module) {
  const template = require("fs").readFileSync(process.argv[2], "utf8");
  process.stdout.write(page(sample({ transactions: Number(process.argv[3] || 4000) }), template));
}
