// Keys that work everywhere on the page, and the list of all keys.

const KEY_HELP = [
  [
    "Everywhere",
    [
      ["n, p", "next, previous anomaly"],
      ["/", "filter the anomalies"],
      ["t", "the anomaly in the timeline"],
      ["d", "dark or light"],
      ["?", "this list"],
    ],
  ],
  [
    "In a graph",
    [
      ["Tab", "through cards and arrows"],
      ["arrows", "move the drawing"],
      ["Shift + arrows", "move the card"],
      ["+ \u2212 0", "zoom in, out, fit"],
      ["Enter", "keep an arrow lit"],
      ["Esc", "let go"],
    ],
  ],
  [
    "In the timeline",
    [
      ["arrows", "move in time and through sessions"],
      ["+ \u2212", "zoom"],
      ["0", "whole run"],
      ["a", "around the anomaly"],
      [", .", "previous, next transaction"],
      ["Home, End", "start, end of the run"],
    ],
  ],
];

function keyDialog() {
  const dialog = byId("keys-dialog");
  add(dialog, [
    el("h2", { id: "keys-title" }, "Keys"),
    el(
      "div",
      { class: "key-row" },
      KEY_HELP.map(([where, keys]) =>
        el(
          "section",
          {},
          el("h3", {}, where),
          el(
            "dl",
            {},
            keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])
          )
        )
      )
    ),
    el(
      "p",
      { class: "reading" },
      "With a mouse: drag a card or the canvas; Ctrl and the wheel zoom, the wheel alone once the drawing was clicked."
    ),
    button("Close", () => dialog.close()),
  ]);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  byId("keys-button").addEventListener("click", () => dialog.showModal());
  return dialog;
}

function startKeys() {
  const dialog = keyDialog();
  const actions = {
    n: () => report && stepAnomaly(report, 1),
    p: () => report && stepAnomaly(report, -1),
    d: () => byId("theme-button").click(),
    "?": () => dialog.showModal(),
    "/": () => byId("filter") && byId("filter").focus(),
    t: () => {
      if (!report || !report.timeline) return;
      byId("timeline").scrollIntoView({ block: "start" });
      jumpToAnomaly(openAnomaly);
    },
  };
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (event.target.closest && event.target.closest("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  });
}
