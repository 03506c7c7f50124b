/* Two runs side by side: verdicts, levels, settings, figures, and the anomalies that only one of them has. */
#include "serve/compare.h"

#include <stdio.h>
#include <string.h>

#include "report/document/assessment.h"
#include "report/escape.h"
#include "serve/html.h"
#include "serve/run.h"

typedef struct comparison {
  iso_output *out;
  const isoproof_document *side[2];
  bool quiet; /* a difference is nothing to point at: figures of two runs always differ */
} comparison;

/* ---- rows ---- */

static void put_side(iso_output *out, const char *text, bool is_verdict) {
  iso_out_text(out, "<td>");
  if (text[0] == 0)
    iso_out_text(out, "<span class=\"missing\">\xe2\x80\x93</span>");
  else if (is_verdict)
    iso_out_printf(out, "<span class=\"chip %s\">", text);
  iso_put_xml(out, text);
  if (text[0] != 0 && is_verdict) iso_out_text(out, "</span>");
  iso_out_text(out, "</td>");
}

static void put_row(const comparison *c, const char *name, const char *one, const char *other, bool is_verdict) {
  iso_out_printf(c->out, "<tr%s><th scope=\"row\">", !c->quiet && strcmp(one, other) != 0 ? " class=\"differs\"" : "");
  iso_put_xml(c->out, name);
  iso_out_text(c->out, "</th>");
  put_side(c->out, one, is_verdict);
  put_side(c->out, other, is_verdict);
  iso_out_text(c->out, "</tr>\n");
}

static void begin_table(const comparison *c, const char *heading) {
  iso_out_printf(c->out, "<h2>%s</h2>\n<div class=\"scroll compare\"><table><tbody>\n", heading);
}

static void end_table(const comparison *c) { iso_out_text(c->out, "</tbody></table></div>\n"); }

/* ---- figures ---- */

/* Rows whose text a function makes of a document. */
typedef void (*figure_fn)(const isoproof_document *document, char text[ISO_FIGURE]);

static void strongest(const isoproof_document *d, char text[ISO_FIGURE]) {
  iso_figure_names(d, isoproof_document_strongest, text);
}

static void weakest(const isoproof_document *d, char text[ISO_FIGURE]) {
  iso_figure_names(d, isoproof_document_weakest_violated, text);
}

static isoproof_counts counts_of(const isoproof_document *d) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_document_counts(d, &counts);
  return counts;
}

static void transactions(const isoproof_document *d, char text[ISO_FIGURE]) {
  iso_figure_count(counts_of(d).transactions, text);
}

/* "5,363 (17 %)" */
static void share(uint64_t part, uint64_t all, char text[ISO_FIGURE]) {
  char count[ISO_FIGURE];
  iso_figure_count(part, count);
  snprintf(text, ISO_FIGURE, "%.40s (%.0f %%)", count, all > 0 ? 100.0 * (double)part / (double)all : 0.0);
}

static void committed(const isoproof_document *d, char text[ISO_FIGURE]) {
  share(counts_of(d).committed, counts_of(d).transactions, text);
}

static void aborted(const isoproof_document *d, char text[ISO_FIGURE]) {
  share(counts_of(d).aborted, counts_of(d).transactions, text);
}

static void unknown(const isoproof_document *d, char text[ISO_FIGURE]) { iso_figure_count(counts_of(d).unknown, text); }

static void throughput(const isoproof_document *d, char text[ISO_FIGURE]) {
  double seconds = ((double)d->last_end - (double)d->first_start) * 1e-9;
  text[0] = 0;
  if (!d->has_times || seconds <= 0) return;
  iso_figure_count((uint64_t)((double)counts_of(d).committed / seconds), text);
  strncat(text, " per second", ISO_FIGURE - strlen(text) - 1);
}

static void concurrency(const isoproof_document *d, char text[ISO_FIGURE]) {
  text[0] = 0;
  if (d->has_effort && d->effort.has_times)
    snprintf(text, ISO_FIGURE, "%.1f on average, %llu at most", d->effort.concurrency_mean,
             (unsigned long long)d->effort.concurrency_max);
}

static void conflicts(const isoproof_document *d, char text[ISO_FIGURE]) {
  text[0] = 0;
  if (d->has_effort && d->effort.has_times) share(d->effort.conflicting, d->effort.transactions, text);
}

static void versions(const isoproof_document *d, char text[ISO_FIGURE]) {
  text[0] = 0;
  if (d->has_effort && d->effort.keys_written > 0) iso_figure_count(d->effort.versions_median, text);
}

static void put_figure(const comparison *c, const char *name, figure_fn figure) {
  char one[ISO_FIGURE], other[ISO_FIGURE];
  figure(c->side[0], one);
  figure(c->side[1], other);
  if (one[0] != 0 || other[0] != 0) put_row(c, name, one, other, false);
}

static void put_fact(const comparison *c, const char *name, const char *fact) {
  const char *one = iso_figure_fact(c->side[0], fact), *other = iso_figure_fact(c->side[1], fact);
  if (one[0] != 0 || other[0] != 0) put_row(c, name, one, other, false);
}

static void put_verdicts(const comparison *c) {
  begin_table(c, "Verdict");
  put_row(c, "verdict", iso_overall_verdict_name(c->side[0]), iso_overall_verdict_name(c->side[1]), true);
  put_figure(c, "expected", iso_figure_asked);
  put_figure(c, "strongest that holds", strongest);
  put_figure(c, "weakest violated", weakest);
  end_table(c);
}

static void put_run(comparison *c) {
  begin_table(c, "Run");
  put_fact(c, "database", "database");
  put_fact(c, "isolation", "isolation");
  put_fact(c, "workload", "workload");
  put_fact(c, "sessions", "sessions");
  end_table(c);
  begin_table(c, "Figures");
  c->quiet = true;
  put_figure(c, "time", iso_figure_started);
  put_fact(c, "seed", "seed");
  put_figure(c, "duration", iso_figure_duration);
  put_fact(c, "interrupted", "interrupted");
  put_figure(c, "transactions", transactions);
  put_figure(c, "committed", committed);
  put_figure(c, "aborted", aborted);
  put_figure(c, "unknown outcome", unknown);
  put_figure(c, "throughput", throughput);
  put_figure(c, "at once", concurrency);
  put_figure(c, "met a conflict", conflicts);
  put_figure(c, "versions per key", versions);
  c->quiet = false;
  end_table(c);
}

/* ---- levels ---- */

static const char *verdict_of(const isoproof_document *d, const char *level) {
  isoproof_level_verdict one = {.struct_size = sizeof one};
  for (size_t i = 0; isoproof_document_level(d, i, &one); i++) {
    if (strcmp(one.level, level) == 0) return isoproof_verdict_name(one.verdict);
  }
  return "";
}

static void put_levels(const comparison *c) {
  isoproof_level_verdict one = {.struct_size = sizeof one};
  begin_table(c, "Levels");
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; isoproof_document_level(c->side[side], i, &one); i++) {
      /* Those of the second that the first has, too, are there already. */
      if (side == 1 && verdict_of(c->side[0], one.level)[0] != 0) continue;
      put_row(c, iso_level_everyday(one.level), verdict_of(c->side[0], one.level), verdict_of(c->side[1], one.level),
              true);
    }
  }
  end_table(c);
}

/* ---- anomalies ---- */

/* "3 times"; "" where there is none of that code. */
static void times_of(const isoproof_document *d, const char *code, char text[ISO_FIGURE]) {
  uint64_t count = 0;
  const isoproof_document_anomaly *a;
  text[0] = 0;
  for (size_t i = 0; (a = isoproof_document_anomaly_at(d, i)) != NULL; i++) {
    if (strcmp(a->code, code) == 0) count += a->count;
  }
  if (count == 0) return;
  iso_figure_count(count, text);
  strncat(text, count == 1 ? " time" : " times", ISO_FIGURE - strlen(text) - 1);
}

/* Whether an earlier anomaly, of either side, has the code. */
static bool was_listed(const comparison *c, int side, size_t number, const char *code) {
  for (int s = 0; s <= side; s++) {
    const isoproof_document_anomaly *a;
    for (size_t i = 0; (s < side || i < number) && (a = isoproof_document_anomaly_at(c->side[s], i)) != NULL; i++) {
      if (strcmp(a->code, code) == 0) return true;
    }
  }
  return false;
}

static void put_anomalies(const comparison *c) {
  const isoproof_document_anomaly *a;
  char one[ISO_FIGURE], other[ISO_FIGURE];
  bool some = false;
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; (a = isoproof_document_anomaly_at(c->side[side], i)) != NULL; i++) {
      if (was_listed(c, side, i, a->code)) continue;
      if (!some) begin_table(c, "Anomalies");
      some = true;
      times_of(c->side[0], a->code, one);
      times_of(c->side[1], a->code, other);
      put_row(c, a->name, one, other, false);
    }
  }
  if (some)
    end_table(c);
  else
    iso_out_text(c->out, "<h2>Anomalies</h2>\n<p class=\"hint\">Neither has any.</p>\n");
}

/* ---- settings ---- */

/* Settings of the database that differ; how many do not. */
static void put_settings(const comparison *c) {
  static const char prefix[] = "setting.";
  uint64_t equal = 0, different = 0;
  for (int side = 0; side < 2; side++) {
    const isoproof_document *d = c->side[side];
    for (size_t i = 0; i < d->facts.count; i++) {
      const isoproof_document_fact *fact = &d->facts.items[i];
      if (strncmp(fact->name, prefix, sizeof prefix - 1) != 0) continue;
      const char *one = iso_figure_fact(c->side[0], fact->name), *other = iso_figure_fact(c->side[1], fact->name);
      if (side == 1 && one[0] != 0) continue;
      if (strcmp(one, other) == 0) {
        equal++;
        continue;
      }
      if (different++ == 0) begin_table(c, "Settings that differ");
      put_row(c, fact->name + sizeof prefix - 1, one, other, false);
    }
  }
  if (different > 0) end_table(c);
  if (equal > 0)
    iso_out_printf(c->out, "<p class=\"hint\">%llu setting%s of the database %s.</p>\n", (unsigned long long)equal,
                   equal == 1 ? "" : "s", equal == 1 ? "is equal" : "are equal");
}

/* ---- the page ---- */

static void put_names(const comparison *c, const char *const *one, uint32_t one_count, const char *const *other,
                      uint32_t other_count) {
  char name[600];
  iso_out_text(c->out, "<p><a href=\"/\">All runs</a></p>\n<div class=\"scroll compare\"><table><tbody><tr>"
                       "<th scope=\"row\">run</th><td>");
  iso_html_run_name(one, one_count, name, sizeof name);
  iso_html_link(c->out, one, one_count, "", name);
  iso_out_text(c->out, "</td><td>");
  iso_html_run_name(other, other_count, name, sizeof name);
  iso_html_link(c->out, other, other_count, "", name);
  iso_out_text(c->out, "</td></tr></tbody></table></div>\n");
}

bool iso_compare_put(iso_output *out, int root, const char *const *one, uint32_t one_count, const char *const *other,
                     uint32_t other_count) {
  isoproof_document *first = iso_run_open(root, one, one_count, false, ISO_RESULT_MOST);
  isoproof_document *second = first != NULL ? iso_run_open(root, other, other_count, false, ISO_RESULT_MOST) : NULL;
  if (second != NULL) {
    comparison c = {out, {first, second}, false};
    iso_html_begin(out, "Two runs compared");
    iso_out_text(out, "<p class=\"quiet\">Rows that differ are marked.</p>\n");
    put_names(&c, one, one_count, other, other_count);
    put_verdicts(&c);
    put_anomalies(&c);
    put_levels(&c);
    put_run(&c);
    put_settings(&c);
    iso_html_end(out);
  }
  bool found = second != NULL;
  isoproof_document_free(first);
  isoproof_document_free(second);
  return found;
}

uint32_t iso_compare_split(const char *const *parts, uint32_t count) {
  for (uint32_t i = 1; i + 1 < count && i <= ISO_RUN_PARTS; i++) {
    if (strcmp(parts[i], "with") == 0 && count - i - 1 <= ISO_RUN_PARTS) return i;
  }
  return 0;
}
