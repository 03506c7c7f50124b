// Every page at three widths in both themes: nothing is cut off, and every text stands out from what is behind it.
"use strict";

const { equal } = require("./browser.js");
const { makePages, makeServed } = require("./pages.js");

const WIDTHS = [400, 800, 1400];

// What is cut off, found in the page itself.
function findClipped(width) {
  const found = [];
  const say = (what, node) =>
    found.push(`${what}: ${node.tagName} ${node.getAttribute("class") || ""} "${node.textContent.trim().slice(0, 40)}"`);
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const visible = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const hidden = (node) => node.closest(".visually-hidden, .skip, .brand, dialog:not([open])");
  const words = "h1,h2,h3,h4,p,li,dt,dd,a,button,summary,label,input,select,th,td,.chip,.tile,svg text,svg.lattice rect";
  for (const node of document.querySelectorAll(words)) {
    if (!visible(node) || hidden(node) || node.closest(".table-wrap, .world, .scroll")) continue;
    const box = node.getBoundingClientRect();
    if (box.width > 0 && (box.left < -1 || box.right > width + 1)) say(`from ${box.left} to ${box.right}`, node);
  }
  for (const node of document.querySelectorAll("p,li,dd,dt,td,th,h1,h2,h3,.tile,.command,.notice"))
    if (visible(node) && !hidden(node) && node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0)
      if (getComputedStyle(node).display !== "inline" && getComputedStyle(node).overflowX !== "auto") say("text beyond its box", node);
  // Names within the boxes of the lattice.
  for (const level of document.querySelectorAll(".lattice-wide .level")) {
    if (!visible(level)) continue;
    const box = level.querySelector("rect").getBoundingClientRect(),
      text = level.querySelector("text").getBoundingClientRect();
    if (text.right > box.right + 1 || text.left < box.left) say("beyond its box", level);
  }
  // Cards and labels within their frame, or a hint that there is more.
  for (const frame of document.querySelectorAll(".graph-frame")) {
    const box = frame.getBoundingClientRect(),
      hint = frame.querySelector(".graph-hint");
    if (!visible(frame) || box.width === 0 || (hint && visible(hint))) continue;
    for (const part of frame.querySelectorAll(".card-back, .tag rect")) {
      const at = part.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        say("outside of the drawing", part.parentNode);
    }
  }
  return [...new Set(found)].slice(0, 6);
}

// Texts whose contrast is below what WCAG 2 asks for (AA).
function findFaint() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  const colours = new Map();
  const read = (colour) => {
    if (!colours.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(colour, [r, g, b, a / 255]);
    }
    return colours.get(colour);
  };
  const behind = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const colour = read(getComputedStyle(one).backgroundColor);
      if (colour[3] > 0.85) return colour;
    }
    return [255, 255, 255, 1];
  };
  const light = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const found = new Set();
  for (const node of document.querySelectorAll("body *:not(svg):not(svg *)")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim() !== "");
    if (!own || !node.checkVisibility() || node.disabled || node.closest(".visually-hidden, .skip, noscript")) continue;
    const style = getComputedStyle(node),
      size = parseFloat(style.fontSize),
      large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const [a, b] = [light(read(style.color)), light(behind(node))].sort((x, y) => y - x),
      ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5))
      found.add(`${ratio.toFixed(2)}: ${node.tagName} ${node.getAttribute("class") || ""} "${node.textContent.trim().slice(0, 30)}"`);
  }
  return [...found].slice(0, 6);
}

async function checkPage(browser, name, url, prepare) {
  for (const width of WIDTHS) {
    const context = await browser.newContext({ viewport: { width, height: 900 } }),
      page = await context.newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(url);
    if (prepare) await prepare(page);
    await page.evaluate(() => {
      for (const one of document.querySelectorAll(".proof-more")) one.open = true;
    });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      equal(await page.evaluate(findClipped, width), [], `cut off at ${width}, ${colorScheme}`);
      equal(await page.evaluate(findFaint), [], `faint at ${width}, ${colorScheme}`);
    }
    equal(complaints, [], "complaints");
    await context.close();
  }
}

async function clippingTests(browser, program, test) {
  const work = process.env.PAGE_WORK;
  for (const [name, file] of makePages(program, work))
    await test(`cuts nothing off at any width: ${name}`, () => checkPage(browser, name, `file://${file}`));
  const served = makeServed(program, work),
    [runs, none] = [await served[0].url, await served[1].url];
  try {
    await test("cuts nothing off at any width: the list of runs", () => checkPage(browser, "runs", runs));
    await test("cuts nothing off at any width: the list without runs", () => checkPage(browser, "none", none));
    await test("cuts nothing off at any width: two runs compared", () =>
      checkPage(browser, "compare", runs, (page) => page.locator("a[href^='/compare/']").first().click()));
    await servedTests(browser, runs, test);
  } finally {
    for (const one of served) one.stop();
  }
}

// The list of runs with a mouse and with keys.
async function servedTests(browser, url, test) {
  await test("sorts and filters runs, and compares two of them, by keys alone", async () => {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(url);
    const column = (name) =>
      page.$$eval(`td[data-name="${name}"]`, (all) =>
        all.filter((one) => one.checkVisibility()).map((one) => one.dataset.sort || one.textContent)
      );
    equal((await column("verdict")).includes("interrupted"), true, "a run that was stopped is there");
    const head = page.locator("thead th.number button").first();
    await head.focus();
    await page.keyboard.press("Enter");
    const up = (await column("transactions")).filter(Boolean).map(Number);
    equal(up, [...up].sort((a, b) => a - b), "ascending");
    await page.keyboard.press("Enter");
    const down = (await column("transactions")).filter(Boolean).map(Number);
    equal(down, [...down].sort((a, b) => b - a), "descending");
    equal(await page.locator("th[aria-sort='descending']").count(), 1, "it says so");
    await page.fill("#filter", "sqlite");
    equal(await column("verdict"), ["satisfied"], "filtered");
    await page.fill("#filter", "");
    for (const at of [0, 1]) {
      await page.locator(".pick input").nth(at).focus();
      await page.keyboard.press(" ");
    }
    await page.getByRole("button", { name: "Compare these two" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/compare\//);
    equal(await page.textContent("h1"), "Two runs compared", "the comparison");
    equal(await page.locator("tr.differs").count() > 0, true, "differences are marked");
    await page.close();
  });
  await test("lists runs without scripts", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1400, height: 900 } }),
      page = await context.newPage();
    await page.goto(url);
    equal((await page.locator("tbody tr").count()) >= 4, true, "rows");
    equal(await page.locator(".pick input").first().isVisible(), false, "no boxes that do nothing");
    await page.locator("a[href^='/compare/']").first().click();
    equal(await page.textContent("h1"), "Two runs compared", "by a link");
    await context.close();
  });
}

module.exports = { clippingTests, checkPage };
