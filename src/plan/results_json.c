/* results_json.c - a table of outcomes as JSON, and back. */
#include <isoproof/json.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/words.h"
#include "plan/results.h"
#include "report/document/json_tree.h"

/* ---- writing ---- */

static void text(isoproof_json *j, const char *name, const char *value) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, value);
}

static void count(isoproof_json *j, const char *name, uint64_t value) {
  isoproof_json_name(j, name);
  isoproof_json_u64(j, value);
}

static void number(isoproof_json *j, const char *name, double value) {
  isoproof_json_name(j, name);
  isoproof_json_number(j, value);
}

static const char *wanted_name(isoproof_verdict wanted) {
  return wanted == ISOPROOF_VERDICT_NONE ? "any" : isoproof_verdict_name(wanted);
}

static void put_row(isoproof_json *j, const isoproof_plan_outcome *o) {
  isoproof_json_object(j);
  text(j, "database", o->database);
  text(j, "isolation", o->isolation[0] != '\0' ? o->isolation : NULL);
  text(j, "workload", o->workload);
  text(j, "expected", o->expected);
  text(j, "wanted", wanted_name(o->wanted));
  text(j, "verdict", o->rounds > 0 || o->verdict != ISOPROOF_VERDICT_NONE ? isoproof_verdict_name(o->verdict) : NULL);
  text(j, "means", iso_plan_meaning_name(iso_plan_meaning_of(o)));
  text(j, "anomalies", o->anomalies);
  text(j, "strongest", o->strongest);
  text(j, "problem", o->problem);
  text(j, "product", o->product);
  text(j, "folder", o->folder);
  count(j, "rounds", o->rounds);
  count(j, "committed", o->committed);
  count(j, "aborted", o->aborted);
  count(j, "unknown", o->unknown);
  number(j, "seconds", o->seconds);
  isoproof_json_name(j, "latency_ms");
  isoproof_json_object(j);
  number(j, "p50", o->p50_ms);
  number(j, "p99", o->p99_ms);
  number(j, "max", o->max_ms);
  isoproof_json_end(j);
  isoproof_json_end(j);
}

isoproof_status isoproof_plan_results_write_json(const isoproof_plan_results *results, isoproof_write_fn write,
                                                 void *user, isoproof_error *error) {
  isoproof_json *j;
  size_t counts[ISO_PLAN_MEANINGS];
  iso_plan_count(results, counts);
  ISO_TRY(isoproof_json_open(write, user, &j, error));
  isoproof_json_object(j);
  count(j, "schema", 1);
  text(j, "plan", results->title);
  isoproof_json_name(j, "seconds");
  if (results->seconds >= 0)
    isoproof_json_number(j, results->seconds);
  else
    isoproof_json_null(j);
  isoproof_json_name(j, "counts");
  isoproof_json_object(j);
  for (int i = 0; i < ISO_PLAN_MEANINGS; i++) count(j, iso_plan_meaning_name((iso_plan_meaning)i), counts[i]);
  isoproof_json_end(j);
  isoproof_json_name(j, "cells");
  isoproof_json_list(j);
  for (size_t i = 0; i < results->rows.count; i++) put_row(j, &results->rows.items[i]);
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  return isoproof_json_close(j, error);
}

/* ---- reading ---- */

static const char *text_of(const iso_json *tree, const char *name) {
  const iso_json *found = iso_json_find(tree, name);
  return found != NULL && found->type == ISO_TREE_TEXT ? found->text : NULL;
}

static isoproof_verdict verdict_of(const char *name) {
  static const isoproof_verdict all[] = {ISOPROOF_SATISFIED, ISOPROOF_VIOLATED, ISOPROOF_UNDECIDED};
  for (size_t i = 0; name != NULL && i < sizeof all / sizeof *all; i++)
    if (strcmp(isoproof_verdict_name(all[i]), name) == 0) return all[i];
  return ISOPROOF_VERDICT_NONE;
}

static void read_figures(const iso_json *tree, isoproof_plan_outcome *row) {
  const iso_json *latency = iso_json_find(tree, "latency_ms");
  (void)iso_json_u64(iso_json_find(tree, "committed"), &row->committed);
  (void)iso_json_u64(iso_json_find(tree, "aborted"), &row->aborted);
  (void)iso_json_u64(iso_json_find(tree, "unknown"), &row->unknown);
  (void)iso_json_number(iso_json_find(tree, "seconds"), &row->seconds);
  (void)iso_json_number(iso_json_find(latency, "p50"), &row->p50_ms);
  (void)iso_json_number(iso_json_find(latency, "p99"), &row->p99_ms);
  (void)iso_json_number(iso_json_find(latency, "max"), &row->max_ms);
}

static isoproof_status add_row(isoproof_plan_results *results, isoproof_plan_outcome row, isoproof_error *error) {
  if (row.database == NULL) row.database = "";
  if (row.isolation == NULL) row.isolation = "";
  if (row.workload == NULL) row.workload = "";
  return isoproof_plan_results_set(results, results->rows.count, &row, error);
}

static isoproof_status read_cell(isoproof_plan_results *results, const iso_json *tree, isoproof_error *error) {
  isoproof_plan_outcome row = {.struct_size = sizeof row,
                               .database = text_of(tree, "database"),
                               .isolation = text_of(tree, "isolation"),
                               .workload = text_of(tree, "workload"),
                               .expected = text_of(tree, "expected"),
                               .wanted = verdict_of(text_of(tree, "wanted")),
                               .verdict = verdict_of(text_of(tree, "verdict")),
                               .problem = text_of(tree, "problem"),
                               .product = text_of(tree, "product"),
                               .anomalies = text_of(tree, "anomalies"),
                               .strongest = text_of(tree, "strongest"),
                               .folder = text_of(tree, "folder")};
  (void)iso_json_u64(iso_json_find(tree, "rounds"), &row.rounds);
  read_figures(tree, &row);
  return add_row(results, row, error);
}

/* What is gathered of an object, field by field: anomalies may be more than a tree should hold. */
typedef struct reading {
  iso_tokenizer tokens;
  iso_arena arena; /* of the small fields */
  iso_arena scratch;
  isoproof_plan_results *results;
  const iso_json *title, *verdict, *run, *facts, *asked, *strongest;
  uint64_t schema;
  double seconds;
  bool is_table;
  iso_words anomalies; /* their names, each once */
} reading;

static bool has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at != NULL && (at = strstr(at, word)) != NULL; at++)
    if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0')) return true;
  return false;
}

static isoproof_status take_element(reading *r, const iso_json *tree, isoproof_error *error) {
  if (r->is_table) return read_cell(r->results, tree, error);
  const char *name = text_of(tree, "name");
  if (name != NULL && !has_word(r->anomalies.text, name))
    iso_words_add(&r->anomalies, "%s%s", r->anomalies.length > 0 ? ", " : "", name);
  return r->anomalies.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

static isoproof_status read_elements(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->tokens;
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list");
  for (;;) {
    iso_json *tree;
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    iso_arena_free(&r->scratch);
    ISO_TRY(iso_json_read(t, &r->scratch, &tree, error));
    ISO_TRY(take_element(r, tree, error));
  }
}

static isoproof_status read_field(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->tokens;
  enum { CELLS, ANOMALIES, SCHEMA, SECONDS, PLAN, VERDICT, RUN, FACTS, ASKED, STRONGEST, FIELDS };
  static const char *const names[FIELDS] = {"cells",   "anomalies", "schema", "seconds", "plan",
                                            "verdict", "run",       "facts",  "asked",   "strongest"};
  const iso_json **places[FIELDS] = {[PLAN] = &r->title,  [VERDICT] = &r->verdict, [RUN] = &r->run,
                                     [FACTS] = &r->facts, [ASKED] = &r->asked,     [STRONGEST] = &r->strongest};
  int field = 0;
  while (field < FIELDS && !iso_token_is_n(t, names[field], strlen(names[field]))) field++;
  ISO_TRY(iso_json_next(t));
  if (field == FIELDS) return iso_token_skip(t);
  if (field == CELLS || field == ANOMALIES) {
    r->is_table = field == CELLS;
    return read_elements(r, error);
  }
  iso_json *tree;
  ISO_TRY(iso_json_read(t, &r->arena, &tree, error));
  if (field == SCHEMA) (void)iso_json_u64(tree, &r->schema);
  if (field == SECONDS) (void)iso_json_number(tree, &r->seconds);
  if (places[field] != NULL) *places[field] = tree;
  return ISOPROOF_OK;
}

static const char *as_text(const iso_json *tree) {
  return tree != NULL && tree->type == ISO_TREE_TEXT ? tree->text : NULL;
}

static isoproof_status list_texts(const iso_json *list, iso_words *words, isoproof_error *error) {
  for (const iso_json *one = list != NULL ? list->first : NULL; one != NULL; one = one->next)
    if (one->type == ISO_TREE_TEXT) iso_words_add(words, "%s%s", words->length > 0 ? ", " : "", one->text);
  return words->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

/* A single test, or a check: one cell, whose name is the product. */
static isoproof_status add_single(reading *r, isoproof_error *error) {
  iso_words strongest = {.text = NULL};
  isoproof_status status = list_texts(r->strongest, &strongest, error);
  isoproof_plan_outcome row = {.struct_size = sizeof row,
                               .database = text_of(r->run, "database"),
                               .isolation = text_of(r->run, "isolation"),
                               .workload = text_of(r->facts, "workload"),
                               .expected = r->asked != NULL ? as_text(r->asked->first) : NULL,
                               .wanted = ISOPROOF_SATISFIED,
                               .verdict = verdict_of(as_text(r->verdict)),
                               .product = text_of(r->run, "database"),
                               .anomalies = r->anomalies.text,
                               .strongest = strongest.text,
                               .rounds = 1};
  if (r->run != NULL) read_figures(r->run, &row);
  if (status == ISOPROOF_OK) status = add_row(r->results, row, error);
  iso_words_free(&strongest);
  return status;
}

static isoproof_status read_object(reading *r, const char *path, isoproof_error *error) {
  static const char what[] = "the result of a test or a plan (result.json, plan.json)";
  iso_tokenizer *t = &r->tokens;
  ISO_TRY(iso_json_next(t));
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, what);
  iso_place place = iso_token_place(t);
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) break;
    ISO_TRY(read_field(r, error));
  }
  bool single = !r->is_table && as_text(r->verdict) != NULL;
  if (r->schema != 1 || (!r->is_table && !single))
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "expected %s, found another object", what);
  const char *title = r->is_table && as_text(r->title) != NULL ? r->title->text : path;
  r->results->title = iso_arena_text(&r->results->arena, title, strlen(title));
  r->results->seconds = r->seconds;
  if (r->results->title == NULL) return iso_fail_memory(error);
  return single ? add_single(r, error) : ISOPROOF_OK;
}

static isoproof_status read_input(iso_input *input, const char *path, isoproof_plan_results *results,
                                  isoproof_error *error) {
  reading r = {.arena = ISO_ARENA_EMPTY, .scratch = ISO_ARENA_EMPTY, .results = results, .seconds = -1};
  ISO_TRY(iso_tokenizer_init(&r.tokens, input, ISO_TOKEN_DIALECT_JSON, error));
  isoproof_status status = read_object(&r, path, error);
  iso_tokenizer_free(&r.tokens);
  iso_arena_free(&r.arena);
  iso_arena_free(&r.scratch);
  iso_words_free(&r.anomalies);
  return status;
}

static isoproof_status read_file(const char *path, isoproof_plan_results **results, isoproof_error *error) {
  iso_input *input = NULL;
  ISO_TRY(iso_input_open(path, &input, error));
  isoproof_status status = isoproof_plan_results_new(NULL, "", results, error);
  if (status == ISOPROOF_OK) status = read_input(input, path, *results, error);
  iso_input_close(input);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  isoproof_plan_results_free(*results);
  *results = NULL;
  return status;
}

isoproof_status isoproof_plan_results_read(const char *path, isoproof_plan_results **results, isoproof_error *error) {
  static const char *const names[] = {"plan.json", "result.json"};
  struct stat about;
  *results = NULL;
  if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) return read_file(path, results, error);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    iso_words file = {.text = NULL};
    iso_words_add(&file, "%s/%s", path, names[i]);
    bool there = !file.failed && access(file.text, F_OK) == 0;
    isoproof_status status = there ? read_file(file.text, results, error) : ISOPROOF_OK;
    iso_words_free(&file);
    if (there) return status;
  }
  return iso_fail_at(error, ISOPROOF_ERR_IO, (iso_place){path, 0, 0, -1},
                     "expected plan.json or result.json in the folder, found neither");
}
