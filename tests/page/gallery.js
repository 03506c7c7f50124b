// Pictures of every page: node gallery.js PROGRAM DIRECTORY [WORD...]; run by tests/page/gallery.
"use strict";

const path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT_CORE);
const { makePages, makeServed } = require("./pages.js");

const SIZES = [
  [400, 860],
  [800, 900],
  [1400, 900],
];

async function main() {
  const [program, directory, ...words] = process.argv.slice(2);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
  const wanted = (name) => words.length === 0 || words.some((word) => name.includes(word));
  const pages = makePages(program, process.env.PAGE_WORK).map(([name, file]) => [name, `file://${file}`]),
    served = makeServed(program, process.env.PAGE_WORK);
  const [runs, none] = [await served[0].url, await served[1].url];
  pages.push(["serve", runs], ["serve-none", none], ["compare", runs]);
  for (const [name, url] of pages.filter(([name]) => wanted(name)))
    for (const [width, height] of SIZES)
      for (const colorScheme of ["light", "dark"]) {
        const page = await browser.newPage({ viewport: { width, height }, colorScheme });
        await page.goto(url);
        if (name === "compare") await page.locator("a[href^='/compare/']").first().click();
        await page.waitForTimeout(400);
        const file = (part) => path.join(directory, `${name}-${width}-${colorScheme}${part}.png`);
        await page.screenshot({ path: file("") });
        await page.screenshot({ path: file("-whole"), fullPage: true });
        await page.close();
      }
  for (const one of served) one.stop();
  await browser.close();
}

main();
