// The list of past runs: sorting, filtering, and choosing two to compare.  Without it the list is there, newest first.
"use strict";

const table = document.querySelector(".runs table");

function sortBy(column, heads) {
  const head = heads[column],
    down = head.getAttribute("aria-sort") === "ascending",
    body = table.tBodies[0];
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => row.cells[column].dataset.sort || row.cells[column].textContent.trim();
  const numeric = head.classList.contains("number");
  const rows = [...body.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    // What has no value comes last, whichever way one sorts.
    if (x === "" || y === "") return (x === "") - (y === "");
    const order = numeric ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
    return down ? -order : order;
  });
  body.append(...rows);
}

function startSorting() {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.dataset.fixed !== undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(column, heads));
  });
  return heads;
}

// Where the table became cards its headings are gone: a list of them instead.
function startSortingCards(tools, heads) {
  const label = document.createElement("label"),
    select = document.createElement("select");
  label.className = "for-cards";
  label.append("Sort by ", select);
  heads.forEach((head, column) => {
    if (head.dataset.fixed === undefined) select.add(new Option(head.textContent, String(column)));
  });
  select.addEventListener("change", () => {
    heads[select.value].removeAttribute("aria-sort");
    sortBy(Number(select.value), heads);
  });
  tools.append(label);
}

function startFilter(tools) {
  const label = document.createElement("label"),
    input = document.createElement("input"),
    found = document.createElement("span");
  label.append("Filter");
  label.htmlFor = input.id = "filter";
  input.type = "search";
  input.placeholder = "database, level, verdict, anomaly";
  found.className = "quiet";
  found.setAttribute("role", "status");
  const update = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown++;
    }
    const all = table.tBodies[0].rows.length;
    found.textContent = shown === all ? `${all} ${all === 1 ? "run" : "runs"}` : `${shown} of ${all} runs`;
  };
  input.addEventListener("input", update);
  tools.append(label, input, found);
  update();
}

// Two boxes at most: choosing a third lets go of the first.
function startComparing(tools) {
  const button = document.createElement("button"),
    chosen = [];
  button.type = "button";
  const update = () => {
    button.disabled = chosen.length !== 2;
    button.textContent = chosen.length === 2 ? "Compare these two" : "Choose two to compare";
  };
  for (const box of document.querySelectorAll(".pick input")) {
    box.hidden = false;
    box.addEventListener("change", () => {
      const at = chosen.indexOf(box);
      if (at >= 0) chosen.splice(at, 1);
      else chosen.push(box);
      if (chosen.length > 2) chosen.shift().checked = false;
      update();
    });
  }
  button.addEventListener("click", () => {
    if (chosen.length === 2) location.href = `/compare/${chosen[0].value}with/${chosen[1].value}`;
  });
  update();
  tools.append(button);
}

if (table) {
  const tools = document.querySelector(".tools");
  tools.hidden = false;
  const heads = startSorting();
  startFilter(tools);
  startSortingCards(tools, heads);
  startComparing(tools);
}
