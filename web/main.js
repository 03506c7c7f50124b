// Puts the page together.

function showPlaces(report) {
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

function scrollToAddress(report) {
  const place = anomalyOfAddress(report)
    ? byId("anomaly-place")
    : location.hash.length > 1 && byId(location.hash.slice(1));
  if (place) place.scrollIntoView({ block: "start", behavior: "instant" });
}

function start() {
  startTheme();
  let report;
  try {
    report = readReport();
  } catch (error) {
    add(byId("verdict"), [
      el("h1", { id: "verdict-title" }, "This report cannot be read."),
      el("p", {}, `Its data are damaged: ${error.message}`),
    ]);
    return;
  }
  document.title = plain(report.title ? `${report.title}: isoproof` : "isoproof report");
  clear(byId("brand-what")).append(plain(report.title || "report"));
  showVerdict(report);
  showAnomalies(report);
  showTimeline(report);
  showCharts(report);
  showRun(report);
  showPlaces(report);
  startKeys(report);
  startGraphs();
  // Drawings take their final heights with the first frame; only then it is known where things are.
  requestAnimationFrame(() => requestAnimationFrame(() => scrollToAddress(report)));
  document.documentElement.dataset.ready = "true";
}

start();
