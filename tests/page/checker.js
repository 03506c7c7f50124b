// Tests of the page that checks histories, in Chromium and in Firefox; run by tests/page/checker.
"use strict";

const path = require("node:path");
const { start, startFirefox, run, results } = require("./browser.js");
const { everyInput } = require("./checker_inputs.js");
const { behaviour } = require("./checker_behaviour.js");
const { large, huge } = require("./checker_large.js");
const { corpus } = require("./checker_corpus.js");

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : null);
const only = option("--only"),
  program = path.resolve(option("--isoproof")),
  long = process.argv.includes("--long");

async function inBrowser(name, begin) {
  const browser = await begin();
  console.log(`${name} ${browser.version()}`);
  const test = (what, body) => {
    const title = `${name}: ${what}`;
    return only && !title.includes(only) ? null : run(title, body);
  };
  try {
    const place = { browser, program, test, chromium: name === "Chromium" };
    await everyInput(place);
    await behaviour(place);
    await large(place);
    await corpus(place, long);
    if (long) await huge(place);
  } finally {
    await browser.close();
  }
}

async function main() {
  if (process.env.CHROMIUM) await inBrowser("Chromium", start);
  else console.log("skipped: Chromium is not installed");
  if (process.env.FIREFOX) await inBrowser("Firefox", startFirefox);
  else console.log("skipped: Firefox is not installed");
  console.log(`${results.passed} passed, ${results.failed} failed`);
  process.exit(results.failed > 0 ? 1 : 0);
}

main().catch((error) => {
  console.log(`FAIL ${error.stack}`);
  process.exit(1);
});
