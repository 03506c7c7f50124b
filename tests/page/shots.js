// The pictures of the documentation: node shots.js FOLDER ADDRESS DIRECTORY; run by tests/page/shots.
"use strict";

const fs = require("fs");
const path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT_CORE);

async function main() {
  const [folder, address, directory] = process.argv.slice(2);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
  const open = async (url, colorScheme, height, width = 1280) => {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.goto(url);
    await page.waitForTimeout(600);
    return page;
  };
  const report = (name) => `file://${path.join(folder, name)}`,
    file = (name) => path.join(directory, name);
  const first = await open(report("report.html"), "light", 800);
  await first.screenshot({ path: file("report.png") });
  // What the picture says, for a test to tell when it is old.
  fs.writeFileSync(file("report.txt"), (await first.evaluate(() => document.getElementById("verdict").innerText)) + "\n");
  await first.click(".proof-more summary");
  await first.waitForTimeout(400);
  await first.locator(".cases").screenshot({ path: file("report-cases.png") });
  const dark = await open(report("report.html"), "dark", 900);
  await dark.locator("#timeline").screenshot({ path: file("report-timeline.png") });
  const satisfied = await open(report("satisfied.html"), "light", 740);
  await satisfied.screenshot({ path: file("report-satisfied.png") });
  const violated = await open(report("violated.html"), "light", 800);
  await violated.screenshot({ path: file("report-postgres.png") });
  const runs = await open(address, "light", 330);
  await runs.screenshot({ path: file("serve.png") });
  await browser.close();
}

main();
