// The page that checks: a history goes to the worker, what comes back is shown as a report.

const state = { history: null, name: "", which: "whole", data: null, begun: 0, timer: 0, waiting: null, doing: "" };
const checker = makeChecker(hear);

function say(words) {
  clear(byId("check-said")).append(plain(words));
}

// ---- states of the page ----

function showTrouble(title, message, hint) {
  const place = clear(byId("check-trouble"));
  place.hidden = !title;
  if (title) add(place, [el("strong", {}, title), " ", message && el("span", { class: "file" }, message), hint && el("p", {}, hint)]);
}

function showWork(what) {
  const working = what !== null;
  byId("check-work").hidden = !working;
  byId("drop").classList.toggle("drop-busy", working);
  for (const tool of document.querySelectorAll("#check-outputs button, #check-examples button, #check-again")) tool.disabled = working;
  clearInterval(state.timer);
  if (!working) return;
  clear(byId("work-what")).append(plain(what));
  clear(byId("work-time"));
  byId("work-progress").removeAttribute("value");
  state.begun = performance.now();
  state.timer = setInterval(() => {
    const seconds = Math.floor((performance.now() - state.begun) / 1000);
    if (seconds > 0) clear(byId("work-time")).append(`${seconds} s`);
  }, 250);
}

// The share of everything, as far as it is known: a third for reading, the rest for the levels.
function shareOf({ unit, done, total, levelsDecided, levelsTotal }) {
  const stage = total > 0 ? Math.min(1, done / total) : null;
  if (unit === "bytes") return stage === null ? null : stage * 33;
  if (levelsTotal > 0) return 33 + (67 * (levelsDecided + (stage || 0))) / (levelsTotal + 1);
  return null;
}

function showProgress(message) {
  const { stage, unit, done, total, level, levelsDecided, levelsTotal } = message;
  const parts = [state.doing ? `${state.doing}: ${level ? `deciding ${level}` : stage}` : capital(level ? `deciding ${level}` : stage)];
  if (unit === "bytes" && total > 0) parts.push(`${series3(done / 1e6)} of ${series3(total / 1e6)} MB`);
  if (level && levelsTotal > 0) parts.push(`${levelsDecided} of ${levelsTotal} levels decided`);
  clear(byId("work-what")).append(plain(parts.join(", ")));
  const share = state.doing ? null : shareOf(message);
  if (share === null) byId("work-progress").removeAttribute("value");
  else byId("work-progress").value = share;
}

// ---- requests ----

function optionsOrTrouble() {
  try {
    return chosenOptions();
  } catch (problem) {
    byId("check-options").open = true;
    showTrouble(problem.message);
    return null;
  }
}

function take(history, error) {
  if (error) return showTrouble("The drop cannot be read.", error.message);
  if (!history || history.files.length === 0) return showTrouble("There is no file in this.", "", "Drop a history, or a folder of logs.");
  const options = optionsOrTrouble();
  if (!options) return;
  // A new history is more urgent than whatever is being done.
  if (checker.busy && checker.ready) checker.start();
  showTrouble(null);
  state.history = history;
  state.name = history.folder || history.files[0].name;
  state.doing = "";
  clear(byId("drop-name")).append(plain(cut(state.name, 80)));
  clear(byId("drop-note")).append("Drop another history to check that instead.");
  showWork("Starting");
  say(`Checking ${state.name}`);
  send({ type: "check", files: history.files, folder: history.folder, options });
}

// The worker may still be starting, or writing something.
function send(message) {
  if (checker.ready && !checker.busy) return checker.ask(message);
  state.waiting = message;
  if (!checker.busy) checker.start();
}

function cancel() {
  if (byId("check-work").hidden) return;
  state.waiting = null;
  checker.start();
  showWork(null);
  // The result that is shown was in the worker.
  byId("check-outputs").hidden = true;
  showTrouble("Cancelled.", "", state.history ? "Drop a history, or check this one again." : "");
  byId("choose-file").focus();
}

const actions = {
  whole() {
    showWork("Going back to the whole history");
    send({ type: "show", which: "whole" });
  },
  minimize(level) {
    const options = optionsOrTrouble();
    if (!options) return;
    state.doing = "Making it smaller";
    showTrouble(null);
    showWork(`${state.doing}, as long as ${level} is violated`);
    send({ type: "minimize", level, timeout: options.timeout });
  },
  write(output, name, type) {
    const number = openAnomaly ? openAnomaly.number : 0;
    send({ type: "write", output, number, which: state.which, name: { name, type } });
  },
};

// ---- answers ----

function showResult({ which, data, seconds }) {
  let read;
  try {
    read = readReport(data);
  } catch (error) {
    return hear({ type: "failed", message: `the data of the report are damaged: ${error.message}` });
  }
  Object.assign(state, { which, data: read, doing: "" });
  showWork(null);
  clearReport();
  byId("check").classList.add("check-done");
  for (const id of ["check-options", "check-examples"]) byId(id).open = false;
  byId("check-again").hidden = false;
  showReport(read);
  fillOutputs(state, actions);
  const title = byId("verdict-title");
  say(`${title.textContent} ${which === "part" ? "This is the smallest part of the history that shows it." : ""}`);
  dress(title, { tabindex: "-1" }).focus({ preventScroll: true });
  document.documentElement.dataset.seconds = seconds.toFixed(3);
  document.documentElement.dataset.result = String(Number(document.documentElement.dataset.result || 0) + 1);
}

const MEMORY_HINT = "A page has at most 4 GB, some browsers give less. The program isoproof checks larger histories.";

const answers = {
  ready({ offers }) {
    fillOptions(offers, () => state.history && take(state.history));
    byId("check-again").hidden = state.history === null;
    if (!report) showFoot(offers.version);
    document.documentElement.dataset.ready = "true";
  },
  progress: showProgress,
  result: showResult,
  written: ({ name, bytes }) => save(name.name, name.type, bytes),
  failed({ request, message }) {
    showWork(null);
    const asked = request === "check" || request === undefined;
    if (asked) {
      clearReport();
      byId("check").classList.remove("check-done");
      byId("check-outputs").hidden = true;
    }
    showTrouble(
      request === "minimize" ? "No smaller part." : request === "write" ? "This cannot be written." : "This history cannot be judged.",
      message,
      /out of memory/.test(message) && MEMORY_HINT
    );
  },
  // The worker is gone, and with it what it held; the next request starts another one.
  broken({ message }) {
    const memory = /memory|allocation/i.test(message);
    state.waiting = null;
    answers.failed({ message: memory ? "out of memory" : message });
  },
};

function hear(message) {
  answers[message.type](message);
  if (!state.waiting || checker.busy || !checker.ready) return;
  checker.ask(state.waiting);
  state.waiting = null;
}

// ---- the page ----

function showExamples() {
  const examples = JSON.parse(byId("isoproof-examples").textContent);
  add(
    byId("example-list"),
    examples.map(({ name, title, note, text }) =>
      el(
        "li",
        {},
        el(
          "button",
          {
            type: "button",
            class: "example",
            "data-name": name,
            on: { click: () => take({ files: [{ name, data: new Blob([text]) }], folder: "" }) },
          },
          el("strong", {}, title),
          " ",
          el("span", {}, note)
        )
      )
    )
  );
}

function startChecker() {
  startTheme();
  startKeys();
  startGraphs();
  document.title = "isoproof: check a history";
  clear(byId("brand-what")).append("check a history");
  showExamples();
  watchDrops(take);
  watchChoosers(take);
  byId("work-cancel").addEventListener("click", cancel);
  addEventListener("keydown", (event) => event.key === "Escape" && !byId("keys-dialog").open && cancel());
  checker.start();
}

startChecker();
