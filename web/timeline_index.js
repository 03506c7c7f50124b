// Finding transactions by session and time.  Those of one session and one outcome form a group, sorted by their starts;
// beside each stands the latest end so far, so that what is visible is found by two binary searches per group.

function makeIndex(timeline) {
  const { session, status, start, end, count: total } = timeline,
    groups = timeline.sessions.length * 3;
  const first = new Uint32Array(groups + 1),
    order = new Uint32Array(total),
    latest = new Float64Array(total);
  const group = (i) => session[i] * 3 + Math.min(status[i], 2);
  for (let i = 0; i < total; i++) first[group(i) + 1]++;
  for (let g = 0; g < groups; g++) first[g + 1] += first[g];
  const next = first.slice(0, groups);
  for (let i = 0; i < total; i++) order[next[group(i)]++] = i;
  for (let g = 0; g < groups; g++) {
    let sorted = true;
    for (let p = first[g] + 1; p < first[g + 1] && sorted; p++) sorted = start[order[p - 1]] <= start[order[p]];
    if (!sorted) order.subarray(first[g], first[g + 1]).sort((a, b) => start[a] - start[b]);
    for (let p = first[g], so_far = -Infinity; p < first[g + 1]; p++)
      latest[p] = so_far = Math.max(so_far, end[order[p]]);
  }
  let low = Infinity,
    high = -Infinity;
  for (let i = 0; i < total; i++) {
    if (start[i] < low) low = start[i];
    if (end[i] > high) high = end[i];
  }
  return { timeline, first, order, latest, low, high: Math.max(high, low + 1) };
}

function lowerBound(from, to, before) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (before(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}

// The first place of a group at which something may still last at a time.
const firstLasting = (index, group, time) =>
  lowerBound(index.first[group], index.first[group + 1], (p) => index.latest[p] < time);
// The first place at or after `from` that starts at a time or later; most steps are short, so it gallops.
function firstStarting(index, group, from, time) {
  const end = index.first[group + 1],
    {
      order,
      timeline: { start },
    } = index;
  let step = 1,
    to = from;
  while (to < end && start[order[to]] < time) {
    from = to + 1;
    to += step;
    step *= 2;
  }
  return lowerBound(from, Math.min(to, end), (p) => start[order[p]] < time);
}

// The transaction of a session nearest to a time, within a distance; -1 for none.
function nearestTransaction(index, session, time, reach) {
  const {
    order,
    timeline: { start, end },
  } = index;
  let best = -1,
    bestDistance = reach;
  for (let status = 2; status >= 0; status--) {
    const group = session * 3 + status;
    const from = Math.max(index.first[group], firstStarting(index, group, index.first[group], time) - 8);
    for (let p = from; p < Math.min(index.first[group + 1], from + 16); p++) {
      const i = order[p],
        distance = time < start[i] ? start[i] - time : time > end[i] ? time - end[i] : 0;
      if (distance < bestDistance || (best < 0 && distance <= reach)) {
        best = i;
        bestDistance = distance;
      }
    }
  }
  return best;
}

// The transaction of a session before or after another one by start; -1 for none.
function neighbour(index, i, step) {
  const {
    order,
    timeline: { start, session },
  } = index;
  let best = -1;
  for (let status = 0; status < 3; status++) {
    const group = session[i] * 3 + status,
      low = index.first[group],
      high = index.first[group + 1];
    let p = firstStarting(index, group, low, start[i]);
    if (step < 0) p--;
    else while (p < high && (order[p] === i || start[order[p]] <= start[i])) p++;
    if (p < low || p >= high) continue;
    const candidate = order[p];
    if (best < 0 || (start[candidate] - start[best]) * step < 0) best = candidate;
  }
  return best;
}

// Where the transactions of an anomaly are in the timeline: name to number.
function findTransactions(timeline, nodes) {
  const wanted = new Map(),
    found = new Map();
  for (const node of nodes) {
    const parts = /^s(\d+)t(\d+)$/.exec(node.id);
    if (parts) wanted.set(Number(parts[1]) * 2 ** 26 + Number(parts[2]), node.id);
  }
  if (wanted.size === 0) return found;
  const sessions = new Set([...wanted.keys()].map((key) => Math.floor(key / 2 ** 26)));
  for (let i = 0; i < timeline.count; i++) {
    if (!sessions.has(timeline.session[i])) continue;
    const name = wanted.get(timeline.session[i] * 2 ** 26 + timeline.index[i]);
    if (name !== undefined) found.set(name, i);
  }
  return found;
}
