// What to decide: every level, some of them, or models as Elle has them.

const fieldOf = (name) => byId("options-form").elements[name];

function choice(value, label, checked) {
  return el("label", { class: "choice" }, el("input", { type: "radio", name: "what", value, checked }), label);
}

function levelChoices(levels) {
  return el(
    "div",
    { class: "option-part", id: "option-levels", hidden: true },
    levels.map(({ id, summary }) =>
      el("label", { class: "choice", title: summary }, el("input", { type: "checkbox", name: "level", value: id }), id)
    )
  );
}

function modelChoices(models, workloads) {
  const options = (names) => names.map((name) => el("option", { value: name }, name));
  return el(
    "div",
    { class: "option-part", id: "option-models", hidden: true },
    el("label", {}, "Model ", el("select", { name: "model" }, options(models.map(({ id }) => id)))),
    el(
      "label",
      {},
      "Workload ",
      el("select", { name: "workload" }, el("option", { value: "auto" }, "found out from the history"), options(workloads))
    )
  );
}

function fillOptions(offers, changed) {
  const form = byId("options-form");
  if (form.children.length > 0) return;
  add(form, [
    el(
      "fieldset",
      {},
      el("legend", {}, "Decide"),
      choice("all", "every level", true),
      choice("levels", "these levels", false),
      choice("models", "a model, the way Elle does", false),
      levelChoices(offers.levels),
      modelChoices(offers.models, offers.workloads)
    ),
    el(
      "label",
      { class: "choice" },
      el("input", { type: "checkbox", name: "duplicates" }),
      "values may be written more than once to a key"
    ),
    el(
      "label",
      {},
      "Give up after ",
      el("input", { type: "number", name: "timeout", min: 0, step: 1, value: 0, class: "option-number" }),
      " seconds (0: never)"
    ),
    el("button", { type: "submit", class: "tool", id: "check-again", hidden: true }, "Check again"),
  ]);
  fieldOf("model").value = "strict-serializable";
  form.addEventListener("change", () => {
    byId("option-levels").hidden = fieldOf("what").value !== "levels";
    byId("option-models").hidden = fieldOf("what").value !== "models";
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
}

// Throws with words for the reader where they do not fit together.
function chosenOptions() {
  const form = byId("options-form");
  if (form.children.length === 0) return {};
  const what = fieldOf("what").value,
    timeout = Number(fieldOf("timeout").value);
  if (!(timeout >= 0)) throw new Error("The time limit must be a number of seconds.");
  const options = { duplicates: fieldOf("duplicates").checked, timeout };
  if (what === "levels") {
    options.levels = [...form.querySelectorAll("input[name=level]:checked")].map((box) => box.value);
    if (options.levels.length === 0) throw new Error("Choose a level, or let every level be decided.");
  }
  if (what === "models") Object.assign(options, { models: [fieldOf("model").value], workload: fieldOf("workload").value });
  return options;
}
