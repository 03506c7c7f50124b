/* section.c - the databases and workloads of a plan, with the options that they say. */
#include <isoproof/workload.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "plan/plan.h"

isoproof_status iso_plan_fail(const isoproof_plan *plan, const iso_toml_node *node, isoproof_error *error,
                              const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, iso_toml_place(&plan->document, node), "%s", text);
}

/* ---- lists of names ---- */

static char folded(char c) {
  if (c == '-' || c == '_') return ' ';
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(const char *a, const char *b) {
  while (*a != '\0' && folded(*a) == folded(*b)) a++, b++;
  return *a == '\0' && *b == '\0';
}

bool iso_plan_list_has(const iso_toml_node *list, const char *name) {
  if (list == NULL) return true;
  for (const iso_toml_node *one = list->first; one != NULL; one = one->next)
    if (same_name(one->text, name)) return true;
  return false;
}

static isoproof_status check_names(const isoproof_plan *plan, const iso_toml_node *list, isoproof_error *error) {
  if (list->kind != ISO_TOML_ARRAY)
    return iso_plan_fail(plan, list, error, "%s: expected an array of names, found %s", list->key,
                         iso_toml_kind_name(list->kind));
  for (const iso_toml_node *one = list->first; one != NULL; one = one->next)
    if (one->kind != ISO_TOML_STRING || one->length == 0 || strlen(one->text) != one->length)
      return iso_plan_fail(plan, one, error, "%s: expected names in quotes, found %s", list->key,
                           one->kind == ISO_TOML_STRING ? "an empty one" : iso_toml_kind_name(one->kind));
  return ISOPROOF_OK;
}

/* ---- options ---- */

static isoproof_status join(isoproof_plan *plan, const iso_toml_node *array, const char **out, isoproof_error *error) {
  iso_words words = {.text = NULL};
  isoproof_status status = ISOPROOF_OK;
  for (const iso_toml_node *one = array->first; one != NULL && status == ISOPROOF_OK; one = one->next) {
    const char *text = "";
    bool scalar = one->kind == ISO_TOML_STRING || one->kind == ISO_TOML_INTEGER || one->kind == ISO_TOML_FLOAT;
    status = scalar ? iso_plan_expand(plan, one, &text, error)
                    : iso_plan_fail(plan, one, error, "%s: expected texts and numbers, found %s", array->key,
                                    iso_toml_kind_name(one->kind));
    if (status == ISOPROOF_OK) iso_words_add(&words, "%s%s", one == array->first ? "" : ",", text);
  }
  if (status == ISOPROOF_OK && words.failed) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    *out = iso_arena_text(&plan->document.arena, words.text != NULL ? words.text : "", words.length);
    if (*out == NULL) status = iso_fail_memory(error);
  }
  iso_words_free(&words);
  return status;
}

/* What is no key of the plan is an option, by its name. */
static isoproof_status add_option(isoproof_plan *plan, iso_plan_options *options, const char *name,
                                  const iso_toml_node *node, isoproof_error *error) {
  iso_plan_option made = {.name = name, .node = node};
  if (strlen(node->key) != node->key_length) return iso_plan_fail(plan, node, error, "expected a key without NUL");
  switch (node->kind) {
  case ISO_TOML_BOOLEAN:
    made.on = node->on;
    break;
  case ISO_TOML_ARRAY:
    ISO_TRY(join(plan, node, &made.value, error));
    break;
  case ISO_TOML_STRING:
  case ISO_TOML_INTEGER:
  case ISO_TOML_FLOAT:
    ISO_TRY(iso_plan_expand(plan, node, &made.value, error));
    break;
  case ISO_TOML_TABLE:
  case ISO_TOML_DATETIME:
    return iso_plan_fail(plan, node, error, "%s: expected a text, a number, true, false or a list, found %s", node->key,
                         iso_toml_kind_name(node->kind));
  }
  return iso_vec_push(options, made) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- sections ---- */

/* Keys of sections and of the plan itself that are no options; the URL is one under another name. */
enum { TOP_KEYS = 7 };
static const char *const keys[] = {"budget", "databases", "workloads", "scripts", "options",
                                   "levels", "expect",    "url",       "script",  "cluster"};

const char *isoproof_plan_key_at(size_t number) { return number < sizeof keys / sizeof *keys ? keys[number] : NULL; }

/* Which key leads to the others: "workloads" of a database, "databases" of a workload. */
static isoproof_status read_key(isoproof_plan *plan, iso_plan_section *section, const char *others,
                                const iso_toml_node *node, isoproof_error *error) {
  bool is_levels = strcmp(node->key, "levels") == 0, is_others = strcmp(node->key, others) == 0;
  if (is_levels || is_others) {
    *(is_levels ? &section->levels : &section->others) = node;
    return check_names(plan, node, error);
  }
  if (strcmp(node->key, "expect") == 0) {
    section->expect = node;
    return iso_plan_check_expect(plan, node, error);
  }
  return add_option(plan, &section->options, strcmp(node->key, "url") == 0 ? "db" : node->key, node, error);
}

static bool has_option(const iso_plan_section *section, const char *name) {
  for (size_t i = 0; i < section->options.count; i++)
    if (strcmp(section->options.items[i].name, name) == 0) return true;
  return false;
}

static isoproof_status read_section(isoproof_plan *plan, iso_plan_sections *sections, const char *others,
                                    const iso_toml_node *node, isoproof_error *error) {
  if (node->kind != ISO_TOML_TABLE)
    return iso_plan_fail(plan, node, error, "%s: expected a table, found %s", node->key,
                         iso_toml_kind_name(node->kind));
  if (node->key_length == 0 || strlen(node->key) != node->key_length)
    return iso_plan_fail(plan, node, error, "expected a name");
  iso_plan_section section = {.name = node->key, .node = node};
  isoproof_status status = ISOPROOF_OK;
  for (const iso_toml_node *one = node->first; one != NULL && status == ISOPROOF_OK; one = one->next)
    status = read_key(plan, &section, others, one, error);
  if (status == ISOPROOF_OK && iso_vec_push(sections, section)) return ISOPROOF_OK;
  iso_vec_free(&section.options);
  return status != ISOPROOF_OK ? status : iso_fail_memory(error);
}

static isoproof_status read_database(isoproof_plan *plan, const iso_toml_node *node, isoproof_error *error) {
  ISO_TRY(read_section(plan, &plan->databases, "workloads", node, error));
  const iso_plan_section *made = &plan->databases.items[plan->databases.count - 1];
  if (has_option(made, "db") != has_option(made, "cluster")) return ISOPROOF_OK;
  return iso_plan_fail(plan, node, error, "databases.%s: expected url = \"...\" or cluster = \"...\", found %s",
                       node->key, has_option(made, "db") ? "both" : "neither");
}

/* A workload by itself: its name says which. */
static isoproof_status add_workload(isoproof_plan *plan, iso_plan_section section, const char *option,
                                    const char *value, const iso_toml_node *node, isoproof_error *error) {
  iso_plan_option said = {.name = option, .value = value, .node = node};
  if (iso_vec_push(&section.options, said) && iso_vec_push(&plan->workloads, section)) return ISOPROOF_OK;
  iso_vec_free(&section.options);
  return iso_fail_memory(error);
}

/* [workloads.NAME]: unless it says otherwise, the workload NAME. */
static isoproof_status read_workload(isoproof_plan *plan, const iso_toml_node *node, isoproof_error *error) {
  ISO_TRY(read_section(plan, &plan->workloads, "databases", node, error));
  iso_plan_section *made = &plan->workloads.items[plan->workloads.count - 1];
  if (has_option(made, "workload") || has_option(made, "script") || has_option(made, "preset")) return ISOPROOF_OK;
  isoproof_workload_kind kind;
  if (!isoproof_workload_find(node->key, &kind))
    return iso_plan_fail(plan, node, error,
                         "workloads.%s: no workload has this name; expected workload = \"...\" or script = \"...\"",
                         node->key);
  iso_plan_option said = {.name = "workload", .value = node->key, .node = node};
  return iso_vec_push(&made->options, said) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* workloads = ["mixed"], scripts = ["bank.sql"]. */
static isoproof_status read_plain(isoproof_plan *plan, const iso_toml_node *list, const char *option,
                                  isoproof_error *error) {
  ISO_TRY(check_names(plan, list, error));
  for (const iso_toml_node *one = list->first; one != NULL; one = one->next) {
    isoproof_workload_kind kind;
    if (strcmp(option, "workload") == 0 && !isoproof_workload_find(one->text, &kind))
      return iso_plan_fail(plan, one, error, "unknown workload '%s'; 'isoproof test --help' lists them", one->text);
    const char *slash = strrchr(one->text, '/');
    iso_plan_section section = {.name = slash != NULL ? slash + 1 : one->text, .node = NULL};
    ISO_TRY(add_workload(plan, section, option, one->text, one, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status read_tables(isoproof_plan *plan, const iso_toml_node *node,
                                   isoproof_status (*read)(isoproof_plan *, const iso_toml_node *, isoproof_error *),
                                   isoproof_error *error) {
  if (node->kind != ISO_TOML_TABLE)
    return iso_plan_fail(plan, node, error, "%s: expected tables, as [%s.NAME], found %s", node->key, node->key,
                         iso_toml_kind_name(node->kind));
  for (const iso_toml_node *one = node->first; one != NULL; one = one->next) ISO_TRY(read(plan, one, error));
  return ISOPROOF_OK;
}

static isoproof_status read_options(isoproof_plan *plan, const iso_toml_node *node, isoproof_error *error) {
  if (node->kind != ISO_TOML_TABLE)
    return iso_plan_fail(plan, node, error, "options: expected a table, found %s", iso_toml_kind_name(node->kind));
  for (const iso_toml_node *one = node->first; one != NULL; one = one->next)
    ISO_TRY(add_option(plan, &plan->options, one->key, one, error));
  return ISOPROOF_OK;
}

static isoproof_status read_top(isoproof_plan *plan, const iso_toml_node *node, isoproof_error *error) {
  if (strcmp(node->key, "budget") == 0) return iso_plan_seconds(plan, node, &plan->budget, error);
  if (strcmp(node->key, "databases") == 0) return read_tables(plan, node, read_database, error);
  if (strcmp(node->key, "workloads") == 0 && node->kind == ISO_TOML_ARRAY)
    return read_plain(plan, node, "workload", error);
  if (strcmp(node->key, "workloads") == 0) return read_tables(plan, node, read_workload, error);
  if (strcmp(node->key, "scripts") == 0) return read_plain(plan, node, "script", error);
  if (strcmp(node->key, "options") == 0) return read_options(plan, node, error);
  if (strcmp(node->key, "levels") == 0) {
    plan->levels = node;
    return check_names(plan, node, error);
  }
  if (strcmp(node->key, "expect") == 0) {
    plan->expect = node;
    return iso_plan_check_expect(plan, node, error);
  }
  /* The first of the keys are those of the plan itself. */
  const char *meant = iso_plan_nearest(node->key, keys, TOP_KEYS);
  if (meant != NULL) return iso_plan_fail(plan, node, error, "unknown key '%s'; did you mean '%s'?", node->key, meant);
  return iso_plan_fail(plan, node, error,
                       "unknown key '%s'; a plan has budget, levels, expect, scripts, workloads, [databases.NAME], "
                       "[workloads.NAME] and [options]",
                       node->key);
}

isoproof_status iso_plan_read_sections(isoproof_plan *plan, isoproof_error *error) {
  for (const iso_toml_node *one = plan->document.root->first; one != NULL; one = one->next)
    ISO_TRY(read_top(plan, one, error));
  return ISOPROOF_OK;
}
