// The page of a matrix is complete without this: the theme, Escape, arrow keys among the cells, and which rows are shown.

const cellsOf = (row) => [...row.querySelectorAll("a.mark")];

// The rows that can be seen, with the story of one of them left out.
const rowsSeen = () => [...document.querySelectorAll("tr.row")].filter((row) => row.offsetParent !== null);

function moveAmongCells(event) {
  const from = event.target.closest && event.target.closest("tr.row a.mark");
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!from || !step || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = rowsSeen(),
    row = from.closest("tr.row"),
    to = rows[rows.indexOf(row) + step[0]];
  const next = to && cellsOf(to)[cellsOf(row).indexOf(from) + step[1]];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// The cell whose story is shown is marked, and gets the focus back when the story is closed.
function markPicked() {
  for (const row of document.querySelectorAll("tr.picked")) row.classList.remove("picked");
  for (const link of document.querySelectorAll("a.mark[aria-current]")) link.removeAttribute("aria-current");
  const link = location.hash.length > 1 && document.querySelector(`tr.row a.mark[href="${CSS.escape ? location.hash.replace(/"/g, "") : ""}"]`);
  if (!link) return null;
  link.setAttribute("aria-current", "true");
  link.closest("tr.row").classList.add("picked");
  return link;
}

function closeStory() {
  const link = markPicked();
  if (!link) return;
  const left = scrollY;
  location.hash = "#";
  scrollTo({ top: left, behavior: "instant" });
  link.focus({ preventScroll: true });
}

function startFilter() {
  const tools = byId("only");
  if (!tools) return;
  tools.hidden = false;
  for (const button of tools.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      for (const other of tools.querySelectorAll("button")) other.setAttribute("aria-pressed", other === button);
      byId("cells").className = `matrix ${button.dataset.only}`;
    });
  }
}

document.title = `${byId("verdict-title").textContent}: isoproof`;
byId("theme-button").hidden = false;
startTheme();
startFilter();
addEventListener("hashchange", markPicked);
addEventListener("keydown", moveAmongCells);
addEventListener("keydown", (event) => event.key === "Escape" && closeStory());
markPicked();
document.documentElement.dataset.ready = "";
