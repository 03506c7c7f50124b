// Before the compiled checker in its worker: its code comes in the first message, as the page holds it.
var Module = {
  instantiateWasm(imports, done) {
    onmessage = ({ data }) => {
      WebAssembly.instantiate(data.wasm, imports).then(
        ({ instance, module }) => done(instance, module),
        (error) => postMessage({ type: "broken", message: `the checker does not start: ${error.message}` })
      );
    };
    return {};
  },
  onRuntimeInitialized: () => begin(),
  // The library does not print; what emscripten says in an emergency is told when it ends.
  print: () => {},
  printErr: () => {},
};
