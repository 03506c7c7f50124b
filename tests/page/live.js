// The page of a run in progress, as `isoproof serve` shows it: it follows its state and gives way to the report.
"use strict";

const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { equal, holds } = require("./browser.js");
const { serve } = require("./pages.js");

const SCRIPT = "<script>alert(1)</script>";

function state(change) {
  const run = { seconds: 65, seconds_limit: 3600, sessions: 8, committed: 123456, aborted: 7, unknown: 1, per_second: 1900.4 };
  run.latency_ms = { p50: 0.25, p90: 3, p99: 20, max: 1500 };
  run.fault = "kill node 1";
  const live = { verdict: "satisfied", levels: { serializable: "satisfied" }, judged: 120000, behind: 3456, behind_seconds: 1.8 };
  Object.assign(live, { judged_per_second: 2000, pending_reads: 0, whole_checks: 0, bytes: 50000000, retained: 4000 });
  const all = { schema: 1, command: "isoproof test", updated: Math.floor(Date.now() / 1000), run, live };
  change(all);
  return JSON.stringify(all) + "\n";
}

// As the program does it: replaced as a whole.
function put(folder, change) {
  const file = path.join(folder, "live.json");
  fs.writeFileSync(file + ".new", state(change));
  fs.renameSync(file + ".new", file);
}

const text = (page, id) => page.locator("#" + id).textContent();
const becomes = (page, id, words) => page.locator("#" + id, { hasText: words }).waitFor({ state: "attached" });

async function liveTests(browser, program, test) {
  await test("a run in progress: figures that move, a violation, no news, and the report in the end", async () => {
    const runs = path.join(process.env.PAGE_WORK, "live-runs"),
      folder = path.join(runs, "20300101-000000");
    fs.mkdirSync(folder, { recursive: true });
    const head = { isoproof: 1, database: SCRIPT, isolation: "serializable", workload: "mixed" };
    fs.writeFileSync(path.join(folder, "history.jsonl"), JSON.stringify(head) + "\n");
    put(folder, () => {});
    const served = serve(path.resolve(program), runs);
    const page = await (await browser.newContext({ viewport: { width: 1000, height: 900 } })).newPage();
    page.setDefaultTimeout(60000);
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("dialog", (dialog) => complaints.push(dialog.message()) && dialog.dismiss());
    await page.goto(await served.url);
    equal(await page.locator(".chip.running").count(), 1, "it is listed as running");
    await page.locator(".when a").first().click();
    await becomes(page, "committed", "123,456");
    equal(await text(page, "verdict"), "satisfied so far", "verdict");
    equal(await text(page, "time"), "1 min 05 s of 1 h 00 min", "time");
    equal(await text(page, "throughput"), "1,900 per second", "throughput");
    equal(await text(page, "latency"), "p50 0.25 ms, p90 3.00 ms, p99 20 ms, max 1.5 s", "latency");
    equal(await text(page, "fault"), "kill node 1", "fault");
    equal(await text(page, "behind"), "3,456 transactions, 1.8 s", "lag");
    holds((await page.textContent("main")).includes(SCRIPT), "facts of the header, as text");
    put(folder, (all) => {
      all.run.seconds = 70;
      all.run.committed = 200000;
      Object.assign(all.live, { verdict: "violated", levels: { serializable: "violated" }, violation: "write skew: " + SCRIPT });
    });
    await becomes(page, "committed", "200,000");
    equal(await text(page, "verdict"), "violated", "verdict");
    holds((await text(page, "violation")).includes(SCRIPT), "the violation is told, as text");
    holds((await page.locator("#rate-chart .line").getAttribute("points")).split(" ").length >= 2, "a chart");
    put(folder, (all) => (all.updated -= 100));
    await becomes(page, "news", "No news for");
    // The end: a result, and no state any more.
    const made = execFileSync(path.resolve(program), ["check", "--json", "examples/histories/serializable.txt"], {
      cwd: path.join(__dirname, "../.."),
    });
    fs.writeFileSync(path.join(folder, "result.json"), made);
    fs.unlinkSync(path.join(folder, "live.json"));
    await page.waitForSelector("#verdict-title, html[data-ready]");
    equal(complaints, [], "complaints");
    await page.context().close();
    served.stop();
  });
}

module.exports = { liveTests };
