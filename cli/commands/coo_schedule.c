/* coo_schedule.c - `isoproof coo --schedule`: what a schedule is, by every name that people have for it. */
#include <isoproof/check.h>
#include <isoproof/level.h>
#include <string.h>

#include "cli/commands/coo.h"

enum { HEADING = 14, MODELS_MOST = 64, MEANING_LEAST = 24 };

/* Everything known about a schedule; each handle may be NULL. */
typedef struct story {
  isoproof_schedule *schedule;
  isoproof_pop_graph *graph;
  isoproof_history *history;
  isoproof_result *result;
  unsigned width; /* of the terminal */
} story;

void coo_class(isoproof_coo_class kind, isoproof_coo_size size, char out[8]) {
  snprintf(out, 8, "%s-%c", isoproof_coo_class_name(kind), isoproof_coo_size_name(size)[0]);
}

static void free_story(story *s) {
  isoproof_result_free(s->result);
  isoproof_history_free(s->history);
  isoproof_pop_graph_free(s->graph);
  isoproof_schedule_free(s->schedule);
}

static isoproof_status learn(story *s, const char *text, isoproof_error *error) {
  isoproof_status status = isoproof_schedule_parse(text, &s->schedule, error);
  if (status == ISOPROOF_OK) status = isoproof_pop_graph_new(s->schedule, &s->graph, error);
  if (status == ISOPROOF_OK) status = isoproof_schedule_history(s->schedule, &s->history, error);
  if (status == ISOPROOF_OK) status = isoproof_check(s->history, NULL, NULL, &s->result, error);
  return status;
}

/* The steps of a POP as text: "W2y C2 R1y". */
static void pop_steps(const story *s, const isoproof_pop *pop, char *out, size_t size) {
  char from[ISOPROOF_STEP_TEXT_BYTES], to[ISOPROOF_STEP_TEXT_BYTES], between[16] = "";
  isoproof_schedule_step_format(s->schedule, pop->from_step, from, sizeof from);
  isoproof_schedule_step_format(s->schedule, pop->to_step, to, sizeof to);
  if (pop->kind == ISOPROOF_POP_WCR || pop->kind == ISOPROOF_POP_WCW || pop->kind == ISOPROOF_POP_RCW) {
    snprintf(between, sizeof between, "C%u ", isoproof_schedule_txn_label(s->schedule, pop->from));
  }
  snprintf(out, size, "%s %s%s", from, between, to);
}

/* ---- text ---- */

static void heading(const char *text) { printf("  %-*s", HEADING, text); }

/* The rest of a line after its heading, wrapped. */
static void put_rest(const story *s, const char *text) {
  print_wrapped(stdout, text, HEADING + 2, HEADING + 2, s->width);
  putchar('\n');
}

/* A POP with its meaning: beside it, or below where there is no room. */
static void print_pop(const story *s, const isoproof_pop *pop, unsigned steps_width) {
  char steps[3 * ISOPROOF_STEP_TEXT_BYTES];
  pop_steps(s, pop, steps, sizeof steps);
  int used = printf("%-3s  T%u -> T%u  %-*s  ", isoproof_pop_kind_name(pop->kind),
                    isoproof_schedule_txn_label(s->schedule, pop->from),
                    isoproof_schedule_txn_label(s->schedule, pop->to), (int)steps_width, steps);
  unsigned at = HEADING + 2 + (used > 0 ? (unsigned)used : 0);
  if (at + MEANING_LEAST > s->width) {
    at = HEADING + 2 + 5;
    printf("\n%*s", (int)at, "");
  }
  print_wrapped(stdout, isoproof_pop_kind_meaning(pop->kind), at, at, s->width);
  putchar('\n');
}

static void print_pops(const story *s) {
  isoproof_pop pop;
  char steps[3 * ISOPROOF_STEP_TEXT_BYTES];
  unsigned widest = 0;
  for (size_t i = 0; isoproof_pop_graph_pop_at(s->graph, i, &pop); i++) {
    pop_steps(s, &pop, steps, sizeof steps);
    if (text_columns(steps) > widest) widest = text_columns(steps);
  }
  for (size_t i = 0; isoproof_pop_graph_pop_at(s->graph, i, &pop); i++) {
    heading(i == 0 ? "POPs" : "");
    print_pop(s, &pop, widest);
  }
  if (isoproof_pop_graph_pop_count(s->graph) == 0) {
    heading("POPs");
    puts("none");
  }
}

static void print_cycle(const story *s, const isoproof_pop_cycle *cycle) {
  char class[8], text[64 * (ISOPROOF_SCHEDULE_NAME_BYTES + 40)];
  size_t used = 0;
  coo_class(cycle->kind, cycle->size, class);
  if (cycle->number > 0)
    printf("%u %s, %s", cycle->number, cycle->name, class);
  else
    printf("%s, %s", cycle->name, class);
  if (!cycle->committed) fputs(", not all committed", stdout);
  putchar('\n');
  heading("");
  for (size_t i = 0; i < cycle->length && used < sizeof text; i++) {
    const isoproof_pop *pop = &cycle->pops[i];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s[%s] T%u -> T%u", i > 0 ? ", " : "",
                             isoproof_pop_kind_name(pop->kind), isoproof_schedule_object_name(s->schedule, pop->object),
                             isoproof_schedule_txn_label(s->schedule, pop->from),
                             isoproof_schedule_txn_label(s->schedule, pop->to));
  }
  put_rest(s, text);
}

static void print_cycles(const story *s) {
  isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
  char text[160];
  if (isoproof_pop_graph_cycle_count(s->graph) == 0) {
    heading("cycles");
    puts("none: consistent");
  }
  for (size_t i = 0; isoproof_pop_graph_cycle_at(s->graph, i, &cycle); i++) {
    heading(i == 0 ? "cycles" : "");
    print_cycle(s, &cycle);
    if (i > 0) continue;
    heading("");
    snprintf(text, sizeof text, "%s; %s", isoproof_coo_class_title(cycle.kind), isoproof_coo_size_title(cycle.size));
    put_rest(s, text);
  }
  if (isoproof_pop_graph_truncated(s->graph)) {
    heading("");
    puts("and perhaps more: the search stopped at its limit");
  }
}

/* A list of names behind a heading, "none" when it is empty. */
static void print_names(const char *head, const char *(*name)(const story *, size_t), const story *s) {
  char text[1024] = "none";
  size_t used = 0;
  heading(head);
  for (size_t i = 0; name(s, i) != NULL && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", name(s, i));
  put_rest(s, text);
}

/* The phenomena of the SQL standard that the POPs are: dirty write, dirty read, fuzzy read. */
static const char *ansi(const story *s, size_t i) {
  static const struct {
    isoproof_pop_kind kind;
    const char *code;
  } phenomena[] = {{ISOPROOF_POP_WW, "P0"}, {ISOPROOF_POP_WR, "P1"}, {ISOPROOF_POP_RW, "P2"}};
  for (size_t p = 0; p < COUNT_OF(phenomena); p++) {
    isoproof_pop pop;
    bool found = false;
    for (size_t n = 0; !found && isoproof_pop_graph_pop_at(s->graph, n, &pop); n++)
      found = pop.kind == phenomena[p].kind;
    if (found && i-- == 0) return phenomena[p].code;
  }
  return NULL;
}

static const char *phenomenon(const story *s, size_t i) { return isoproof_schedule_phenomenon_at(s->schedule, i); }
static const char *weakest(const story *s, size_t i) { return isoproof_result_weakest_violated_at(s->result, i); }
static const char *strongest(const story *s, size_t i) { return isoproof_result_strongest_at(s->result, i); }

static const char *pattern(const story *s, size_t i) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (size_t n = 0; isoproof_result_anomaly_at(s->result, n, &anomaly); n++) {
    if (strncmp(anomaly.code, "TAP-", 4) == 0 && i-- == 0) return anomaly.code;
  }
  return NULL;
}

/* The weakest models that the phenomena rule out, without those that another one is weaker than. */
static const char *model(const story *s, size_t i) {
  const isoproof_level_info *all[MODELS_MOST];
  size_t count = 0;
  const char *code;
  for (size_t p = 0; (code = phenomenon(s, p)) != NULL; p++) {
    const isoproof_anomaly_info *info = isoproof_anomaly_find(code);
    const isoproof_level_info *level;
    for (size_t n = 0; info != NULL && (level = isoproof_anomaly_rules_out_at(info, n)) != NULL && count < MODELS_MOST;
         n++) {
      all[count++] = level;
    }
  }
  for (size_t a = 0; a < count; a++) {
    bool covered = false;
    for (size_t b = 0; b < count; b++) {
      if (all[b] == all[a] ? b < a : isoproof_level_implies(all[a], all[b])) covered = true;
    }
    if (!covered && i-- == 0) return all[a]->id;
  }
  return NULL;
}

static void print_text(const story *s, const char *name) {
  if (name != NULL) {
    put_escaped(stdout, name);
    fputs(": ", stdout);
  }
  print_wrapped(stdout, isoproof_schedule_text(s->schedule), name != NULL ? text_columns(name) + 2 : 0, 2, s->width);
  putchar('\n');
  print_pops(s);
  print_cycles(s);
  print_names("ANSI", ansi, s);
  print_names("Adya", phenomenon, s);
  print_names("TAP", pattern, s);
  print_names("forbidden by", weakest, s);
  print_names("  models", model, s);
  print_names("allowed by", strongest, s);
}

/* ---- JSON ---- */

static void json_names(isoproof_json *j, const char *field, const char *(*name)(const story *, size_t),
                       const story *s) {
  isoproof_json_name(j, field);
  isoproof_json_list(j);
  for (size_t i = 0; name(s, i) != NULL; i++) isoproof_json_string(j, name(s, i));
  isoproof_json_end(j);
}

static void json_pop(isoproof_json *j, const story *s, const isoproof_pop *pop) {
  char steps[3 * ISOPROOF_STEP_TEXT_BYTES];
  pop_steps(s, pop, steps, sizeof steps);
  isoproof_json_object(j);
  isoproof_json_name(j, "kind");
  isoproof_json_string(j, isoproof_pop_kind_name(pop->kind));
  isoproof_json_name(j, "from");
  isoproof_json_u64(j, isoproof_schedule_txn_label(s->schedule, pop->from));
  isoproof_json_name(j, "to");
  isoproof_json_u64(j, isoproof_schedule_txn_label(s->schedule, pop->to));
  isoproof_json_name(j, "object");
  isoproof_json_string(j, isoproof_schedule_object_name(s->schedule, pop->object));
  isoproof_json_name(j, "steps");
  isoproof_json_string(j, steps);
  isoproof_json_end(j);
}

static void json_cycle(isoproof_json *j, const story *s, const isoproof_pop_cycle *cycle) {
  char class[8];
  coo_class(cycle->kind, cycle->size, class);
  isoproof_json_object(j);
  isoproof_json_name(j, "no");
  if (cycle->number > 0)
    isoproof_json_u64(j, cycle->number);
  else
    isoproof_json_null(j);
  isoproof_json_name(j, "name");
  isoproof_json_string(j, cycle->name);
  isoproof_json_name(j, "class");
  isoproof_json_string(j, class);
  isoproof_json_name(j, "committed");
  isoproof_json_bool(j, cycle->committed);
  isoproof_json_name(j, "pops");
  isoproof_json_list(j);
  for (size_t i = 0; i < cycle->length; i++) json_pop(j, s, &cycle->pops[i]);
  isoproof_json_end(j);
  isoproof_json_end(j);
}

static void json_levels(isoproof_json *j, const story *s) {
  isoproof_level_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_json_name(j, "levels");
  isoproof_json_object(j);
  for (size_t i = 0; isoproof_result_level_at(s->result, i, &verdict); i++) {
    isoproof_json_name(j, verdict.level);
    isoproof_json_string(j, isoproof_verdict_name(verdict.verdict));
  }
  isoproof_json_end(j);
}

static void print_json(const story *s, const char *name) {
  isoproof_json *j = json_to(stdout);
  isoproof_pop pop;
  isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  if (name != NULL) {
    isoproof_json_name(j, "name");
    isoproof_json_string(j, name);
  }
  isoproof_json_name(j, "schedule");
  isoproof_json_string(j, isoproof_schedule_text(s->schedule));
  isoproof_json_name(j, "pops");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_pop_graph_pop_at(s->graph, i, &pop); i++) json_pop(j, s, &pop);
  isoproof_json_end(j);
  isoproof_json_name(j, "cycles");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_pop_graph_cycle_at(s->graph, i, &cycle); i++) json_cycle(j, s, &cycle);
  isoproof_json_end(j);
  isoproof_json_name(j, "more_cycles");
  isoproof_json_bool(j, isoproof_pop_graph_truncated(s->graph));
  json_names(j, "ansi", ansi, s);
  json_names(j, "adya", phenomenon, s);
  json_names(j, "tap", pattern, s);
  json_levels(j, s);
  json_names(j, "forbidden_by", weakest, s);
  json_names(j, "models_ruled_out", model, s);
  json_names(j, "allowed_by", strongest, s);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

/* Explains one schedule; `name` may be NULL, `error` says its place. */
static isoproof_status explain(const options *parsed, const char *name, const char *text, isoproof_error *error) {
  story s = {.width = terminal_width(stdout)};
  isoproof_status status = learn(&s, text, error);
  if (status == ISOPROOF_OK && parsed->values[COO_JSON].on)
    print_json(&s, name);
  else if (status == ISOPROOF_OK)
    print_text(&s, name);
  free_story(&s);
  return status;
}

int coo_schedule(const options *parsed) {
  coo_schedules all = {0};
  isoproof_error error = {.offset = -1};
  int code = coo_schedules_read(parsed, &all);
  for (size_t i = 0; code == EXIT_SATISFIED && i < all.count && !ferror(stdout); i++) {
    if (i > 0 && !parsed->values[COO_JSON].on) putchar('\n');
    isoproof_status status = explain(parsed, all.names[i], all.texts[i], &error);
    if (status == ISOPROOF_OK) continue;
    message_error(&error, "--schedule");
    code = exit_of_status(status);
  }
  coo_schedules_free(&all);
  return code;
}
