/* coo_systematic_show.c - what came of systematic schedules: text, Markdown, CSV, HTML, JSON. */
#include <inttypes.h>
#include <isoproof/level.h>
#include <string.h>

#include "cli/commands/coo_systematic.h"

enum { FINDINGS_SHOWN = 3, SENTENCE = 512 };

/* The table of levels: name, how wide, value. */
#define COLUMN_LIST(X)                                                                                                 \
  X("run", 6, schedules)                                                                                               \
  X("committed", 10, committed)                                                                                        \
  X("aborted", 8, aborted)                                                                                             \
  X("blocked", 8, blocked)                                                                                             \
  X("deadlocks", 10, deadlocks)                                                                                        \
  X("anomalies", 10, not_serializable)                                                                                 \
  X("forbidden", 10, forbidden)

static const char *s_of(uint64_t count) { return count == 1 ? "" : "s"; }

/* What came at a level of the schedules that use no key again, or of those that do. */
typedef bool level_fn(const isoproof_systematic *runs, size_t level, isoproof_systematic_level *out);

/* ---- sentences ---- */

static void headline(const isoproof_systematic *runs, char *out, size_t size) {
  isoproof_systematic_summary s = {.struct_size = sizeof s};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  char what[64] = "nothing was expected", rest[96] = "", reused[96] = "";
  size_t levels = 0;
  (void)isoproof_systematic_summary_of(runs, &s);
  for (; isoproof_systematic_level_at(runs, levels, &level); levels++)
    if (level.expected != NULL) snprintf(what, sizeof what, "nothing forbidden was allowed");
  if (s.forbidden > 0) snprintf(what, sizeof what, "%" PRIu64 " FORBIDDEN AND ALLOWED", s.forbidden);
  if (s.undecided > 0) snprintf(rest, sizeof rest, "; %" PRIu64 " without a verdict", s.undecided);
  if (s.reused_forbidden > 0)
    snprintf(reused, sizeof reused, "; with keys used again, %" PRIu64 " forbidden and allowed", s.reused_forbidden);
  snprintf(out, size, "%s: %" PRIu64 " schedule%s at %zu level%s, %s%s%s", s.database, s.schedules, s_of(s.schedules),
           levels, s_of(levels), what, rest, reused);
}

static void bounds_sentence(const isoproof_systematic_summary *s, char *out, size_t size) {
  char drawn[64] = "";
  if (s->drawn) snprintf(drawn, sizeof drawn, ", drawn by the seed %" PRIu64, s->seed);
  snprintf(out, size, "up to %u transactions of up to %u operation%s on up to %u row%s, %u kind%s of predicates, %s%s",
           s->transactions, s->operations, s_of(s->operations), s->rows, s_of(s->rows), s->predicates,
           s_of(s->predicates), s->layout, drawn);
}

static void level_sentence(const isoproof_systematic_level *level, char *out, size_t size) {
  const isoproof_level_info *info = level->expected != NULL ? isoproof_level_find(level->expected) : NULL;
  const char *who = level->source != NULL && strcmp(level->source, "option") == 0 ? "--expect asks for it"
                                                                                  : "the database documents it";
  uint64_t allowed = level->not_serializable - level->forbidden;
  if (level->not_serializable < level->forbidden) allowed = 0;
  if (info == NULL)
    snprintf(out, size, "the database documents no level; %" PRIu64 " outcome%s not serializable",
             level->not_serializable, level->not_serializable == 1 ? " is" : "s are");
  else if (level->forbidden > 0)
    snprintf(out, size, "%s (%s) forbids %" PRIu64 " outcome%s", info->title, who, level->forbidden,
             s_of(level->forbidden));
  else if (allowed > 0)
    snprintf(out, size, "%s holds in each outcome (%s), and allows %" PRIu64 " that %s not serializable", info->title,
             who, allowed, allowed == 1 ? "is" : "are");
  else
    snprintf(out, size, "%s holds in each outcome (%s)", info->title, who);
}

/* ---- text ---- */

static unsigned name_width(const isoproof_systematic *runs) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  unsigned width = (unsigned)strlen("level");
  for (size_t i = 0; isoproof_systematic_level_at(runs, i, &level); i++)
    if (text_columns(level.name) > width) width = text_columns(level.name);
  return width;
}

static void print_table(const isoproof_systematic *runs, level_fn *at) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  unsigned width = name_width(runs);
  printf("\n  %-*s", (int)width + 1, "level");
#define X(name, columns, field) printf("%*s", columns, name);
  COLUMN_LIST(X)
#undef X
  putchar('\n');
  for (size_t i = 0; at(runs, i, &level); i++) {
    fputs("  ", stdout);
    coo_put_cell(level.name, width + 1);
#define X(name, columns, field) printf("%*" PRIu64, columns, level.field);
    COLUMN_LIST(X)
#undef X
    putchar('\n');
  }
}

static void tell_event(const isoproof_coo_event *event, char *out, size_t size) {
  if (strcmp(event->kind, "waits") == 0)
    snprintf(out, size, "%s ... waits", event->sql);
  else if (strcmp(event->kind, "skipped") == 0)
    snprintf(out, size, "%s skipped", event->sql);
  else if (strcmp(event->kind, "undone") == 0)
    snprintf(out, size, "rolled back");
  else if (event->error != NULL)
    snprintf(out, size, "%s: %s %s", event->sql, event->code, event->error);
  else if (event->value != NULL)
    snprintf(out, size, "%s -> %s", event->sql, event->value);
  else
    snprintf(out, size, "%s%s", event->sql, event->waited ? " goes on" : "");
}

/* "also in 4 other orders of the same steps; part of 60 larger ones"; "" for one that stands alone. */
static void tell_others(const isoproof_systematic_finding *finding, char *out, size_t size) {
  uint64_t orders = finding->orders - 1;
  char more[96] = "";
  out[0] = 0;
  if (finding->larger > 0)
    snprintf(more, sizeof more, "part of %" PRIu64 " larger schedule%s that %s forbidden and allowed", finding->larger,
             s_of(finding->larger), finding->larger == 1 ? "is" : "are");
  if (orders > 0)
    snprintf(out, size, "the same in %" PRIu64 " other order%s of the steps%s%s", orders, s_of(orders),
             more[0] != 0 ? "; " : "", more);
  else
    snprintf(out, size, "%s", more);
}

static void print_finding(const coo_view *view, const isoproof_systematic *runs, size_t number,
                          const isoproof_systematic_finding *finding, const char *level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  char text[SENTENCE];
  coo_put(view, 4, "\n  %" PRIu64 " at \t%s: %s%s%s%s", finding->number, level,
          finding->name[0] != 0 ? finding->name : "no witness", finding->name[0] != 0 ? " (" : "", finding->anomaly,
          finding->name[0] != 0 ? ")" : "");
  coo_put(view, 4, "    \t%s", finding->schedule);
  for (size_t i = 0; isoproof_systematic_event_at(runs, number, i, &event); i++) {
    tell_event(&event, text, sizeof text);
    coo_put(view, 8, "    T%u  \t%s", event.session, text);
  }
  if (finding->explanation[0] != 0) coo_put(view, 4, "    \t%s", finding->explanation);
  tell_others(finding, text, sizeof text);
  if (text[0] != 0) coo_put(view, 4, "    \t%s", text);
}

/* How many of a group are listed for a level. */
static uint64_t listed_of(const isoproof_systematic *runs, size_t level, bool reused) {
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  uint64_t count = 0;
  for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++)
    count += finding.level == level && finding.reused == reused;
  return count;
}

/* The smallest of each level, or all that were kept, of one group. */
static void print_findings(const coo_view *view, const isoproof_systematic *runs, bool reused, bool all) {
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  size_t at = SIZE_MAX;
  uint64_t shown = 0, listed = 0;
  for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++) {
    if (finding.reused != reused || !isoproof_systematic_level_at(runs, finding.level, &level)) continue;
    if (at == SIZE_MAX)
      printf("\n%s\n", reused ? "Forbidden and allowed where a key is used again, the smallest first"
                              : "FORBIDDEN AND ALLOWED, the smallest first");
    if (finding.level != at) {
      shown = 0;
      listed = listed_of(runs, finding.level, reused);
    }
    at = finding.level;
    if (all || shown < FINDINGS_SHOWN) print_finding(view, runs, i, &finding, level.name);
    if (++shown == FINDINGS_SHOWN && !all && listed > FINDINGS_SHOWN)
      coo_put(view, 4,
              "\n  \t%" PRIu64 " more shapes at %s (--verbose shows them, --json has "
              "their histories)",
              listed - FINDINGS_SHOWN, level.name);
  }
}

/* What came of schedules that the definitions do not speak of. */
static void print_reused(const coo_view *view, const isoproof_systematic *runs, const isoproof_systematic_summary *s,
                         bool all) {
  if (s->reused_schedules == 0) return;
  coo_put(view, 2,
          "\n\tKeys used again: %" PRIu64 " of the schedules insert%s a key after it was deleted. The definitions "
          "of levels do not speak of them; here a row is its key, whoever inserted it.",
          s->reused_schedules, s->reused_schedules == 1 ? "s" : "");
  print_table(runs, isoproof_systematic_reused_at);
  print_findings(view, runs, true, all);
}

static void print_text(const coo_view *view, const isoproof_systematic *runs, bool all) {
  isoproof_systematic_summary s = {.struct_size = sizeof s};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  char line[SENTENCE];
  headline(runs, line, sizeof line);
  coo_put(view, 2, "\t%s", line);
  (void)isoproof_systematic_summary_of(runs, &s);
  bounds_sentence(&s, line, sizeof line);
  coo_put(view, 4, "  \t%s", line);
  putchar('\n');
  for (size_t i = 0; isoproof_systematic_level_at(runs, i, &level); i++) {
    level_sentence(&level, line, sizeof line);
    coo_put(view, 4, "  \t%s: %s; %.1f s", level.name, line, level.seconds);
  }
  print_table(runs, isoproof_systematic_level_at);
  print_findings(view, runs, false, all);
  print_reused(view, runs, &s, all);
  if (s.next > 0) printf("\nmore within the bounds: --first %" PRIu64 " goes on after what was run\n", s.next);
}

/* ---- Markdown, CSV, HTML ---- */

static void markdown_levels(const isoproof_systematic *runs, level_fn *at) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  fputs("\n| level | expected |", stdout);
#define X(name, columns, field) fputs(" " name " |", stdout);
  COLUMN_LIST(X)
#undef X
  fputs(" seconds |\n|---|---|---|---|---|---|---|---|---|---|\n", stdout);
  for (size_t i = 0; at(runs, i, &level); i++) {
    fputs("| ", stdout);
    coo_markdown_text(level.name);
    printf(" | %s |", level.expected != NULL ? level.expected : "nothing");
#define X(name, columns, field) printf(" %" PRIu64 " |", level.field);
    COLUMN_LIST(X)
#undef X
    printf(" %.1f |\n", level.seconds);
  }
}

static void print_markdown(const isoproof_systematic *runs) {
  isoproof_systematic_summary s = {.struct_size = sizeof s};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  char line[SENTENCE];
  (void)isoproof_systematic_summary_of(runs, &s);
  headline(runs, line, sizeof line);
  fputs("**", stdout);
  coo_markdown_text(line);
  puts("**");
  markdown_levels(runs, isoproof_systematic_level_at);
  if (s.reused_schedules > 0) {
    puts("\nKeys used again:");
    markdown_levels(runs, isoproof_systematic_reused_at);
  }
  for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++) {
    if (!isoproof_systematic_level_at(runs, finding.level, &level)) continue;
    if (i == 0)
      fputs("\n| no | level | schedule | anomaly | key used again | orders | larger ones "
            "|\n|---|---|---|---|---|---|---|\n",
            stdout);
    printf("| %" PRIu64 " | ", finding.number);
    coo_markdown_text(level.name);
    fputs(" | ", stdout);
    coo_markdown_text(finding.schedule);
    fputs(" | ", stdout);
    coo_markdown_text(finding.name);
    printf(" | %s | %" PRIu64 " | %" PRIu64 " |\n", finding.reused ? "yes" : "no", finding.orders, finding.larger);
  }
}

/* A line for each schedule that was forbidden and allowed, one of each shape. */
static void print_csv(const isoproof_systematic *runs) {
  isoproof_systematic_summary s = {.struct_size = sizeof s};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  (void)isoproof_systematic_summary_of(runs, &s);
  puts("database,level,expected,no,schedule,anomaly,name,reused,orders,larger");
  for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++) {
    if (!isoproof_systematic_level_at(runs, finding.level, &level)) continue;
    const char *const fields[] = {s.database, level.name, finding.expected};
    for (size_t f = 0; f < COUNT_OF(fields); f++) {
      coo_csv_field(fields[f]);
      putchar(',');
    }
    printf("%" PRIu64 ",", finding.number);
    coo_csv_field(finding.schedule);
    putchar(',');
    coo_csv_field(finding.anomaly);
    putchar(',');
    coo_csv_field(finding.name);
    printf(",%d,%" PRIu64 ",%" PRIu64 "\n", finding.reused, finding.orders, finding.larger);
  }
}

static void print_html(const isoproof_systematic *runs) {
  isoproof_error error = {.offset = -1};
  /* A failure of standard output is noticed in the end. */
  if (isoproof_systematic_write_html(runs, write_stream, stdout, &error) != ISOPROOF_OK && !ferror(stdout))
    message_error(&error, NULL);
}

void coo_systematic_show(const options *parsed, const isoproof_systematic *runs) {
  static void (*const shows[])(const isoproof_systematic *) = {NULL, print_markdown, print_csv, print_html};
  const option_value *v = parsed->values;
  coo_view view = {.color = terminal_color(stdout, common_color(parsed)), .width = terminal_width(stdout)};
  size_t as = v[COO_AS].given && v[COO_AS].choice < COUNT_OF(shows) ? v[COO_AS].choice : 0;
  if (v[COO_JSON].on)
    coo_systematic_json(runs);
  else if (as > 0)
    shows[as](runs);
  else
    print_text(&view, runs, parsed->common[COMMON_VERBOSE].on);
}
