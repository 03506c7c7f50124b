// Histories of 100,000 transactions, while the page stays at hand; and files of a gigabyte.
"use strict";

const fs = require("fs");
const path = require("path");
const { equal, holds } = require("./browser.js");
const { choose, judged, openChecker, saved, steady, work } = require("./checker_page.js");
const { facts } = require("./checker_inputs.js");
const { largeHistory } = require("./checker_behaviour.js");

// Notes how long the page was ever out of reach.
const watch = (page) =>
  page.evaluate(() => {
    window.worst = 0;
    window.ticks = 0;
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      window.worst = Math.max(window.worst, now - last);
      window.ticks++;
      last = now;
    }, 20);
  });

async function large(place) {
  await place.test("checks 100,000 transactions while the page stays at hand", async () => {
    const file = largeHistory(place.program);
    const page = await openChecker(place);
    await watch(page);
    const begun = performance.now();
    equal(await choose(page, file), "", "the history");
    const took = performance.now() - begun,
      [worst, ticks, seconds] = await page.evaluate(() => [window.worst, window.ticks, document.documentElement.dataset.seconds]);
    holds(ticks > 5, "the page was asleep");
    equal(facts(steady((await saved(page, "json")).toString())), facts(judged(place.program, file)), "the result");
    await page.context().close();
    return `${Math.round(took)} ms until it is shown, ${seconds} s in the worker, ${Math.round(worst)} ms out of reach at worst`;
  });
}

// Says whether it was refused in words or judged; both will do, a crash will not.
async function survives(place, page, file) {
  const begun = performance.now(),
    trouble = await choose(page, file),
    took = Math.round((performance.now() - begun) / 1000);
  holds(trouble === "" || trouble.includes("cannot be judged"), trouble);
  return `${trouble === "" ? await page.textContent("#verdict-title") : trouble.trim()} after ${took} s`;
}

// A gigabyte of zeros, and a history of a gigabyte.
async function huge(place) {
  await place.test("bears with files of a gigabyte", async () => {
    const zeros = path.join(work, "zeros.jsonl"),
      real = path.join(work, "huge.txt");
    if (!fs.existsSync(zeros)) {
      fs.writeFileSync(zeros, "");
      fs.truncateSync(zeros, 1 << 30);
      const out = fs.openSync(real, "w");
      // Sessions that count up keys of their own: sound, and long.
      for (let txn = 0, size = 0; size < 1 << 30; ) {
        const lines = [];
        for (let i = 0; i < 20000; i++, txn++) {
          const key = txn % 5000,
            session = txn % 50;
          lines.push(`w(${key},${txn + 1},${session},${txn})\nr(${key},${txn + 1},${session},${txn})\n`);
        }
        size += fs.writeSync(out, lines.join(""));
      }
      fs.closeSync(out);
    }
    const page = await openChecker(place);
    const told = [];
    for (const file of [zeros, real]) told.push(`${path.basename(file)}: ${await survives(place, page, file)}`);
    equal(await choose(page, path.join(__dirname, "../../examples/histories/write-skew.txt")), "", "a small one afterwards");
    await page.context().close();
    return told.join("; ");
  });
}

module.exports = { large, huge };
