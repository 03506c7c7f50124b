// The page of a matrix and of a comparison, as `isoproof coo --as html` prints them.
"use strict";

const { execFileSync, spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { open, frames, equal, holds, write } = require("./browser.js");

const matrices = path.join(__dirname, "../../examples/matrices");
const saved = (name) => path.join(matrices, name);

// The page, whatever the exit code: 1 says that something is unexpected, or differs.
const render = (program, ...options) =>
  write(spawnSync(program, ["coo", "--as", "html", ...options], { encoding: "utf8", maxBuffer: 1 << 28 }).stdout);

// 33 cases at three levels, with names as long as they come, from one that is there: sizes of real matrices.
function largeMatrix() {
  const one = JSON.parse(fs.readFileSync(saved("galera-4.json"), "utf8"));
  const levels = ["read uncommitted", "read committed", "repeatable read", "serializable"];
  const cell = (case_, level) => case_.results[level] || case_.results["repeatable read"];
  const cases = Array.from({ length: 33 }, (_, at) => {
    const from = one.cases[at % one.cases.length];
    return {
      ...from,
      no: at + 1,
      name: at === 7 ? "R1x R2y W2x W1y C1 C2 R1x R2y W2x W1y" : `${from.name} ${at}`,
      results: Object.fromEntries(levels.map((level) => [level, cell(from, level)])),
    };
  });
  return { ...one, levels, cases };
}

function writeMatrix(matrix) {
  const file = path.join(process.env.PAGE_WORK, "matrix.json");
  fs.writeFileSync(file, JSON.stringify(matrix));
  return file;
}

async function matrixTests(browser, program, test) {
  const found = JSON.parse(fs.readFileSync(saved("galera-4.json"), "utf8"));
  await test("matrix: says first what is unexpected, and shows every cell", async () => {
    const page = await open(browser, render(program, "--from", saved("galera-4.json")));
    equal(page.complaints, [], "complaints");
    equal(page.requests, [], "requests");
    holds((await page.textContent("h1")).includes("1 anomaly that its levels forbid"), "headline");
    equal(await page.locator(".levels-list li").count(), found.levels.length, "a sentence for each level");
    const texts = await page.$$eval(".levels-list .says", (all) => all.map((one) => one.textContent));
    for (const [at, level] of found.levels.entries()) equal(texts[at], `${found.expected[level].summary}.`, level);
    equal(await page.locator("#unexpected .loud").count(), 1, "loud");
    const cells = await page.$$eval("tr.row", (rows) =>
      rows.map((row) => [...row.querySelectorAll("a.mark")].map((one) => one.firstChild.textContent[0]))
    );
    equal(
      cells,
      found.cases.map((one) => found.levels.map((level) => one.results[level].result)),
      "letters"
    );
    await page.context().close();
  });
  await test("matrix: the story of a cell has its schedule, its steps, its errors", async () => {
    const page = await open(browser, render(program, "--from", saved("postgresql-15.json")));
    const cases = JSON.parse(fs.readFileSync(saved("postgresql-15.json"), "utf8"));
    for (const [r, one] of cases.cases.entries())
      for (const [l, level] of cases.levels.entries()) {
        const cell = one.results[level],
          id = `#c${r + 1}-${l + 1}`;
        holds(!(await page.locator(id).isVisible()), `${id} is closed`);
        await page.click(`a.mark[href="${id}"]`);
        const text = await page.textContent(id);
        holds(await page.locator(id).isVisible(), `${id} is open`);
        for (const part of [one.schedule, cell.executed, ...cell.errors.flatMap((error) => [error.code, error.message])])
          holds(text.includes(part), `${id} has ${part}`);
        equal(await page.locator(`${id} .steps > li:not(.steps-head)`).count(), cell.events.length, `steps of ${id}`);
      }
    equal(await page.locator("tr.story-row:visible").count(), 1, "one story at a time");
    await page.context().close();
  });
}

async function handTests(browser, program, test) {
  await test("matrix: everything can be done without a mouse", async () => {
    const page = await open(browser, render(program, "--from", saved("postgresql-15.json")));
    await page.focus('a.mark[href="#c1-1"]');
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#c2-2", "arrows");
    await page.keyboard.press("Enter");
    holds(await page.locator("#c2-2").isVisible(), "Enter opens");
    equal(await page.getAttribute('a.mark[href="#c2-2"]', "aria-current"), "true", "the cell is marked");
    await page.keyboard.press("Escape");
    holds(!(await page.locator("#c2-2").isVisible()), "Escape closes");
    equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#c2-2", "the focus is back");
    await page.click('#only [data-only="only-anomalies"]');
    equal(await page.locator("tr.row:visible").count(), 1, "rows with an anomaly");
    await page.click("#theme-button");
    equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "theme");
    await page.context().close();
  });
  await test("matrix: works without its script", async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      reducedMotion: "reduce",
      viewport: { width: 900, height: 800 },
    });
    const page = await open(browser, render(program, "--from", saved("galera-4.json")), { context });
    await page.click('a.mark[href="#c2-1"]');
    holds(await page.locator("#c2-1").isVisible(), "the story opens");
    await page.click("#c2-1 .story-head a");
    holds(!(await page.locator("#c2-1").isVisible()), "and closes");
    holds(!(await page.locator("#theme-button").isVisible()), "no button that does nothing");
    await context.close();
  });
}

async function formTests(browser, program, test) {
  const file = writeMatrix(largeMatrix());
  for (const theme of ["light", "dark"])
    for (const width of [400, 800, 1400])
      await test(`matrix: nothing is clipped at ${width} px, ${theme}`, async () => {
        const page = await open(browser, render(program, "--from", file), { width, theme, hash: "#c8-3", reducedMotion: "reduce" });
        await frames(page, 3);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        equal(wide, 0, "pixels beyond the screen");
        const out = await page.$$eval("main *", (all) =>
          all
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 0.5)
            .map((one) => one.outerHTML.slice(0, 60))
        );
        equal(out, [], "beyond the screen");
        const top = await page.evaluate(() => document.querySelector("thead th").getBoundingClientRect().top);
        holds(top >= 0 && top < 120, `the head of the table is in sight, at ${top}`);
        await page.context().close();
      });
  await test("matrix: letters have contrast in both themes", async () => {
    for (const theme of ["light", "dark"]) {
      const page = await open(browser, render(program, "--from", file), { theme });
      const weak = await page.$$eval(".legend .mark", (all) => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const light = (colors) => {
          canvas.fillStyle = "#fff";
          for (const color of colors) {
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
          }
          const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
            const x = part / 255;
            return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const paper = getComputedStyle(document.body).backgroundColor;
        return all
          .map((one) => {
            const style = getComputedStyle(one),
              back = light([paper, style.backgroundColor]),
              front = light([paper, style.backgroundColor, style.color]);
            return [one.textContent, (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05)];
          })
          .filter(([, ratio]) => ratio < 4.5);
      });
      equal(weak, [], `less than 4.5 to 1, ${theme}`);
      await page.context().close();
    }
  });
}

async function pairTests(browser, program, test) {
  await test("comparison: shows only what differs, with both stories", async () => {
    const options = ["--from", saved("postgresql-15.json"), "--against", saved("mariadb-10.11.json")];
    const found = JSON.parse(spawnSync(program, ["coo", "--json", ...options], { encoding: "utf8" }).stdout);
    for (const width of [400, 1400]) {
      const page = await open(browser, render(program, ...options), { width, hash: "#d1" });
      equal(page.complaints, [], "complaints");
      equal(await page.locator("tr.row").count(), found.differences.length, "rows");
      equal(await page.locator("#d1 .story").count(), 2, "stories");
      const text = await page.textContent("#d1");
      for (const side of ["this", "other"]) holds(text.includes(found.differences[0][side].executed), side);
      equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, `beyond ${width} px`);
      await page.context().close();
    }
  });
  await test("matrix: shows a hostile matrix as text", async () => {
    const attack = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&\u202e";
    const matrix = JSON.parse(fs.readFileSync(saved("postgresql-15.json"), "utf8"));
    matrix.database = attack;
    for (const one of matrix.cases) {
      one.name = one.class = attack;
      for (const cell of Object.values(one.results)) {
        cell.executed = cell.cycle = cell.adya = attack;
        for (const event of cell.events) event.sql = event.step = event.value = event.message = event.code = attack;
      }
    }
    for (const level of Object.keys(matrix.expected)) matrix.expected[level].note = attack;
    const file = writeMatrix(matrix);
    for (const more of [[], ["--against", saved("mariadb-10.11.json")]]) {
      const page = await open(browser, render(program, "--from", file, ...more));
      equal(await page.evaluate(() => window.hacked), undefined, "window.hacked");
      equal(await page.locator("img").count(), 0, "elements made of data");
      equal(page.complaints, [], "complaints");
      equal(page.requests, [], "requests");
      await page.context().close();
    }
  });
  await test("hermitage: has its own table", async () => {
    const text = execFileSync(
      program,
      ["coo", "-q", "--db=sqlite:", "--suite=hermitage", "--case=8,9", "--level=immediate", "--as=html"],
      { encoding: "utf8" }
    );
    const page = await open(browser, write(text), { width: 400 });
    equal(await page.locator("table.hermitage tbody tr").count(), 1, "levels");
    equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, "beyond the screen");
    await page.context().close();
  });
}

async function cooTests(browser, program, test) {
  await matrixTests(browser, program, test);
  await handTests(browser, program, test);
  await formTests(browser, program, test);
  await pairTests(browser, program, test);
}

module.exports = { cooTests };
