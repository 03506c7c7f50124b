// The page of a report: its data are in it.

function start() {
  startTheme();
  startKeys();
  startGraphs();
  const source = byId("isoproof-report");
  let data;
  try {
    data = readReport(source ? source.textContent : "{}");
  } catch (error) {
    add(byId("verdict"), [
      el("h1", { id: "verdict-title" }, "This report cannot be read."),
      el("p", {}, `Its data are damaged: ${error.message}`),
    ]);
    return;
  }
  showReport(data);
  document.documentElement.dataset.ready = "true";
}

start();
