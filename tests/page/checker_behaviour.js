// What the page does besides: hostile files, cancelling, options, smaller parts, keys, screen readers, widths and themes.
"use strict";

const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const { equal, holds } = require("./browser.js");
const { checkPage } = require("./clipping.js");
const { call, choose, doing, drop, judged, openChecker, results, root, saved, steady, work } = require("./checker_page.js");
const { facts } = require("./checker_inputs.js");

const histories = path.join(root, "examples/histories");
const skew = path.join(histories, "write-skew.txt");

// Files that are no histories, or try something.
function hostileFiles() {
  const text = fs.readFileSync(path.join(histories, "recorded-run.jsonl"));
  const packed = zlib.gzipSync(text);
  const flipped = Buffer.from(packed);
  flipped[30] ^= 0x10;
  return {
    "empty.json": Buffer.alloc(0),
    "noise.txt": Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919 + 13) % 256)),
    "deep.json": Buffer.from("[".repeat(200000)),
    "cut.jsonl.gz": packed.subarray(0, packed.length - 20),
    "flipped.jsonl.gz": flipped,
    "frame.zst": Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    "<img src=x onerror=window.hacked=1>.edn": Buffer.from("{:type </script><script>window.hacked=1</script>"),
    "bomb.jsonl.gz": zlib.gzipSync(Buffer.alloc(40 << 20, "[")),
  };
}

async function hostile(place) {
  const { program, test } = place;
  await test("says what is wrong with a hostile file, and goes on", async () => {
    const page = await openChecker(place),
      folder = path.join(work, "hostile");
    fs.mkdirSync(folder, { recursive: true });
    for (const [name, bytes] of Object.entries(hostileFiles())) {
      const trouble = await drop(page, name, bytes);
      holds(trouble.includes("cannot be judged"), `${name}: ${trouble}`);
      fs.writeFileSync(path.join(folder, name), bytes);
      const said = JSON.parse(call(program, ["check", "--json", name], folder).out).error.message;
      // Where a damaged stream is noticed depends on how much was read ahead.
      const words = said.split(" near compressed byte ")[0].split(" after compressed byte ")[0];
      holds(trouble.includes(words), `${name}: the program says "${said}", the page "${trouble}"`);
    }
    equal(await page.evaluate(() => window.hacked), undefined, "window.hacked");
    equal(await choose(page, skew), "", "a sound history afterwards");
    holds(await page.isHidden("#check-trouble"), "the complaint is gone");
    equal(await page.textContent("#verdict-title"), "Serializable is violated.", "its verdict");
    equal(page.complaints, [], "complaints");
    await page.context().close();
  });
}

function simulated(program, name, args) {
  const file = path.join(work, name);
  if (!fs.existsSync(file)) call(program, ["gen", "-q", "--simulate", "--seed=4", ...args, "-o", file]);
  return file;
}

const largeHistory = (program) =>
  simulated(program, "large.jsonl", ["--level=ser", "--sessions=24", "--transactions=100000", "--operations=3", "--keys=2000"]);

// Cancels as soon as progress is shown, and tells what was shown.
const cancelAtOnce = (page, key) =>
  page.evaluate((byKey) => {
    window.shown = null;
    const what = document.getElementById("work-what"),
      bar = document.getElementById("work-progress");
    const observer = new MutationObserver(() => {
      if (bar.position < 0) return;
      observer.disconnect();
      window.shown = [what.textContent, bar.value];
      if (byKey) dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
      else document.getElementById("work-cancel").click();
    });
    observer.observe(bar, { attributes: true });
  }, key);

async function cancelling(place) {
  const { program, test } = place;
  await test("shows progress, and can be cancelled with a button and with Escape", async () => {
    const page = await openChecker(place);
    const file = largeHistory(program);
    for (const key of [false, true]) {
      await cancelAtOnce(page, key);
      holds((await choose(page, file)).startsWith("Cancelled."), "it says so");
      const [words, value] = await page.evaluate(() => window.shown);
      holds(/^Reading, [0-9.]+ of [0-9.]+ MB$/.test(words) && value >= 0 && value <= 100, `${words} ${value}`);
      holds(await page.isHidden("#check-work"), "no more progress");
      equal(await results(page), key ? 1 : 0, "no result of it");
      equal(await choose(page, skew), "", "the next history");
      equal(await page.textContent("#verdict-title"), "Serializable is violated.", "its verdict");
    }
    await page.context().close();
  });
}

async function options(place) {
  const { program, test } = place;
  const ask = async (page, fill, args, file) => {
    if ((await page.getAttribute("#check-options", "open")) === null) await page.click("#check-options summary");
    await fill();
    equal(await choose(page, file), "", path.basename(file));
    equal(facts(steady((await saved(page, "json")).toString())), facts(judged(program, file, args)), args.join(" "));
  };
  await test("decides the levels and models that are asked for", async () => {
    const page = await openChecker(place);
    const what = (value) => page.check(`input[name=what][value=${value}]`);
    await ask(
      page,
      async () => {
        await what("levels");
        await page.check("input[name=level][value=serializable]");
        await page.check("input[name=level][value=causal]");
      },
      ["--level=serializable,causal"],
      skew
    );
    equal(await page.textContent("#verdict .chip"), "Violated", "the chip");
    await ask(
      page,
      async () => {
        await what("models");
        await page.selectOption("select[name=model]", "snapshot-isolation");
      },
      ["--model=snapshot-isolation", "--workload=auto"],
      path.join(histories, "write-skew.edn")
    );
    const twice = path.join(work, "twice.txt");
    fs.writeFileSync(twice, "w(1,1,0,0)\nw(1,1,1,1)\nr(1,1,2,2)\n");
    await ask(page, async () => (await what("all"), await page.check("input[name=duplicates]")), ["--duplicate-values"], twice);
    await page.click("#check-options summary");
    await page.uncheck("input[name=duplicates]");
    equal(await doing(page, () => page.click("#check-again")), "", "again");
    holds((await page.textContent("#verdict")).includes("Notice"), "what is not expected is noticed");
    await page.click("#check-options summary");
    await what("levels");
    for (const box of await page.$$("input[name=level]:checked")) await box.uncheck();
    holds((await choose(page, skew)).includes("Choose a level"), "no level at all");
    await page.context().close();
  });
}

async function smaller(place) {
  const { program, test } = place;
  await test("finds the smallest part, saves it, and goes back", async () => {
    const page = await openChecker(place);
    const file = simulated(program, "bug.jsonl", ["--level=si", "--bug=lost-update", "--sessions=6", "--transactions=400", "--operations=2-4", "--keys=40"]);
    equal(await choose(page, file), "", "the whole");
    const level = await page.inputValue("#minimize-level"),
      whole = await page.textContent(".run-line >> nth=-1");
    equal(await doing(page, () => page.click("#minimize")), "", "the part");
    const told = call(program, ["minimize", `--level=${level}`, file]).err.match(/^isoproof: (\d+) of/m)[1];
    holds((await page.textContent("#verdict .run-line")).includes(`${told} transaction`), `the program finds ${told}`);
    const part = path.join(work, "part.jsonl");
    fs.writeFileSync(part, await saved(page, "history"));
    equal(facts(judged(program, part)).transactions, Number(told), "what was saved");
    equal(await doing(page, () => page.click("#show-whole")), "", "back");
    equal(await page.textContent(".run-line >> nth=-1"), whole, "the whole again");
    equal(page.complaints, [], "complaints");
    await page.context().close();
    return `${level}: ${told} transactions`;
  });
}

async function reading(place) {
  const { test } = place;
  await test("works by keys alone, and says what happens", async () => {
    const page = await openChecker(place);
    await page.focus("#check-examples summary");
    await page.keyboard.press("Tab");
    equal(await page.evaluate(() => document.activeElement.dataset.name), "write-skew.txt", "the first example has the focus");
    equal(await doing(page, () => page.keyboard.press("Enter")), "", "chosen by Enter");
    equal(await page.evaluate(() => document.activeElement.id), "verdict-title", "the verdict has the focus");
    holds((await page.textContent("#check-said")).startsWith("Serializable is violated."), "it is said");
    const nameless = await page.$$eval("button, select, input:not([hidden]), progress", (all) =>
      all
        .filter((one) => one.checkVisibility())
        .filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || (one.labels && one.labels.length)))
        .map((one) => one.outerHTML)
    );
    equal(nameless, [], "controls without a name");
    await page.keyboard.press("?");
    holds(await page.isVisible("#keys-dialog"), "the list of keys");
    await page.keyboard.press("Escape");
    // The report that was there before must not answer any more.
    equal(await choose(page, path.join(histories, "lost-update.txt")), "", "another one");
    await page.keyboard.press("n");
    equal(await page.locator("#verdict h1").count(), 1, "one verdict");
    equal(page.complaints, [], "complaints");
    await page.context().close();
  });
  if (place.chromium)
    await test("cuts nothing off at any width, in both themes", async () => {
      const url = `file://${process.env.CHECKER}`;
      const ready = (page) => page.waitForSelector("html[data-ready]", { state: "attached" });
      await checkPage(place.browser, "start", url, async (page) => {
        await ready(page);
        await page.click("#check-options summary");
        await page.check("input[name=what][value=levels]");
      });
      await checkPage(place.browser, "trouble", url, async (page) => {
        await ready(page);
        await page.setInputFiles("#file-input", path.join(histories, "README.md"));
        await page.waitForSelector("#check-trouble:not([hidden])");
      });
      await checkPage(place.browser, "result", url, async (page) => {
        await ready(page);
        await page.setInputFiles("#file-input", skew);
        await page.waitForSelector("html[data-result]", { state: "attached" });
        await page.click("#check-examples summary");
      });
    });
}

async function behaviour(place) {
  await hostile(place);
  await cancelling(place);
  await options(place);
  await smaller(place);
  await reading(place);
}

module.exports = { behaviour, largeHistory };
