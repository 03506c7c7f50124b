// The worker that holds the compiled checker: made from what the page carries, asked one thing at a time, ended to cancel.

function bytesOfBase64(text) {
  const raw = atob(text),
    bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unpackedCode() {
  const packed = new Blob([bytesOfBase64(byId("isoproof-wasm").textContent)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// `hear` gets every message of the worker that lives, and { type: "broken" } when it does not any more.
function makeChecker(hear) {
  const script = URL.createObjectURL(new Blob([byId("isoproof-worker").textContent], { type: "text/javascript" }));
  const code = unpackedCode();
  let worker = null;
  const checker = { busy: false, ready: false };
  const stop = () => {
    if (worker) worker.terminate();
    worker = null;
    Object.assign(checker, { busy: false, ready: false });
  };
  const broken = (message) => {
    stop();
    hear({ type: "broken", message });
  };
  checker.start = () => {
    stop();
    const mine = new Worker(script);
    worker = mine;
    checker.busy = true;
    mine.onmessage = ({ data }) => {
      if (worker !== mine) return;
      if (data.type === "broken") return broken(data.message);
      if (data.type !== "progress") checker.busy = false;
      if (data.type === "ready") checker.ready = true;
      hear(data);
    };
    mine.onerror = (event) => {
      event.preventDefault();
      if (worker === mine) broken(event.message || "the worker does not start");
    };
    code.then(
      (wasm) => worker === mine && mine.postMessage({ wasm }),
      (error) => worker === mine && broken(`the code of the checker cannot be unpacked: ${error.message}`)
    );
  };
  checker.ask = (message) => {
    checker.busy = true;
    worker.postMessage(message);
  };
  checker.stop = stop;
  return checker;
}
