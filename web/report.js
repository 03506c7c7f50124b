// A report put together in the page, and taken away again where another one is to follow.

let report = null; // the one that is shown

function showPlaces() {
  const places = [
    ["verdict", "Verdict"],
    ["anomalies", "Anomalies"],
    ["timeline", "Timeline"],
    ["rates", "Throughput"],
    ["run", "Run"],
  ].filter(([id]) => !byId(id).hidden);
  add(
    byId("places"),
    places.map(([id, name]) => el("a", { href: `#${id}` }, name))
  );
}

function scrollToAddress() {
  if (!report) return;
  const place = anomalyOfAddress(report)
    ? byId("anomaly-place")
    : location.hash.length > 1 && byId(location.hash.slice(1));
  if (place) place.scrollIntoView({ block: "start", behavior: "instant" });
}

function showReport(data) {
  report = data;
  document.title = plain(report.title ? `${report.title}: isoproof` : "isoproof report");
  clear(byId("brand-what")).append(plain(report.title || "report"));
  showVerdict(report);
  showAnomalies(report);
  showTimeline(report);
  showCharts(report);
  showRun(report);
  showPlaces();
  // Drawings take their final heights with the first frame; only then it is known where things are.
  requestAnimationFrame(() => requestAnimationFrame(scrollToAddress));
}

function clearReport() {
  report = null;
  openAnomaly = null;
  jumpToAnomaly = () => {};
  lifetime.abort();
  lifetime = new AbortController();
  for (const listeners of [themeListeners, anomalyListeners]) listeners.length = 0;
  graphViews.clear();
  byId("verdict").className = "hero";
  for (const id of ["verdict", "anomalies", "timeline", "rates", "run"]) clear(byId(id)).hidden = id !== "verdict";
  for (const id of ["places", "foot"]) clear(byId(id));
}
