// The timeline in words: when the transactions of the anomaly ran, and what each session did.

const SESSIONS_TOLD = 200;

function sessionTable(timeline) {
  const rows = timeline.sessions.map(() => [0, 0, 0]);
  for (let i = 0; i < timeline.count; i++) rows[timeline.session[i]][Math.min(timeline.status[i], 2)]++;
  const told = rows
    .slice(0, SESSIONS_TOLD)
    .map((row, session) => [
      `s${session}${timeline.sessions[session] !== String(session) ? ` (${timeline.sessions[session]})` : ""}`,
      ...row.map(count),
    ]);
  return [
    table("Transactions by session", ["session", ...STATUSES], told),
    rows.length > told.length && el("p", {}, `and ${plural(rows.length - told.length, "more session")}`),
  ];
}

function anomalyTable(view) {
  const { timeline } = view.index,
    marked = [...view.marked].sort(([, a], [, b]) => timeline.start[a] - timeline.start[b]);
  if (marked.length === 0) return null;
  const when = (ns) => (timeline.timed ? moment(ns, 1000) : "");
  return table(
    "Transactions of the anomaly, by start",
    ["transaction", "outcome", "start", "end", "took"],
    marked.map(([name, i]) => [
      name,
      STATUS_WORDS[STATUSES[Math.min(timeline.status[i], 2)]],
      when(timeline.start[i]),
      when(timeline.end[i]),
      timeline.timed ? duration(timeline.end[i] - timeline.start[i]) : "",
    ])
  );
}

function showTimelineText(report, view) {
  const place = clear(byId("timeline-text")),
    { timeline } = view.index;
  const faults =
    report.faults.length > 0 &&
    table(
      "Faults",
      ["fault", "of", "from", "to"],
      report.faults.map((fault) => [
        fault.kind,
        fault.target || "all",
        moment(fault.start, 1e6),
        fault.end === null ? "the end" : moment(fault.end, 1e6),
      ])
    );
  const text = details("The timeline as text");
  // Made when it is opened: a long table is not worth waiting for.
  text.addEventListener(
    "toggle",
    () => text.children.length === 1 && add(text, [anomalyTable(view), faults, sessionTable(timeline)])
  );
  place.append(text);
}
