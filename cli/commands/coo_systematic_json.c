/* coo_systematic_json.c - systematic schedules for programs. */
#include "cli/commands/coo_systematic.h"

static void text(isoproof_json *j, const char *name, const char *value) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, value);
}

static void number(isoproof_json *j, const char *name, uint64_t value) {
  isoproof_json_name(j, name);
  isoproof_json_u64(j, value);
}

static void json_counts(isoproof_json *j, const isoproof_systematic_level *level) {
  number(j, "schedules", level->schedules);
  number(j, "committed", level->committed);
  number(j, "aborted", level->aborted);
  number(j, "refused", level->refused);
  number(j, "deadlocks", level->deadlocks);
  number(j, "timeouts", level->timeouts);
  number(j, "blocked", level->blocked);
  number(j, "not_serializable", level->not_serializable);
  number(j, "forbidden", level->forbidden);
  number(j, "undecided", level->undecided);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, level->seconds);
}

static void json_level(isoproof_json *j, const isoproof_systematic *runs, size_t n) {
  isoproof_systematic_level level = {.struct_size = sizeof level}, reused = {.struct_size = sizeof reused};
  (void)isoproof_systematic_level_at(runs, n, &level);
  (void)isoproof_systematic_reused_at(runs, n, &reused);
  isoproof_json_object(j);
  text(j, "name", level.name);
  text(j, "expected", level.expected);
  text(j, "expected_of_misses", level.expected_of_misses);
  text(j, "source", level.source);
  text(j, "note", level.note);
  json_counts(j, &level);
  isoproof_json_name(j, "reused");
  isoproof_json_object(j);
  json_counts(j, &reused);
  isoproof_json_end(j);
  isoproof_json_end(j);
}

static void json_event(isoproof_json *j, const isoproof_coo_event *event) {
  isoproof_json_object(j);
  text(j, "kind", event->kind);
  number(j, "session", event->session);
  text(j, "sql", event->sql);
  text(j, "value", event->value);
  text(j, "error", event->error);
  text(j, "code", event->code);
  text(j, "message", event->message);
  isoproof_json_name(j, "waited");
  isoproof_json_bool(j, event->waited);
  isoproof_json_end(j);
}

static void json_finding(isoproof_json *j, const isoproof_systematic *runs, size_t n,
                         const isoproof_systematic_finding *finding) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  isoproof_coo_event event = {.struct_size = sizeof event};
  (void)isoproof_systematic_level_at(runs, finding->level, &level);
  isoproof_json_object(j);
  number(j, "number", finding->number);
  text(j, "level", level.name);
  text(j, "expected", finding->expected);
  text(j, "schedule", finding->schedule);
  isoproof_json_name(j, "reused");
  isoproof_json_bool(j, finding->reused);
  number(j, "orders", finding->orders);
  number(j, "larger", finding->larger);
  text(j, "anomaly", finding->anomaly);
  text(j, "name", finding->name);
  text(j, "explanation", finding->explanation);
  text(j, "history", finding->history);
  isoproof_json_name(j, "events");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_systematic_event_at(runs, n, i, &event); i++) json_event(j, &event);
  isoproof_json_end(j);
  isoproof_json_end(j);
}

static void json_bounds(isoproof_json *j, const isoproof_systematic_summary *s) {
  isoproof_json_name(j, "bounds");
  isoproof_json_object(j);
  number(j, "transactions", s->transactions);
  number(j, "operations", s->operations);
  number(j, "rows", s->rows);
  number(j, "predicates", s->predicates);
  number(j, "first", s->first);
  isoproof_json_name(j, "seed");
  if (s->drawn)
    isoproof_json_u64(j, s->seed);
  else
    isoproof_json_null(j);
  isoproof_json_end(j);
}

void coo_systematic_json(const isoproof_systematic *runs) {
  isoproof_systematic_summary s = {.struct_size = sizeof s};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  (void)isoproof_systematic_summary_of(runs, &s);
  isoproof_json_object(j);
  number(j, "schema", 1);
  text(j, "database", s.database);
  text(j, "suite", "systematic");
  text(j, "layout", s.layout);
  json_bounds(j, &s);
  number(j, "schedules", s.schedules);
  isoproof_json_name(j, "next");
  if (s.next > 0)
    isoproof_json_u64(j, s.next);
  else
    isoproof_json_null(j);
  number(j, "forbidden", s.forbidden);
  number(j, "undecided", s.undecided);
  isoproof_json_name(j, "reused");
  isoproof_json_object(j);
  number(j, "schedules", s.reused_schedules);
  number(j, "forbidden", s.reused_forbidden);
  number(j, "undecided", s.reused_undecided);
  isoproof_json_end(j);
  number(j, "jobs", s.jobs);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, s.seconds);
  isoproof_json_name(j, "levels");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_systematic_level_at(runs, i, &level); i++) json_level(j, runs, i);
  isoproof_json_end(j);
  isoproof_json_name(j, "findings");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++) json_finding(j, runs, i, &finding);
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}
