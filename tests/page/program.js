// Reports made by the program itself, compared with what it says as JSON.
"use strict";

const { execFileSync } = require("child_process");
const path = require("path");
const fs = require("fs");
const { open, frames, equal, holds } = require("./browser.js");

const root = path.join(__dirname, "../..");
const examples = [
  "write-skew.txt",
  "long-fork.txt",
  "lost-update.txt",
  "fractured-read.txt",
  "aborted-read.txt",
  "recorded-run.jsonl",
  "serializable.txt",
  "timestamps.json",
  "phantom.jsonl",
];

// The commands of docs/reading-a-report.md, whose pictures tests/page/shots takes.
async function pictureTest(browser, program, test) {
  await test("is what the pictures of the documentation show (tests/page/shots takes them anew)", async () => {
    const cwd = path.join(process.env.PAGE_WORK, "picture");
    program = path.resolve(program);
    fs.mkdirSync(cwd);
    const made = ["gen", "-q", "--simulate", "--seed=4", "--level=si", "--bug=lost-update", "--sessions=6"];
    execFileSync(program, [...made, "--transactions=3000", "--operations=2-4", "--keys=40", "-o", "history.jsonl"], { cwd });
    execFileSync(program, ["check", "-q", "--html=report.html", "history.jsonl"], { cwd, stdio: "ignore" });
    const page = await open(browser, path.join(cwd, "report.html"), { width: 1280, height: 800 });
    await frames(page, 3);
    const said = (await page.evaluate(() => document.getElementById("verdict").innerText)) + "\n";
    equal(said.split("\n"), fs.readFileSync(path.join(root, "docs/images/report.txt"), "utf8").split("\n"), "its text");
    await page.context().close();
  });
}

async function programTests(browser, program, test) {
  await pictureTest(browser, program, test);
  await hostileHistory(browser, program, test);
  await largeRun(browser, program, test);
  for (const name of examples) {
    await test(`shows what isoproof check finds in ${name}`, async () => {
      const file = path.join(process.env.PAGE_WORK, `${name}.html`),
        history = path.join(root, "examples/histories", name);
      const found = JSON.parse(execFileSync(program, ["check", "--json", history], { encoding: "utf8" }));
      execFileSync(program, ["check", "--quiet", "--html", file, history], { stdio: "ignore" });
      const page = await open(browser, file);
      await frames(page, 3);
      equal(page.complaints, [], "complaints");
      equal(page.requests, [], "requests");
      const verdicts = await page.$$eval(".lattice-wide .level", (all) =>
        Object.fromEntries(
          all.map((one) => [one.dataset.level, one.getAttribute("aria-label").split(": ")[1].split(/[.,]/)[0]])
        )
      );
      for (const [level, verdict] of Object.entries(found.levels))
        if (level in verdicts) equal(verdicts[level], verdict, level);
      const data = JSON.parse(await page.textContent("#isoproof-report"));
      equal(
        data.anomalies.map((one) => one.code),
        found.anomalies.map((one) => one.code),
        "anomalies"
      );
      for (const [at, anomaly] of data.anomalies.entries()) {
        await page.evaluate((anchor) => (location.hash = anchor), anomaly.anchor);
        await frames(page, 2);
        const cards = await page.$$eval("#anomaly-place .anomaly-body .graph .card", (all) =>
          all.map((one) => one.dataset.id)
        );
        for (const txn of found.anomalies[at].transactions) holds(cards.includes(txn), `${txn} has no card`);
        const edges = await page.$$eval("#anomaly-place .anomaly-body .graph .edge", (all) =>
          all.map((one) => `${one.dataset.from} ${one.dataset.kind} ${one.dataset.to}`).sort()
        );
        // A lost update shows its cycle, too, which holds whatever the order of the two writes is.
        const told = found.anomalies[at].edges.map((edge) => `${edge.from} ${edge.kind} ${edge.to}`);
        if (anomaly.code === "lost-update")
          for (const one of found.anomalies[at].cases.flatMap((each) => each.edges))
            if (one.kind === "RW") told.push(`${one.from} ${one.kind} ${one.to}`);
        equal(edges, told.sort(), `dependencies of ${anomaly.code}`);
        if (anomaly.code === "lost-update") {
          const cycle = edges.filter((edge) => edge.includes(" RW ")).map((edge) => edge.split(" RW "));
          equal(cycle.length, 2, "the two arrows of the cycle");
          equal(cycle[0], [...cycle[1]].reverse(), "there and back");
        }
      }
      await page.context().close();
    });
  }
  await rows(browser, program, test);
}

// Statements on rows are what somebody wrote, each one line of a card, with what they returned.
async function rows(browser, program, test) {
  await test("shows statements on rows as they were written", async () => {
    const file = path.join(process.env.PAGE_WORK, "rows.html"),
      history = path.join(root, "tests/cli/rows/missed-insert.jsonl");
    execFileSync(program, ["check", "--quiet", "--html", file, history], { stdio: "ignore" });
    const page = await open(browser, file);
    await frames(page, 3);
    equal(page.complaints, [], "complaints");
    const told = await page.textContent("#anomaly-place .anomaly-body");
    for (const words of ["select where key in 1..9: 2 = 20", "insert 1 = 10", "The query should have found row 1"])
      holds(told.includes(words), `${words} is not shown`);
    holds((await page.textContent("#verdict")).length > 0, "a verdict");
    await page.context().close();
  });
}

const ATTACKS = [
  "</script><script>window.hacked=1</script>",
  "<img src=x onerror=window.hacked=1>",
  "\u2028\u202e\u0000",
  "a&lt;b&amp;\"'",
];

// What a database or a client could have put into a history.
async function hostileHistory(browser, program, test) {
  await test("shows a hostile history as text", async () => {
    const history = path.join(process.env.PAGE_WORK, "<b onclick=window.hacked=1>&.jsonl"),
      file = `${process.env.PAGE_WORK}/hostile.html`;
    const [a, b, c, d] = ATTACKS;
    const lines = [
      { isoproof: 1, initial: 0, database: a, command: b, "<i>": d },
      { session: a, status: "committed", id: 7, node: a, ops: [["w", a, b]] },
      {
        session: a,
        status: "committed",
        id: 8,
        node: b,
        ops: [
          ["w", a, c],
          ["w", b, c],
        ],
      },
      {
        session: c,
        status: "committed",
        id: 9,
        ops: [
          ["r", b, c],
          ["r", a, b],
        ],
      },
      { session: d, status: "aborted", error: a, ops: [["w", d, d]] },
    ];
    fs.writeFileSync(history, lines.map((line) => JSON.stringify(line)).join("\n") + "\n");
    execFileSync(program, ["check", "--quiet", "--html", file, history], { stdio: "ignore" });
    const page = await open(browser, file);
    await frames(page, 3);
    holds((await page.locator(".graph .card").count()) > 0, "there is a counterexample");
    for (const tag of await page.$$(".tag")) await tag.dispatchEvent("pointerenter");
    equal(await page.evaluate(() => window.hacked), undefined, "window.hacked");
    equal(page.requests, [], "requests");
    equal(page.complaints, [], "complaints");
    await page.context().close();
  });
}

async function largeRun(browser, program, test) {
  await test("opens a run of 100,000 transactions", async () => {
    const history = path.join(process.env.PAGE_WORK, "large.isoproof"),
      file = `${process.env.PAGE_WORK}/large.html`;
    execFileSync(program, [
      "gen",
      "-q",
      "--simulate",
      "--seed=1",
      "--level=si",
      "--sessions=24",
      "--transactions=100000",
      "--operations=3",
      "--keys=2000",
      "-o",
      history,
    ]);
    execFileSync(program, ["check", "-q", "--html", file, history], { stdio: "ignore" });
    const begun = performance.now(),
      page = await open(browser, file);
    await frames(page, 2);
    const took = performance.now() - begun;
    equal(page.complaints, [], "complaints");
    holds((await page.textContent("#verdict")).includes("100,000 transactions"), "all of them are there");
    holds(took < 10000, `${Math.round(took)} ms`);
    await page.context().close();
    return `${Math.round(took)} ms, ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`;
  });
}

module.exports = { programTests };
