// Every example and every format, plain and compressed, one file or a folder; what is shown and saved is what the program says.
"use strict";

const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const { equal, holds } = require("./browser.js");
const { call, choose, doing, drop, judged, openChecker, root, saved, steady, work } = require("./checker_page.js");

const histories = path.join(root, "examples/histories");

// Verdicts and anomalies; the witness of an anomaly may be another one of the same size.
const facts = (result) => ({
  file: result.file,
  format: result.format,
  transactions: result.transactions,
  operations: result.operations,
  verdict: result.verdict,
  levels: result.levels,
  models: result.models,
  strongest: result.strongest,
  weakest: result.weakest_violated,
  anomalies: (result.anomalies || []).map((one) => [one.code, one.level, one.count]),
  notices: result.notices,
});

async function agrees(page, program, file, args) {
  const ours = facts(steady((await saved(page, "json")).toString())),
    theirs = facts(judged(program, file, args));
  equal(ours, theirs, path.basename(file));
}

// Every file of the examples, and isoproof's own binary form, compressed in both ways.
function makeFormats(program) {
  const folder = path.join(work, "formats");
  fs.mkdirSync(folder, { recursive: true });
  const files = fs
    .readdirSync(histories, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "README.md")
    .map((entry) => path.join(histories, entry.name));
  const made = (name) => path.join(folder, name);
  call(program, ["convert", "-q", "-o", made("run.isoproof"), path.join(histories, "recorded-run.jsonl")]);
  call(program, ["convert", "-q", "-o", made("run.jsonl.zst"), path.join(histories, "recorded-run.jsonl")]);
  fs.writeFileSync(made("skew.txt.gz"), zlib.gzipSync(fs.readFileSync(path.join(histories, "write-skew.txt"))));
  // Two members one after the other, as `cat a.gz b.gz` makes them.
  const lines = fs.readFileSync(path.join(histories, "recorded-run.jsonl"), "utf8").split(/(?<=\n)/);
  fs.writeFileSync(
    made("two.jsonl.gz"),
    Buffer.concat([zlib.gzipSync(lines.slice(0, 2).join("")), zlib.gzipSync(lines.slice(2).join(""))])
  );
  return [...files, ...fs.readdirSync(folder).map(made)];
}

async function everyInput(place) {
  const { program, test } = place;
  await test("opens from disk, asks nothing of a network, and has its examples", async () => {
    const page = await openChecker(place);
    equal(page.complaints, [], "complaints");
    equal(page.requests.filter((url) => !/^(file:|blob:|data:)/.test(url)), [], "requests");
    const names = await page.$$eval(".example", (all) => all.map((one) => one.dataset.name));
    holds(names.length >= 8, `${names.length} examples`);
    for (const name of names) {
      if (!(await page.getAttribute("#check-examples", "open").then((value) => value !== null))) await page.click("#check-examples summary");
      equal(await doing(page, () => page.click(`[data-name="${name}"]`)), "", name);
      await agrees(page, program, path.join(histories, name));
      holds((await page.textContent("#verdict-title")).length > 8, "a headline");
    }
    equal(page.complaints, [], "complaints");
    await page.context().close();
    return `${names.length} examples`;
  });
  await test("reads every format, plain and compressed", async () => {
    const page = await openChecker(place),
      files = makeFormats(program);
    for (const file of files) {
      equal(await choose(page, file), "", path.basename(file));
      await agrees(page, program, file);
    }
    for (const name of ["cobra", "viper"]) {
      const logs = fs.readdirSync(path.join(histories, name)).map((log) => path.join(histories, name, log));
      equal(await choose(page, logs), "", name);
      const ours = facts(steady((await saved(page, "json")).toString()));
      equal({ ...ours, file: name }, { ...facts(judged(program, path.join(histories, name))), file: name }, name);
    }
    equal(page.complaints, [], "complaints");
    await page.context().close();
    return `${files.length + 2} histories`;
  });
  await test("takes what is dropped, and saves the report that the program writes", async () => {
    const page = await openChecker(place),
      file = path.join(histories, "recorded-run.jsonl"),
      html = path.join(work, "program.html");
    equal(await drop(page, "recorded-run.jsonl", fs.readFileSync(file)), "", "dropped");
    call(program, ["check", "-q", `--html=${html}`, "recorded-run.jsonl"], histories);
    // Apart from how long it took, and the memory, of which a browser does not tell.
    const timeless = (text) => text.toString().replace(/"seconds":\{[^}]*\},("peak_bytes":\d+,)?/, "");
    holds(timeless(await saved(page, "html")) === timeless(fs.readFileSync(html)), "the same page");
    holds((await saved(page, "text")).toString().includes("recorded-run.jsonl"), "the text names the history");
    equal(await drop(page, "write-skew.txt", fs.readFileSync(path.join(histories, "write-skew.txt"))), "", "another one");
    const svg = call(program, ["check", "-q", "--svg=-", "write-skew.txt"], histories).out;
    equal((await saved(page, "svg")).toString(), svg.toString(), "the drawing");
    await page.context().close();
  });
}

module.exports = { everyInput, facts };
