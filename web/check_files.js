// Histories that the reader drops or chooses: a file, several files or a folder, which is a folder of logs.

// All entries below a folder, without recursion.
async function filesBelow(top) {
  const found = [],
    waiting = [[top, ""]];
  while (waiting.length > 0) {
    const [folder, before] = waiting.pop(),
      reader = folder.createReader();
    for (;;) {
      // A reader gives a hundred entries or so at a time.
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (some.length === 0) break;
      for (const entry of some) {
        if (entry.isDirectory) waiting.push([entry, `${before}${entry.name}/`]);
        else found.push({ name: before + entry.name, data: await new Promise((done, fail) => entry.file(done, fail)) });
      }
    }
  }
  return found;
}

// What a drop holds: { files: [{ name, data }], folder } or null.
async function droppedHistory(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => (item.webkitGetAsEntry ? item.webkitGetAsEntry() : null)),
    files = [...transfer.files];
  const folder = entries.length === 1 && entries[0] && entries[0].isDirectory ? entries[0] : null;
  if (folder) return { files: await filesBelow(folder), folder: folder.name };
  return chosenFiles(files);
}

const chosenFiles = (files) =>
  files.length === 0
    ? null
    : { files: files.map((file) => ({ name: file.name, data: file })), folder: files.length > 1 ? "logs" : "" };

// Of a folder that was chosen every file says where it is: "folder/sub/file".
function chosenFolder(files) {
  if (files.length === 0) return null;
  const folder = files[0].webkitRelativePath.split("/")[0] || "logs";
  return {
    files: files.map((file) => ({ name: file.webkitRelativePath.split("/").slice(1).join("/") || file.name, data: file })),
    folder,
  };
}

function watchDrops(take) {
  const zone = byId("drop");
  const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  const light = (on) => zone.classList.toggle("drop-over", on);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    light(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && light(false));
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    light(false);
    droppedHistory(event.dataTransfer).then(take, (error) => take(null, error));
  });
}

function watchChoosers(take) {
  for (const [kind, read] of [
    ["file", chosenFiles],
    ["folder", chosenFolder],
  ]) {
    const input = byId(`${kind}-input`);
    byId(`choose-${kind}`).addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const history = read([...input.files]);
      input.value = ""; // the same file may be chosen again
      if (history) take(history);
    });
  }
}
