// What the tests of the page share: a browser, pages that note every complaint and every request, and a count of results.
"use strict";

const fs = require("fs");
const path = require("path");
const { chromium, _bidiFirefox: firefox } = require(process.env.PLAYWRIGHT_CORE);
const { page: pageOf } = require("./sample.js");

const work = process.env.PAGE_WORK;
const template = fs.readFileSync(path.join(work, "page.html"), "utf8");

const start = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: process.getuid && process.getuid() === 0 ? ["--no-sandbox"] : [],
  });

// Firefox as it is, driven by WebDriver BiDi.
const startFirefox = () => firefox.launch({ executablePath: process.env.FIREFOX, timeout: 120000 });

let files = 0;
function write(text) {
  const file = path.join(work, `report-${++files}.html`);
  fs.writeFileSync(file, text);
  return file;
}
const writeReport = (data) => write(pageOf(data, template));

// Opens a file; whatever it says to the console and asks the network for ends up in `complaints` and `requests`.
async function open(
  browser,
  file,
  { hash = "", width = 1280, height = 860, theme = "light", context = null, ...options } = {}
) {
  const place = context || (await browser.newContext({ viewport: { width, height }, colorScheme: theme, ...options }));
  const page = await place.newPage();
  page.setDefaultTimeout(60000);
  page.complaints = [];
  page.requests = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text())
  );
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("dialog", (dialog) => {
    page.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on(
    "request",
    (request) =>
      request.url().startsWith("data:") ||
      request.url() === `file://${file}${hash}` ||
      request.url() === `file://${file}` ||
      page.requests.push(request.url())
  );
  await page.goto(`file://${file}${hash}`);
  await page.waitForSelector("html[data-ready], #verdict-title");
  return page;
}

const frames = (page, amount = 2) =>
  page.evaluate(
    (n) =>
      new Promise((done) => {
        const step = () => (n-- > 0 ? requestAnimationFrame(step) : done());
        step();
      }),
    amount
  );

const results = { passed: 0, failed: 0 };

function equal(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
}

function holds(condition, what) {
  if (!condition) throw new Error(what);
}

async function run(name, test) {
  try {
    const note = await test();
    results.passed++;
    console.log(`ok   ${name}${note ? ` (${note})` : ""}`);
  } catch (error) {
    results.failed++;
    console.log(`FAIL ${name}: ${error.message.split("\n").slice(0, 6).join("\n     ")}`);
  }
}

module.exports = { start, startFirefox, write, writeReport, open, frames, equal, holds, run, results, template };
