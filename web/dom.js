// Elements made of data.  Data enter the page as text and as attributes of known names only; no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";

// Control characters and those that reorder or hide text, as something that can be seen.
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
function plain(value) {
  if (value === null || value === undefined) return "";
  return String(value).replace(INVISIBLE, (c) => {
    const code = c.codePointAt(0);
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

function add(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
  return parent;
}

function dress(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, handler] of Object.entries(value)) node.addEventListener(type, handler);
    else node.setAttribute(name, value === true ? "" : plain(value));
  }
  return node;
}

const el = (tag, attributes, ...children) => add(dress(document.createElement(tag), attributes), children);
const svg = (tag, attributes, ...children) => add(dress(document.createElementNS(SVG, tag), attributes), children);
const byId = (id) => document.getElementById(id);

function clear(node) {
  while (node.firstChild) node.firstChild.remove();
  return node;
}

function button(label, action, attributes) {
  return el("button", { type: "button", class: "tool", ...attributes, on: { click: action } }, label);
}

// A heading with its section's name as an anchor.
function heading(id, text, note) {
  return el(
    "div",
    { class: "part-head" },
    el("h2", { id: `${id}-title` }, text),
    note && el("p", { class: "part-note" }, note)
  );
}

function details(summary, ...children) {
  return el("details", { class: "as-text" }, el("summary", {}, summary), ...children);
}

function table(caption, heads, rows) {
  return el(
    "div",
    { class: "table-wrap", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head) => el("th", { scope: "col" }, head))
        )
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell) => el("td", {}, cell))
          )
        )
      )
    )
  );
}

function cut(text, length) {
  const shown = Array.from(plain(text));
  return shown.length <= length ? shown.join("") : shown.slice(0, Math.max(1, length - 1)).join("") + "\u2026";
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// What listens to the window or to a lasting part of the page on behalf of a report listens as long as that is shown.
let lifetime = new AbortController();
const whileShown = (target, type, listener) => target.addEventListener(type, listener, { signal: lifetime.signal });

// Calls at most once per frame.
function eachFrame(action) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      action();
    });
  };
}
