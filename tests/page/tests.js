// Tests of the page in Chromium; run by tests/page/run.
"use strict";

const fs = require("fs");
const { start, write, writeReport, open, frames, equal, holds, run, results, template } = require("./browser.js");
const { sample, hostile } = require("./sample.js");
const { looking } = require("./looking.js");
const { largeTests } = require("./large.js");
const { programTests } = require("./program.js");
const { clippingTests } = require("./clipping.js");
const { cooTests } = require("./coo.js");
const { liveTests } = require("./live.js");

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : null);
const only = option("--only"),
  program = option("--isoproof");
const test = (name, body) => (only && !name.includes(only) ? null : run(name, body));

async function openingTests(browser, data, file) {
  await test("opens from disk without a complaint or a request", async () => {
    const page = await open(browser, file);
    await frames(page, 5);
    equal(page.complaints, [], "console");
    equal(page.requests, [], "requests");
    equal(await page.title(), "isoproof test on a sample: isoproof", "title");
    await page.context().close();
  });
  await test("shows the verdict, the anomaly drawn, its proof and the lattice on the first screen", async () => {
    for (const [width, height] of [
      [1400, 900],
      [800, 900],
    ]) {
      const page = await open(browser, file, { width, height });
      await frames(page, 3);
      equal(await page.textContent("h1"), "Serializable is violated.", "headline");
      equal(await page.textContent(".anomaly-head h2"), "Write skew #", "the anomaly is named");
      const bottom = (selector) => page.locator(selector).first().evaluate((box) => box.getBoundingClientRect().bottom);
      holds((await bottom(".graph-frame")) <= height, `the drawing ends at ${await bottom(".graph-frame")}`);
      holds((await bottom(".lead")) <= height, `the sentence ends at ${await bottom(".lead")}`);
      if (width > 1000) holds((await bottom(".lattice-wide")) <= height, `the lattice at ${await bottom(".lattice-wide")}`);
      await page.context().close();
    }
  });
  await test("tells each proof once, and places of operations on demand", async () => {
    const page = await open(browser, file);
    await page.locator(".proof-more").evaluateAll((all) => all.forEach((one) => (one.open = true)));
    await frames(page, 2);
    const text = await page.evaluate(() => document.querySelector("main").innerText);
    for (const sentence of data.anomalies[0].sentences) {
      const words = sentence.replace(/ \([^()]*:\d+\)/g, "");
      equal(text.split(words).length - 1, 1, `times that it says: ${words}`);
    }
    holds(!/\(\S+:\d+\)|\bline \d+/.test(text), "no places at first");
    await page.context().close();
  });
  await test("opens what explains a broken invariant, before patterns with a number", async () => {
    const broken = { ...data, invariants: [{ broken: true, words: "invariant money is broken" }], invariants_reason: "What explains it: lost update." };
    const codes = ["TAP-k", ...data.anomalies.slice(1).map((anomaly) => anomaly.code)];
    broken.anomalies = data.anomalies.map((anomaly, i) => ({ ...anomaly, code: codes[i] }));
    const named = broken.anomalies.find((anomaly) => !anomaly.code.startsWith("TAP-"));
    const page = await open(browser, writeReport(broken));
    equal(await page.getAttribute("#anomaly-place > article", "data-anchor"), named.anchor, "the open anomaly");
    await page.context().close();
  });
  await test("says how often, how sure that is, and nothing where it is not known", async () => {
    const page = await open(browser, file);
    holds((await page.textContent(".anomaly-head .why-level")).includes("breaks serializable, at least 3 times"), "words");
    equal(await page.$$eval(".row-count", (rows) => rows.map((row) => row.textContent)), ["at least 3 times", "", "12 times"], "list");
    await page.context().close();
  });
  await test("draws the lattice with verdicts by colour, shape and word", async () => {
    const page = await open(browser, file);
    const drawn = await page.$$eval(".lattice-wide .level", (boxes) =>
      boxes.map((box) => [
        box.dataset.level,
        box.getAttribute("aria-label"),
        box.querySelector(".mark").getAttribute("class"),
      ])
    );
    equal(drawn.map(([id]) => id).sort(), data.levels.map((level) => level.id).sort(), "levels");
    for (const level of data.levels) {
      const [, label, mark] = drawn.find(([id]) => id === level.id);
      const word = level.verdict === "undecided" ? "not decided" : level.verdict;
      holds(label.startsWith(`${level.id}: ${word}`), label);
      holds(mark.includes(`mark-${level.verdict}`), mark);
    }
    equal(await page.locator(".lattice-wide .imply").count(), data.implies.length, "lines");
    await page.locator('.lattice-wide [data-level="causal"]').hover();
    holds((await page.textContent(".level-about")).includes("What causal promises"), "the level explains itself");
    await page.context().close();
  });
}

async function safetyTests(browser, data) {
  await test("shows hostile strings as text", async () => {
    const page = await open(browser, writeReport(hostile(data)));
    for (const anomaly of data.anomalies) {
      await page.evaluate((anchor) => (location.hash = anchor), anomaly.anchor);
      await frames(page, 3);
      for (const edge of await page.$$(".edge")) await edge.dispatchEvent("focus");
    }
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
    await page.locator("#timeline-canvas").focus();
    await page.keyboard.press(".");
    await frames(page, 5);
    equal(await page.evaluate(() => window.hacked), undefined, "window.hacked");
    equal(
      await page.locator("img, iframe, object, embed, script:not([type]) + script:not([type])").count(),
      0,
      "elements made of data"
    );
    equal(page.requests, [], "requests");
    equal(page.complaints, [], "complaints");
    const text = await page.evaluate(() => document.body.innerText + document.title);
    holds(text.includes("<img src=x onerror="), "markup is readable as text");
    holds(!/[\u202e\u0000\u001b]/.test(text), "control characters are made visible");
    await page.context().close();
  });
  await test("runs no script but its own", async () => {
    const attack =
      '<script>window.hacked=1</script><img src="data:," onerror="window.hacked=2" onload="window.hacked=2">';
    const page = await open(
      browser,
      write(
        template.replace(
          "<!--isoproof:data-->",
          `${attack}<script type="application/json" id="isoproof-report">{}</script>`
        )
      )
    );
    await frames(page, 5);
    equal(await page.evaluate(() => window.hacked), undefined, "window.hacked");
    holds(
      page.complaints.some((line) => line.includes("Content Security Policy")),
      "the policy refuses it"
    );
    await page.context().close();
  });
  await test("bears with data that are missing or damaged", async () => {
    const bare = {
      anomalies: [
        {},
        {
          graph: {
            nodes: [{ id: "s0t0" }],
            edges: [
              { from: "s0t0", to: "nowhere", path: "url(#x)" },
              { from: "s0t0", to: "s0t0" },
            ],
          },
        },
      ],
      levels: [{ id: "causal" }, {}],
      series: { bucket: 0 },
    };
    const wrong = {
      verdict: 7,
      levels: "x",
      anomalies: { length: 3 },
      timeline: { sessions: ["0"], session: "AAAA", index: "!", status: "" },
      counts: [],
      faults: [null],
      run: [null],
      aborts: [{}],
      left_out: [{}],
    };
    for (const one of [
      {},
      bare,
      wrong,
      { ...data, timeline: null, series: null },
      {
        ...data,
        levels: [],
        anomalies: [],
        verdict: "satisfied",
        models: { not: [], also_not: [], proved: ["serializable"] },
      },
    ]) {
      const page = await open(browser, writeReport(one));
      await frames(page, 3);
      equal(page.complaints, [], "complaints");
      equal(await page.getAttribute("html", "data-ready"), "true", "ready");
      await page.context().close();
    }
    const page = await open(
      browser,
      write(
        template.replace("<!--isoproof:data-->", '<script type="application/json" id="isoproof-report">{"schema":</script>')
      )
    );
    equal(await page.textContent("h1"), "This report cannot be read.", "headline");
    await page.context().close();
  });
}

async function noticeTests(browser, data) {
  await test("says what was left out", async () => {
    const notice = "The timeline shows 4,000 of 1,000,000 transactions.";
    const page = await open(
      browser,
      writeReport({ ...data, left_out: [notice], timeline: { ...data.timeline, total: 1000000 } })
    );
    holds((await page.textContent("#verdict .notice")).includes(notice), "on the first screen");
    holds((await page.textContent("#timeline .part-note")).includes("4,000 of 1,000,000"), "at the timeline");
    await page.context().close();
  });
  await test("says what one has to know about the history", async () => {
    const notices = [{ code: "truncated", line: 7, message: "<b>cut</b> off" }, { code: "unfinished" }, 3];
    const page = await open(browser, writeReport({ ...data, notices }));
    equal(await page.locator("#verdict .notice").allTextContents(), ["Notice: <b>cut</b> off (line 7)"], "notices");
    await page.context().close();
  });
  await test("tells what follows from the levels that were decided", async () => {
    const levels = data.levels.map((level) => ({
      ...level,
      verdict: level.id === "prefix" ? "violated" : level.id === "read-atomic" ? "satisfied" : "undecided",
    }));
    const page = await open(browser, writeReport({ ...data, levels }));
    const label = (id) => page.getAttribute(`.lattice-wide [data-level="${id}"]`, "aria-label");
    for (const id of ["strict-serializable", "serializable", "snapshot-isolation"])
      holds((await label(id)).includes("violated, which follows"), id);
    for (const id of ["read-committed", "cut-isolation"])
      holds((await label(id)).includes("satisfied, which follows"), id);
    for (const id of ["causal", "linearizable", "update-atomic"]) holds((await label(id)).includes("not decided"), id);
    await page.context().close();
  });
  await test("says which levels are left, and why", async () => {
    const reason = "the time budget was used up";
    const levels = data.levels.map((level) =>
      ["serializable", "causal"].includes(level.id)
        ? { ...level, verdict: "undecided", reason }
        : { ...level, verdict: level.id === "read-committed" ? "satisfied" : "undecided" }
    );
    const page = await open(browser, writeReport({ ...data, verdict: "satisfied", expected: ["read-committed"], levels }));
    const facts = (await page.textContent("dl.facts")).replace(/\s+/g, " ");
    holds(/Not decided(causal, serializable|serializable, causal) \(the time budget was used up\)/.test(facts), facts);
    await page.context().close();
  });
}

async function formTests(browser, file) {
  await test("is dark or light as the system says, and remembers a choice", async () => {
    const page = await open(browser, file, { theme: "dark" });
    const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await shade();
    equal(dark, "rgb(20, 23, 28)", "the system's dark");
    await page.click("#theme-button");
    const light = await shade();
    equal(light, "rgb(251, 250, 248)", "the reader's light");
    await page.reload();
    await frames(page, 2);
    equal(await shade(), light, "after opening it again");
    await page.keyboard.press("d");
    equal(await shade(), dark, "the key d");
    await page.context().close();
  });
  await test("fits a phone", async () => {
    for (const width of [360, 414, 768]) {
      const page = await open(browser, file, { width, height: 800, hasTouch: true, isMobile: true });
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      holds(wide[0] <= width, `at ${width} the page is ${wide[0]} wide`);
      equal(await page.locator(".lattice-narrow").isVisible(), width < 640, "rails instead of the wide lattice");
      await page.context().close();
    }
  });
  await test("prints: no controls, every anomaly, and light", async () => {
    const page = await open(browser, file, { theme: "dark" });
    await page.emulateMedia({ media: "print" });
    equal(await page.locator(".bar").isVisible(), false, "the bar");
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    equal(await page.locator("article.anomaly").count(), 3, "anomalies on paper");
    equal(await page.evaluate(() => document.documentElement.dataset.theme), "light", "theme on paper");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    equal(await page.locator("article.anomaly").count(), 1, "anomalies on the screen");
    await page.emulateMedia({ media: null });
    const pdf = await page.pdf({ format: "A4" });
    holds(pdf.subarray(0, 4).toString() === "%PDF" && pdf.length > 20000, "a document comes out");
    await page.context().close();
  });
  await test("has landmarks, headings in order, and a name for all that takes the focus", async () => {
    const page = await open(browser, file);
    for (const mark of ["header", "nav[aria-label]", "main", "footer", "h1"])
      equal(await page.locator(`body ${mark}`).first().count(), 1, mark);
    const levels = await page.$$eval("main :is(h1,h2,h3,h4)", (all) =>
      all.filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))
    );
    holds(
      levels[0] === 1 && levels.every((level, at) => at === 0 || level <= levels[at - 1] + 1),
      `headings ${levels}`
    );
    const nameless = await page.$$eval(
      "button, a[href], input, select, canvas:not([aria-hidden]), [tabindex='0']",
      (all) =>
        all
          .filter(
            (one) =>
              one.checkVisibility() &&
              !(one.getAttribute("aria-label") || one.textContent.trim() || (one.labels && one.labels.length))
          )
          .map((one) => one.outerHTML.slice(0, 80))
    );
    equal(nameless, [], "without a name");
    for (const name of ["graph", "timeline"])
      holds((await page.locator("summary", { hasText: `The ${name} as text` }).count()) > 0, `${name} as text`);
    await page.click("#timeline-text summary");
    await frames(page, 3);
    holds((await page.textContent("#timeline-text")).includes("Transactions of the anomaly"), "the timeline in words");
    await page.context().close();
  });
}

async function main() {
  const browser = await start(),
    data = sample(),
    file = writeReport(data);
  try {
    await openingTests(browser, data, file);
    await looking(browser, data, file, test);
    await formTests(browser, file);
    await noticeTests(browser, data);
    await safetyTests(browser, data);
    await largeTests(browser, test);
    if (program && fs.existsSync(program)) {
      await cooTests(browser, program, test);
      await liveTests(browser, program, test);
      await programTests(browser, program, test);
      if (!only || "cuts nothing off sorts lists runs".includes(only)) await clippingTests(browser, program, test);
    }
  } finally {
    await browser.close();
  }
  console.log(`${results.passed} passed, ${results.failed} failed, 0 skipped`);
  process.exit(results.failed === 0 && results.passed > 0 ? 0 : 1);
}

main();
