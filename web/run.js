// What is known about the run: why transactions aborted, what was done to the database, seeds, versions and settings.

// Codes that databases give, in words.
const ABORT_WORDS = new Map([
  ["40001", "serialization failure"],
  ["40P01", "deadlock"],
  ["55P03", "lock not available"],
  ["57014", "statement timeout"],
  ["1213", "deadlock"],
  ["1205", "lock wait timeout"],
  ["1020", "record has changed"],
]);
const abortName = (name) =>
  ABORT_WORDS.has(name) ? `${name}, ${ABORT_WORDS.get(name)}` : name || "no reason recorded";

function abortFigure(aborts) {
  if (aborts.length === 0) return null;
  const most = Math.max(...aborts.map((abort) => abort.count), 1),
    total = aborts.reduce((sum, abort) => sum + abort.count, 0);
  return el(
    "div",
    { class: "run-part" },
    el("h3", {}, "Why transactions did not commit"),
    el(
      "ul",
      { class: "bars" },
      aborts.map((abort) =>
        el(
          "li",
          {},
          el("span", { class: "bar-name" }, abortName(abort.name)),
          el("span", { class: "bar-count" }, count(abort.count)),
          svg(
            "svg",
            { class: "bar-line", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
            svg("rect", { width: Math.max(0.5, (abort.count / most) * 100), height: 6 })
          )
        )
      )
    ),
    el("p", { class: "reading" }, `${count(total)} in all`)
  );
}

function faultTable(faults) {
  if (faults.length === 0) return null;
  return el(
    "div",
    { class: "run-part" },
    el("h3", {}, "Faults"),
    table(
      "Faults during the run",
      ["fault", "of", "from", "to", "lasted"],
      faults.map((fault) => [
        fault.kind,
        fault.target || "all",
        moment(fault.start, 1e6),
        fault.end === null ? "the end" : moment(fault.end, 1e6),
        fault.end === null ? "" : duration(fault.end - fault.start),
      ])
    )
  );
}

function commandLine(run) {
  const command = run.find((fact) => fact.name === "command" || fact.name === "command line");
  if (!command) return null;
  const copy =
    navigator.clipboard && isSecureContext
      ? button(
          "Copy",
          (event) => {
            const pressed = event.currentTarget;
            navigator.clipboard.writeText(command.value).then(
              () => clear(pressed).append("Copied"),
              () => clear(pressed).append("Not allowed")
            );
          },
          { class: "tool tool-small" }
        )
      : null;
  return el("div", { class: "command" }, el("code", { class: "file" }, command.value), copy);
}

function factList(title, run) {
  if (run.length === 0) return null;
  return el(
    "div",
    { class: "run-part run-facts" },
    el("h3", {}, title),
    el(
      "dl",
      { class: "facts" },
      run.map((fact) => [el("dt", {}, fact.name), el("dd", { class: "file" }, fact.value)])
    )
  );
}

function showRun(report) {
  const command = commandLine(report.run),
    isSetting = (fact) => fact.name.startsWith("setting.");
  const facts = report.run.filter((fact) => !fact.name.startsWith("command") && !isSetting(fact));
  const settings = report.run
    .filter(isSetting)
    .map((fact) => ({ name: fact.name.slice("setting.".length), value: fact.value }));
  const why = [abortFigure(report.aborts), faultTable(report.faults)].filter(Boolean);
  const parts = [
    factList("How it was run", facts),
    factList("Settings of the database", settings),
    why.length > 0 && el("div", { class: "run-why" }, why),
  ].filter(Boolean);
  if (command || parts.length > 0) {
    byId("run").hidden = false;
    add(byId("run"), [heading("run", "The run"), command, el("div", { class: "run-row" }, parts)]);
  }
  showFoot(report.isoproof);
}

function showFoot(version) {
  const words = `Made by isoproof${version ? ` ${version}` : ""}. This file is complete in itself and uses no network.`;
  add(clear(byId("foot")), [el("p", {}, words)]);
}
