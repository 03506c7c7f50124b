// The data of the report, read leniently: whatever is missing or of the wrong type counts as absent.

const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});
const number = (value, otherwise) => (typeof value === "number" && Number.isFinite(value) ? value : otherwise);
const string = (value) => (typeof value === "string" ? value : typeof value === "number" ? String(value) : "");
const strings = (value) => list(value).map(string);

const STATUSES = ["committed", "aborted", "unknown"];
const VERDICTS = ["violated", "satisfied", "unknown", "undecided"];

function readOperation(raw) {
  const op = object(raw);
  return {
    text: string(op.text),
    kind: string(op.kind),
    key: string(op.key),
    value: string(op.value),
    line: number(op.line, null),
    involved: op.involved === true,
  };
}

function readNode(raw) {
  const node = object(raw);
  return {
    id: string(node.id),
    label: string(node.label) || string(node.id),
    called: string(node.called),
    ownId: node.own_id === null ? "" : string(node.own_id),
    session: string(node.session),
    status: [...STATUSES, "initial"].includes(node.status) ? node.status : "committed",
    start: number(node.start, null),
    end: number(node.end, null),
    node: string(node.node),
    isolation: string(node.isolation),
    x: number(node.x, 0),
    y: number(node.y, 0),
    w: clamp(number(node.w, 160), 40, 2000),
    h: clamp(number(node.h, 60), 30, 20000),
    operations: list(node.operations).map(readOperation),
    more: number(node.more, 0),
  };
}

const KINDS = ["SO", "WR", "WW", "RW", "CM", "RT", "PO"];
const PATH = /^[MLCQSTHVAZmlcqsthvaz0-9eE.,+\- ]+$/;

function readEdge(raw) {
  const edge = object(raw);
  return {
    from: string(edge.from),
    to: string(edge.to),
    kind: KINDS.includes(edge.kind) ? edge.kind : "CM",
    key: string(edge.key),
    fromOp: number(edge.from_op, null),
    toOp: number(edge.to_op, null),
    why: string(edge.why),
    path: typeof edge.path === "string" && PATH.test(edge.path) ? edge.path : null,
    labelX: number(edge.label_x, null),
    labelY: number(edge.label_y, null),
    assumed: edge.assumed === true,
  };
}

function readGraph(raw) {
  const graph = object(raw);
  const nodes = list(graph.nodes).map(readNode);
  const known = new Set(nodes.map((node) => node.id));
  const edges = list(graph.edges)
    .map(readEdge)
    .filter((edge) => known.has(edge.from) && known.has(edge.to));
  const width = Math.max(number(graph.width, 0), ...nodes.map((node) => node.x + node.w), 1);
  const height = Math.max(number(graph.height, 0), ...nodes.map((node) => node.y + node.h), 1);
  return { width, height, nodes, edges };
}

function readAnomaly(raw, place) {
  const anomaly = object(raw);
  const anchor = string(anomaly.anchor);
  return {
    number: place,
    anchor: /^[A-Za-z][\w.-]*$/.test(anchor) ? anchor : `anomaly-${place + 1}`,
    code: string(anomaly.code),
    name: string(anomaly.name),
    level: string(anomaly.level),
    count: number(anomaly.count, null),
    atLeast: anomaly.count_is === "at least",
    keys: strings(anomaly.keys),
    sentences: strings(anomaly.sentences),
    meaning: string(anomaly.meaning),
    graph: readGraph(anomaly.graph),
    cases: list(anomaly.cases).map((one) => ({
      title: string(object(one).title),
      sentences: strings(object(one).sentences),
      graph: readGraph(object(one).graph),
    })),
  };
}

function readLevel(raw) {
  const level = object(raw);
  return {
    id: string(level.id),
    verdict: VERDICTS.includes(level.verdict) ? level.verdict : "undecided",
    asked: level.asked === true,
    reason: string(level.reason),
    follows: false,
    summary: string(level.summary),
    column: number(level.column, null),
    row: number(level.row, null),
    family: string(level.family),
  };
}

// What was not decided may follow: a level falls with each that it implies, and holds with each that implies it.
function inferVerdicts(levels, implies) {
  const byName = new Map(levels.map((level) => [level.id, level]));
  for (let round = 0; round < levels.length; round++) {
    let changed = false;
    for (const [above, below] of implies) {
      const [stronger, weaker] = [byName.get(above), byName.get(below)];
      const learn = (level, verdict) => {
        if (level.verdict !== "undecided") return;
        [level.verdict, level.follows, changed] = [verdict, true, true];
      };
      if (!stronger || !weaker) continue;
      if (weaker.verdict === "violated") learn(stronger, "violated");
      if (stronger.verdict === "satisfied") learn(weaker, "satisfied");
    }
    if (!changed) return levels;
  }
  return levels;
}

// A column of numbers: base64 of little-endian values.  A length that does not fit is no column.
function readColumn(raw, type) {
  if (typeof raw !== "string") return null;
  let bytes;
  try {
    if (typeof Uint8Array.fromBase64 === "function") bytes = Uint8Array.fromBase64(raw);
    else bytes = Uint8Array.from(atob(raw), (c) => c.charCodeAt(0));
  } catch {
    return null;
  }
  if (bytes.length % type.BYTES_PER_ELEMENT !== 0) return null;
  return new type(bytes.buffer, bytes.byteOffset, bytes.length / type.BYTES_PER_ELEMENT);
}

function readTimeline(raw) {
  if (raw === null || typeof raw !== "object") return null;
  const sessions = strings(raw.sessions);
  const session = readColumn(raw.session, Uint32Array),
    index = readColumn(raw.index, Uint32Array),
    status = readColumn(raw.status, Uint8Array);
  if (!session || !index || !status || session.length === 0) return null;
  const count = session.length;
  if (index.length !== count || status.length !== count) return null;
  for (let i = 0; i < count; i++) if (session[i] >= sessions.length) return null;
  let start = readColumn(raw.start, Float64Array),
    end = readColumn(raw.end, Float64Array);
  const timed = Boolean(start && end && start.length === count && end.length === count);
  if (!timed) {
    start = Float64Array.from(index);
    end = start.map((value) => value + 0.85);
  }
  return {
    sessions,
    session,
    index,
    status,
    start,
    end,
    timed,
    count,
    total: number(raw.total, count),
    shown: number(raw.shown, count),
  };
}

function readSeries(raw) {
  const series = object(raw);
  const bucket = number(series.bucket, 0);
  const columns = {};
  for (const name of ["committed", "aborted", "unknown", "p50", "p95", "p99", "max"])
    columns[name] = list(series[name]).map((value) => number(value, null));
  if (bucket <= 0 || columns.committed.length === 0) return null;
  return { start: number(series.start, 0), bucket, length: columns.committed.length, ...columns };
}

function readTimes(raw) {
  const start = number(object(raw).start, null),
    end = number(object(raw).end, null);
  return start !== null && end !== null && end > start ? { start, end } : null;
}

function readEffort(raw) {
  if (raw === null || typeof raw !== "object") return null;
  const effort = object(raw),
    concurrency = object(effort.concurrency),
    versions = object(effort.versions);
  return {
    transactions: number(effort.transactions, 0),
    conflicting: number(effort.conflicting, null),
    mean: number(concurrency.mean, null),
    max: number(concurrency.max, null),
    keys: number(effort.keys_written, 0),
    versions: ["least", "median", "most"].map((name) => number(versions[name], null)),
    chances: list(effort.chances).map((chance) => ({
      code: string(object(chance).anomaly),
      name: string(object(chance).name),
      what: string(object(chance).what),
      count: number(object(chance).count, 0),
      atLeast: object(chance).at_least === true,
    })),
  };
}

function readReport(text) {
  const raw = object(JSON.parse(text));
  const counts = object(raw.counts),
    models = object(raw.models);
  const implies = list(raw.implies)
    .map(strings)
    .filter((pair) => pair.length === 2);
  return {
    isoproof: string(raw.isoproof),
    title: string(raw.title),
    file: string(raw.file),
    format: string(raw.format),
    counts: Object.fromEntries(
      ["sessions", "transactions", "operations", "committed", "aborted", "unknown"].map((name) => [
        name,
        number(counts[name], null),
      ])
    ),
    verdict: ["violated", "satisfied", "unknown"].includes(raw.verdict) ? raw.verdict : "none",
    expected: strings(raw.expected),
    unknownReason: string(raw.unknown_reason),
    notices: list(raw.notices)
      .map((notice) => ({ message: string(object(notice).message), line: number(object(notice).line, null) }))
      .filter((notice) => notice.message),
    invariants: list(raw.invariants).map((one) => ({ broken: object(one).broken === true, words: string(object(one).words) })),
    invariantsReason: string(raw.invariants_reason),
    levels: inferVerdicts(list(raw.levels).map(readLevel), implies),
    implies,
    strongest: strings(raw.strongest),
    weakestViolated: strings(raw.weakest_violated),
    models: { not: strings(models.not), alsoNot: strings(models.also_not), proved: strings(models.proved) },
    anomalies: list(raw.anomalies).map(readAnomaly),
    run: list(raw.run).map((fact) => ({ name: string(object(fact).name), value: string(object(fact).value) })),
    faults: list(raw.faults)
      .map((fault) => ({
        kind: string(object(fault).kind),
        target: string(object(fault).target),
        start: number(object(fault).start, null),
        end: number(object(fault).end, null),
      }))
      .filter((fault) => fault.start !== null),
    aborts: list(raw.aborts).map((abort) => ({
      name: string(object(abort).class),
      count: number(object(abort).count, 0),
    })),
    series: readSeries(raw.series),
    timeline: readTimeline(raw.timeline),
    leftOut: strings(raw.left_out),
    times: readTimes(raw.times),
    effort: readEffort(raw.effort),
  };
}
