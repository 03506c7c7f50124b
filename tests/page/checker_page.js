// The page that checks, as the tests use it: opened, given histories, read; and what the program says of the same histories.
"use strict";

const { spawnSync } = require("child_process");
const path = require("path");

const root = path.join(__dirname, "../..");
const work = process.env.PAGE_WORK;
const FAR = 6000000; // milliseconds, for whatever must come

// Runs the program in a folder; a verdict is no failure.  Returns { code, out, err }.
function call(program, args, folder = work) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
  return { code: status, out: stdout, err: String(stderr) };
}

async function openChecker({ browser }, { width = 1280, height = 860 } = {}) {
  const context = await browser.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  page.setDefaultTimeout(FAR);
  page.complaints = [];
  page.requests = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("request", (request) => page.requests.push(request.url()));
  await page.goto(`file://${process.env.CHECKER}`);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  // What is saved is kept here as well: browsers under test have no folder for downloads.
  await page.evaluate(() => {
    const before = URL.createObjectURL.bind(URL);
    window.saved = [];
    URL.createObjectURL = (blob) => {
      window.saved.push(blob);
      return before(blob);
    };
  });
  return page;
}

// Waits until a function is true in the page.  The page's policy forbids what playwright has for that.
async function until(page, condition, argument) {
  for (const begun = Date.now(); !(await page.evaluate(condition, argument)); ) {
    if (Date.now() - begun > FAR) throw new Error(`this never came true: ${condition}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

const results = (page) => page.evaluate(() => Number(document.documentElement.dataset.result || 0));

// Waits for the next result or a complaint; returns the complaint, "" where there is a result.
async function outcome(page, before) {
  await until(
    page,
    (seen) =>
      Number(document.documentElement.dataset.result || 0) > seen || !document.getElementById("check-trouble").hidden,
    before
  );
  return (await results(page)) > before ? "" : page.textContent("#check-trouble");
}

async function doing(page, action) {
  const before = await results(page);
  await page.evaluate(() => (document.getElementById("check-trouble").hidden = true));
  await action();
  return outcome(page, before);
}

const choose = (page, files) => doing(page, () => page.setInputFiles("#file-input", files));

// Drops bytes as a file manager would drop a file.
const drop = (page, name, bytes) =>
  doing(page, () =>
    page.evaluate(
      ([title, text]) => {
        const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)),
          transfer = new DataTransfer();
        transfer.items.add(new File([data], title));
        const event = (type) => new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true });
        document.getElementById("drop").dispatchEvent(event("dragover"));
        document.getElementById("drop").dispatchEvent(event("drop"));
      },
      [name, Buffer.from(bytes).toString("base64")]
    )
  );

// What a button saves, as bytes.
async function saved(page, output) {
  await page.evaluate(() => (window.saved.length = 0));
  await page.click(`#save-${output}`);
  await until(page, () => window.saved.length > 0);
  const text = await page.evaluate(async () => {
    const bytes = new Uint8Array(await window.saved[0].arrayBuffer());
    let raw = "";
    for (let at = 0; at < bytes.length; at += 32768) raw += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(raw);
  });
  return Buffer.from(text, "base64");
}

// The JSON of a result without what differs from run to run.
function steady(text) {
  const result = JSON.parse(text);
  for (const name of ["load_seconds", "check_seconds", "peak_bytes", "seconds", "memory"]) delete result[name];
  delete result.stats;
  return result;
}

const judged = (program, file, args = []) =>
  steady(call(program, ["check", "--json", "--jobs=1", ...args, path.basename(file)], path.dirname(file)).out);

module.exports = { call, choose, doing, drop, judged, openChecker, outcome, results, root, saved, steady, until, work };
