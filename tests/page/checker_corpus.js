// Recorded histories below ISOPROOF_SHARED: the page says of each what the program says.
"use strict";

const fs = require("fs");
const path = require("path");
const { equal } = require("./browser.js");
const { choose, judged, openChecker, saved, steady } = require("./checker_page.js");
const { facts } = require("./checker_inputs.js");

const SAMPLE = 12,
  MOST_BYTES = 400000; // of a file of the sample

function corpusFiles() {
  const folder = path.join(process.env.ISOPROOF_SHARED || "/nonexistent", "data/corpus"),
    manifest = path.join(folder, "MANIFEST.tsv");
  if (!fs.existsSync(manifest)) return null;
  const rows = fs.readFileSync(manifest, "utf8").trim().split("\n").slice(1);
  return [...new Set(rows.map((row) => path.join(folder, row.split("\t")[0])))];
}

const inputsOf = (file) =>
  fs.statSync(file).isDirectory() ? fs.readdirSync(file).map((name) => path.join(file, name)) : file;

async function corpus(place, long) {
  await place.test(long ? "says of the whole corpus what the program says" : "says of recorded histories what the program says", async () => {
    const all = corpusFiles();
    if (!all) return "skipped: ISOPROOF_SHARED has no corpus";
    const small = all.filter((file) => !fs.statSync(file).isDirectory() && fs.statSync(file).size < MOST_BYTES);
    const files = long ? all : small.filter((_, at) => at % Math.ceil(small.length / SAMPLE) === 0);
    const page = await openChecker(place);
    const verdicts = {};
    for (const file of files) {
      equal(await choose(page, inputsOf(file)), "", file);
      const ours = { ...facts(steady((await saved(page, "json")).toString())), file: "" },
        theirs = { ...facts(judged(place.program, file)), file: "" };
      equal(ours, theirs, file);
      const weakest = theirs.weakest[0] || "nothing violated";
      verdicts[weakest] = (verdicts[weakest] || 0) + 1;
    }
    equal(page.complaints, [], "complaints");
    await page.context().close();
    return `${files.length} histories, by the weakest level violated: ${JSON.stringify(verdicts)}`;
  });
}

module.exports = { corpus };
