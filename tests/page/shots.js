// The pictures of the documentation, from one report: node shots.js REPORT DIRECTORY
"use strict";

const path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT_CORE);

async function main() {
  const [report, directory] = process.argv.slice(2);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
  const open = async (colorScheme, height) => {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme });
    await page.goto(`file://${report}`);
    await page.waitForSelector("html[data-ready]");
    await page.waitForTimeout(500);
    return page;
  };
  const file = (name) => path.join(directory, name);
  const first = await open("light", 790);
  await first.screenshot({ path: file("report.png") });
  await first.locator(".case .tag").first().hover();
  await first.locator(".cases").screenshot({ path: file("report-cases.png") });
  const dark = await open("dark", 900);
  await dark.locator("#timeline").screenshot({ path: file("report-timeline.png") });
  await browser.close();
}

main();
