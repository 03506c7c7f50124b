// The worker of the page: one history at a time, loaded, judged, made small and written by the compiled checker.
//
//   page to worker   { wasm }                          the code; the worker answers `ready` with what can be asked for
//                    { type: "check", files, folder, options }
//                    { type: "minimize", level, timeout }
//                    { type: "show", which }           the data of the whole history again, or of the part
//                    { type: "write", output, number, which, name }
//   worker to page   ready, progress, result, written, failed (a request; the worker goes on), broken (it does not)
//
// To cancel, the page ends the worker.

const OUTPUTS = { data: 0, html: 1, json: 2, svg: 3, text: 4, history: 5 };
const PLACE = "/history";
const checkers = { whole: 0, part: 0 };
let pieces = [];

function receive(bytes) {
  pieces.push(bytes);
}

function progress(stage, unit, done, total, level, levelsDecided, levelsTotal) {
  postMessage({ type: "progress", stage, unit, done, total, level, levelsDecided, levelsTotal });
}

function taken() {
  const all = pieces;
  pieces = [];
  return all;
}

const asText = (all) => new TextDecoder().decode(joined(all));

// One array of all pieces.
function joined(all) {
  const whole = new Uint8Array(all.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of all) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const call = (name, ...values) =>
  ccall(
    `browser_${name}`,
    "number",
    values.map((value) => (typeof value === "string" ? "string" : "number")),
    values
  );

class Refused extends Error {}

function tried(which, status) {
  if (status === 0) return;
  taken();
  throw new Refused(ccall("browser_error", "string", ["number"], [checkers[which]]));
}

function written(which, output, number = 0) {
  tried(which, call("write", checkers[which], OUTPUTS[output], number));
  return taken();
}

// Files are read where they are, piece by piece; several make a folder.
function mount(files, folder) {
  FS.chdir("/");
  if (FS.analyzePath(PLACE).exists) FS.unmount(PLACE);
  else FS.mkdir(PLACE);
  FS.mount(WORKERFS, { blobs: files.map(({ name, data }) => ({ name: folder ? `${folder}/${name}` : name, data })) }, PLACE);
  FS.chdir(PLACE);
}

function result(which, from = performance.now()) {
  const data = asText(written(which, "data"));
  postMessage({ type: "result", which, data, seconds: (performance.now() - from) / 1000, memory: HEAPU8.length });
}

const requests = {
  check({ files, folder, options }) {
    const begun = performance.now();
    mount(files, folder);
    for (const which of ["whole", "part"]) {
      if (checkers[which]) call("free", checkers[which]);
      checkers[which] = call("new");
      if (!checkers[which]) throw new Refused("out of memory");
    }
    // The library reads standard input where a file is called "-".
    const path = folder || (files[0].name === "-" ? "./-" : files[0].name);
    const { levels = [], models = [], workload = "", duplicates = false, timeout = 0 } = options;
    tried(
      "whole",
      call(
        "check",
        checkers.whole,
        path,
        levels.join(","),
        models.join(","),
        workload,
        duplicates ? 1 : 0,
        timeout
      )
    );
    result("whole", begun);
  },
  minimize({ level, timeout = 0 }) {
    const begun = performance.now();
    tried("part", call("minimize", checkers.whole, checkers.part, level, timeout));
    result("part", begun);
  },
  show: ({ which }) => result(which),
  write: ({ output, number, which, name }) =>
    postMessage({ type: "written", output, name, bytes: written(which, output, number) }),
};

// A request that fails leaves the worker as it was, unless the code itself gave up.
function answer({ data }) {
  try {
    requests[data.type](data);
  } catch (error) {
    taken();
    if (error instanceof Refused) return postMessage({ type: "failed", request: data.type, message: error.message });
    postMessage({ type: "broken", request: data.type, message: String(error && error.message ? error.message : error) });
  }
}

function begin() {
  onmessage = answer;
  call("list");
  postMessage({ type: "ready", offers: JSON.parse(asText(taken())) });
}
