// Tests of the graph, the list of anomalies, the timeline and the charts: what they show and how one moves about in them.
"use strict";

const { open, frames, equal, holds } = require("./browser.js");

const world = (page) => page.locator("#anomaly-place > article > .anomaly-body .world").getAttribute("transform");
const zoomOf = (transform) => Number(/scale\(([^)]+)\)/.exec(transform)[1]);

async function graphTests(browser, data, file, test) {
  await test("draws the transactions and dependencies of the data, no more and no less", async () => {
    for (const anomaly of data.anomalies) {
      const page = await open(browser, file, { hash: `#${anomaly.anchor}` });
      const place = ".anomaly-body .graph";
      equal(
        await page.$$eval(`${place} .card`, (all) => all.map((one) => one.dataset.id)),
        anomaly.graph.nodes.map((node) => node.id),
        "cards"
      );
      equal(
        await page.$$eval(`${place} .edge`, (all) =>
          all.map((one) => [one.dataset.from, one.dataset.kind, one.dataset.to])
        ),
        anomaly.graph.edges.map((edge) => [edge.from, edge.kind, edge.to]),
        "edges"
      );
      equal(
        await page.$$eval(`${place} .op > text`, (all) => all.map((one) => one.textContent)),
        anomaly.graph.nodes.flatMap((node) => node.operations.map((op) => op.text)),
        "operations"
      );
      const strokes = await page.$$eval(
        `${place} .edge-line`,
        (all) =>
          [
            ...new Set(
              all.map(
                (one) =>
                  `${getComputedStyle(one).stroke} ${getComputedStyle(one).strokeDasharray} ${getComputedStyle(one).strokeWidth}`
              )
            ),
          ].length
      );
      equal(strokes, new Set(anomaly.graph.edges.map((edge) => edge.kind)).size, "kinds look different");
      await page.context().close();
    }
  });
  await test("shows the cases side by side", async () => {
    const page = await open(browser, file, { hash: "#anomaly-2" });
    equal(await page.locator(".case").count(), 0, "cases before the proof is opened");
    await page.click(".proof-more summary");
    await frames(page, 3);
    const boxes = await page.$$eval(".case", (all) =>
      all.map((one) => one.getBoundingClientRect()).map((box) => [Math.round(box.top), Math.round(box.left)])
    );
    equal(boxes.length, 2, "cases");
    holds(boxes[0][0] === boxes[1][0] && boxes[0][1] < boxes[1][1], `at ${JSON.stringify(boxes)}`);
    await page.context().close();
  });
  await test("lights the evidence of an arrow that is pointed at", async () => {
    const page = await open(browser, file, { hash: "#anomaly-1" });
    await page.locator(".anomaly-body .tag").first().hover();
    equal(
      await page.$$eval(".op.lit > text", (all) => all.map((one) => one.textContent)),
      ["read y = 7", "write y = 8"],
      "operations"
    );
    const said = await page.textContent(".anomaly-body .evidence");
    holds(
      said.includes(data.anomalies[0].graph.edges[0].why) && said.includes("line 13") && said.includes("line 23"),
      said
    );
    equal(await page.locator(".edge.lit").count(), 1, "arrows that are lit");
    await page.mouse.move(5, 5);
    equal(await page.locator(".op.lit").count(), 0, "afterwards");
    await page.context().close();
  });
  await test("moves, zooms and fits the graph by keys, and goes through it with Tab", async () => {
    const page = await open(browser, file, { hash: "#anomaly-1" });
    await frames(page);
    const home = await world(page);
    await page.locator(".anomaly-body .graph-box").focus();
    await page.keyboard.press("+");
    holds(zoomOf(await world(page)) > zoomOf(home) * 1.2, "plus");
    await page.keyboard.press("-");
    await page.keyboard.press("-");
    holds(zoomOf(await world(page)) < zoomOf(home), "minus");
    await page.keyboard.press("0");
    equal(await world(page), home, "fit");
    await page.keyboard.press("ArrowLeft");
    holds((await world(page)) !== home, "arrows");
    const reached = [];
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(() => document.activeElement.getAttribute("class").split(" ")[0]));
    }
    equal(reached, ["card", "card", "edge", "edge"], "Tab");
    holds(
      (await page.textContent(".anomaly-body .evidence")).includes(data.anomalies[0].graph.edges[1].why),
      "an arrow in focus says why"
    );
    await page.keyboard.press("Enter");
    await page.evaluate(() => document.activeElement.blur());
    equal(await page.locator(".edge.lit").count(), 1, "Enter keeps it lit");
    await page.context().close();
  });
  await test("drags cards and the canvas, and zooms by the wheel", async () => {
    const page = await open(browser, file, { hash: "#anomaly-1" });
    await frames(page);
    const card = page.locator(".anomaly-body .card").first(),
      line = page.locator(".anomaly-body .edge-line").first();
    await page.locator(".anomaly-body .graph").scrollIntoViewIfNeeded();
    const [place, path, home] = [await card.getAttribute("transform"), await line.getAttribute("d"), await world(page)];
    const drag = async (x, y) => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 30, y + 40, { steps: 4 });
      await page.mouse.up();
    };
    const box = await card.boundingBox(),
      frame = await page.locator(".anomaly-body .graph").boundingBox();
    await drag(box.x + 40, box.y + 14);
    holds((await card.getAttribute("transform")) !== place, "the card moves");
    holds((await line.getAttribute("d")) !== path, "its arrows follow");
    equal(await world(page), home, "the canvas stays");
    await drag(frame.x + 20, frame.y + frame.height - 60);
    holds((await world(page)) !== home, "the canvas moves");
    await page.mouse.move(5, 300);
    const before = zoomOf(await world(page));
    await page.mouse.move(frame.x + 300, frame.y + 100);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await frames(page);
    holds(zoomOf(await world(page)) > before, "Ctrl and the wheel");
    await page.context().close();
  });
}

async function touchTests(browser, file, test) {
  await test("zooms the graph by two fingers", async () => {
    const page = await open(browser, file, {
      hash: "#anomaly-1",
      width: 414,
      height: 800,
      hasTouch: true,
      isMobile: true,
    });
    await frames(page, 4);
    const graph = page.locator(".anomaly-body .graph");
    await graph.scrollIntoViewIfNeeded();
    const before = zoomOf(await world(page)),
      box = await graph.boundingBox(),
      client = await page.context().newCDPSession(page);
    const fingers = (apart) =>
      [-1, 1].map((side, id) => ({ id, x: box.x + box.width / 2 + side * apart, y: box.y + box.height - 24 }));
    await client.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(20) });
    for (const apart of [30, 45, 60, 80])
      await client.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: fingers(apart) });
    await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await frames(page, 3);
    const after = zoomOf(await world(page));
    holds(after > before * 1.5, `from ${before} to ${after}`);
    equal(page.complaints, [], "complaints");
    await page.context().close();
  });
}

async function listTests(browser, data, file, test) {
  await test("filters anomalies, by words and by level", async () => {
    const page = await open(browser, file);
    const shown = () =>
      page.$$eval(".anomaly-row", (all) =>
        all.filter((one) => one.checkVisibility()).map((one) => one.querySelector("a").dataset.anchor)
      );
    equal(await shown(), ["anomaly-1", "anomaly-2", "anomaly-3"], "all");
    await page.keyboard.press("/");
    await page.keyboard.type("k17");
    equal(await shown(), ["anomaly-3"], "by key");
    equal(await page.textContent(".found"), "1 of 3 anomalies", "count");
    await page.fill("#filter", "");
    await page.selectOption("#filter-level", "prefix");
    equal(await shown(), ["anomaly-2"], "by level");
    await page.context().close();
  });
  await test("opens anomalies by anchor, by click and by keys", async () => {
    const page = await open(browser, file, { hash: "#anomaly-3" });
    const at = () => page.getAttribute("#anomaly-place > article", "data-anchor");
    equal(await at(), "anomaly-3", "the address");
    await page.click('.anomaly-row a[data-anchor="anomaly-2"]');
    await frames(page);
    equal(await at(), "anomaly-2", "a click");
    holds(page.url().endsWith("#anomaly-2"), "the address follows");
    await page.keyboard.press("n");
    await frames(page);
    equal(await at(), "anomaly-3", "n");
    await page.keyboard.press("p");
    await frames(page);
    equal(await at(), "anomaly-2", "p");
    await page.goBack();
    await frames(page);
    equal(await at(), "anomaly-3", "back");
    await page.context().close();
  });
}

// How many pixels of the timeline have a colour of the style.
const pixels = (page, name) =>
  page.evaluate((property) => {
    const canvas = document.getElementById("timeline-canvas"),
      probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(property);
    probe.fillRect(0, 0, 1, 1);
    const wanted = probe.getImageData(0, 0, 1, 1).data,
      found = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let total = 0;
    for (let i = 0; i < found.length; i += 4)
      if (found[i] === wanted[0] && found[i + 1] === wanted[1] && found[i + 2] === wanted[2] && found[i + 3] === 255)
        total++;
    return total;
  }, `--${name}`);

async function timelineTests(browser, data, file, test) {
  await test("shows the whole run with aborted and unknown, and jumps to the anomaly", async () => {
    const page = await open(browser, file);
    await page.locator("#timeline").scrollIntoViewIfNeeded();
    await page.getByRole("button", { name: "Whole run" }).click();
    await frames(page, 3);
    holds((await pixels(page, "aborted")) > 50, "aborted transactions are visible");
    holds((await pixels(page, "unknown")) > 10, "unknown outcomes are visible");
    holds((await pixels(page, "committed-many")) > 1000, "narrow bars are merged");
    await page.evaluate(() => scrollTo(0, 0));
    await page.keyboard.press("t");
    await frames(page, 3);
    equal(await page.getAttribute("text=Around the anomaly", "aria-pressed"), "true", "around the anomaly");
    holds((await pixels(page, "committed")) > 1000, "bars are wide");
    holds((await pixels(page, "ink")) > 200, "the transactions of the anomaly are framed");
    equal(await page.evaluate(() => document.activeElement.id), "timeline-canvas", "the focus follows");
    await page.keyboard.press(".");
    const told = await page.textContent(".tip");
    holds(told.startsWith("s1t4"), `begins with the anomaly, not with ${told}`);
    await page.keyboard.press(".");
    holds((await page.textContent(".tip")).startsWith("s1t5"), "the next of the session");
    await page.keyboard.press(",");
    await page.keyboard.press(",");
    holds((await page.textContent(".tip")).startsWith("s1t3"), "the one before");
    await page.context().close();
  });
  await test("names the transaction under the pointer, and follows the anomaly that is opened", async () => {
    const page = await open(browser, file);
    const canvas = page.locator("#timeline-canvas");
    await page.getByRole("button", { name: "Whole run" }).click();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 500, box.y + 30);
    await frames(page);
    holds(/^s1t\d+, /.test(await page.textContent(".tip")), "the second row is session 1");
    await page.evaluate(() => (location.hash = "anomaly-3"));
    await frames(page, 3);
    await page.click("#timeline-text summary");
    await frames(page, 3);
    holds((await page.textContent("#timeline-text")).includes("s1t3"), "the table has the new anomaly");
    await page.context().close();
  });
  await test("places transactions by number where there are no times", async () => {
    const { sample } = require("./sample.js"),
      { writeReport } = require("./browser.js");
    const page = await open(browser, writeReport(sample({ timed: false })));
    await frames(page, 3);
    holds((await page.textContent("#timeline")).includes("no times"), "it says so");
    holds((await pixels(page, "committed")) > 1000, "bars are there");
    equal(await page.locator("#rates").isVisible(), false, "no charts");
    await page.context().close();
  });
  await test("draws throughput and latency with faults shaded", async () => {
    const page = await open(browser, file);
    equal(await page.locator(".chart").count(), 2, "charts");
    equal(await page.locator(".chart .faults rect").count(), 2 * data.faults.length, "shades");
    equal(
      await page.$$eval(".chart .line", (all) => all.map((one) => one.getAttribute("class").split("line-")[1])),
      ["committed", "aborted", "unknown", "p50", "p95", "p99", "max"],
      "lines"
    );
    await page.locator(".chart").nth(1).focus();
    await page.keyboard.press("ArrowRight");
    holds(/median .*slowest/.test(await page.textContent(".chart-figure:nth-child(2) .reading")), "figures by key");
    equal(await page.locator(".bars li").count(), data.aborts.length, "classes of aborts");
    holds((await page.textContent(".command")).includes("isoproof test --db=sim: --seed=42"), "the command line");
    await page.context().close();
  });
}

async function looking(browser, data, file, test) {
  await graphTests(browser, data, file, test);
  await touchTests(browser, file, test);
  await listTests(browser, data, file, test);
  await timelineTests(browser, data, file, test);
}

module.exports = { looking };
