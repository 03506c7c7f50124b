/* systematic_page.c - the page of systematic schedules: the sentence, what came at each level, and what was forbidden
 * and allowed all the same. */
#include <inttypes.h>
#include <isoproof/level.h>
#include <isoproof/systematic.h>
#include <string.h>

#include "coo/page/page.h"
#include "report/escape.h"

/* More would make a page of many megabytes. */
enum { DRAWINGS = 200 };

typedef struct writing {
  iso_output *out;
  const isoproof_systematic *runs;
  isoproof_systematic_summary summary;
  size_t levels;
  bool expected;
} writing;

static const char *s_of(uint64_t count) { return count == 1 ? "" : "s"; }

/* ---- first screen ---- */

static void put_chip(const writing *w) {
  const isoproof_systematic_summary *s = &w->summary;
  if (s->next > 0)
    iso_out_printf(w->out,
                   "<p class=\"notice\">Not all schedules within the bounds were run: the next one is number %" PRIu64
                   ".</p>\n",
                   s->next);
  const char *state = s->forbidden > 0 ? "violated" : w->expected && s->undecided == 0 ? "satisfied" : "unknown";
  iso_out_printf(w->out, "<p class=\"chip chip-%s\"><span aria-hidden=\"true\">%s</span> ", state,
                 s->forbidden > 0 ? "&#10007;"
                 : w->expected    ? "&#10003;"
                                  : "?");
  if (s->forbidden > 0)
    iso_out_printf(w->out, "%" PRIu64 " forbidden and allowed", s->forbidden);
  else
    iso_out_text(w->out, w->expected ? "Nothing forbidden was allowed" : "Nothing was expected");
  iso_out_text(w->out, "</p>\n");
}

static void put_title(const writing *w) {
  const isoproof_systematic_summary *s = &w->summary;
  iso_out_text(w->out, "<h1 id=\"verdict-title\">");
  iso_put_xml(w->out, s->database);
  iso_out_text(w->out, s->forbidden > 0 ? " allows what its levels forbid"
                       : w->expected    ? " keeps what is expected of its levels"
                                        : ": systematic schedules");
  iso_out_printf(w->out,
                 "</h1>\n<p class=\"part-note\">%" PRIu64 " schedule%s at %zu isolation level%s, in %.1f seconds: up "
                 "to %u transactions of up to %u operation%s on up to %u row%s, with %u kind%s of predicates, in a "
                 "table laid out as %s. Each schedule was run step by step; what came of it is judged.</p>\n",
                 s->schedules, s_of(s->schedules), w->levels, s_of(w->levels), s->seconds, s->transactions,
                 s->operations, s_of(s->operations), s->rows, s_of(s->rows), s->predicates, s_of(s->predicates),
                 s->layout);
}

/* ---- levels ---- */

static void put_number(iso_output *out, uint64_t number) {
  iso_out_printf(out, "<td class=\"at\">%" PRIu64 "</td>", number);
}

/* The schedules that use no key again, or those that do. */
static void put_levels(const writing *w, bool reused) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  bool (*at)(const isoproof_systematic *, size_t, isoproof_systematic_level *) =
      reused ? isoproof_systematic_reused_at : isoproof_systematic_level_at;
  if (reused)
    iso_out_printf(w->out,
                   "<section class=\"part\" id=\"reused\" aria-labelledby=\"reused-title\">\n<div class=\"part-head\">"
                   "<h2 id=\"reused-title\">Keys used again</h2><p>%" PRIu64
                   " schedules that insert a key after it was "
                   "deleted: the definitions of levels do not speak of them; here a row is its key</p></div>\n",
                   w->summary.reused_schedules);
  else
    iso_out_text(w->out,
                 "<section class=\"part\" id=\"levels\" aria-labelledby=\"levels-title\">\n<div class=\"part-head\">"
                 "<h2 id=\"levels-title\">Levels</h2><p>what came of the schedules at each</p></div>\n");
  iso_out_text(w->out, "<div class=\"table-wrap\"><table class=\"hermitage\"><thead><tr><th>Level</th><th>Expected</th>"
                       "<th>Schedules</th><th>Committed</th><th>Aborted</th><th>Blocked</th><th>Deadlocks</th>"
                       "<th>Not serializable</th><th>Forbidden</th><th>Seconds</th></tr></thead><tbody>\n");
  for (size_t i = 0; at(w->runs, i, &level); i++) {
    iso_out_text(w->out, "<tr><th scope=\"row\">");
    iso_put_xml(w->out, level.name);
    iso_out_text(w->out, "</th><td>");
    iso_put_xml(w->out, level.expected != NULL ? level.expected : "nothing");
    iso_out_text(w->out, "</td>");
    put_number(w->out, level.schedules);
    put_number(w->out, level.committed);
    put_number(w->out, level.aborted);
    put_number(w->out, level.blocked);
    put_number(w->out, level.deadlocks);
    put_number(w->out, level.not_serializable);
    iso_out_printf(w->out, "<td class=\"at\"><span class=\"mark mark-%s\">%" PRIu64 "</span></td>",
                   level.forbidden > 0 ? "unexpected" : "P", level.forbidden);
    iso_out_printf(w->out, "<td class=\"at\">%.1f</td></tr>\n", level.seconds);
  }
  iso_out_text(w->out, "</tbody></table></div>\n</section>\n");
}

/* ---- findings ---- */

static void put_finding(const writing *w, size_t number, const isoproof_systematic_finding *finding) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  isoproof_coo_event event = {.struct_size = sizeof event};
  unsigned sessions = 1;
  if (!isoproof_systematic_level_at(w->runs, finding->level, &level)) return;
  const isoproof_level_info *info = isoproof_level_find(finding->expected);
  iso_out_text(w->out, "<article class=\"loud\"><div class=\"story\"><div class=\"story-head\"><h3>");
  iso_out_printf(w->out, "Schedule %" PRIu64 " at ", finding->number);
  iso_put_xml(w->out, level.name);
  iso_out_text(w->out, "</h3></div>\n<p class=\"story-says is-bad\">");
  iso_put_xml(w->out, info != NULL ? info->title : finding->expected);
  iso_out_text(w->out, " forbids this");
  if (finding->name[0] != 0) {
    iso_out_text(w->out, ": ");
    iso_put_xml(w->out, finding->name);
    iso_out_text(w->out, " (");
    iso_put_xml(w->out, finding->anomaly);
    iso_out_text(w->out, ")");
  }
  iso_out_text(w->out, ".</p>\n<p class=\"story-says\">");
  iso_put_xml(w->out, finding->explanation);
  iso_out_text(w->out, "</p>\n<dl class=\"facts\"><dt>Schedule</dt><dd class=\"code\">");
  iso_put_xml(w->out, finding->schedule);
  iso_out_text(w->out, "</dd>");
  if (finding->orders > 1)
    iso_out_printf(w->out, "<dt>The same</dt><dd>in %" PRIu64 " other order%s of the steps</dd>", finding->orders - 1,
                   s_of(finding->orders - 1));
  if (finding->larger > 0)
    iso_out_printf(w->out, "<dt>Part of</dt><dd>%" PRIu64 " larger schedule%s, forbidden and allowed</dd>",
                   finding->larger, s_of(finding->larger));
  iso_out_text(w->out, "</dl>\n");
  for (size_t i = 0; isoproof_systematic_event_at(w->runs, number, i, &event); i++)
    if (event.session > sessions) sessions = event.session;
  iso_coo_page_steps_head(w->out, sessions);
  for (size_t i = 0; isoproof_systematic_event_at(w->runs, number, i, &event); i++) iso_coo_page_event(w->out, &event);
  iso_out_text(w->out, "</ol>\n");
  if (number < DRAWINGS) iso_coo_page_drawing(w->out, finding->history, strlen(finding->history), finding->expected);
  iso_out_text(w->out, "<details class=\"verdicts\"><summary>The history</summary><pre class=\"code\">");
  iso_put_xml(w->out, finding->history);
  iso_out_text(w->out, "</pre></details>\n</div></article>\n");
}

static void put_findings(const writing *w, bool reused) {
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  const char *id = reused ? "reused-findings" : "unexpected";
  if ((reused ? w->summary.reused_forbidden : w->summary.forbidden) == 0) return;
  iso_out_printf(w->out,
                 "<section class=\"part\" id=\"%s\" aria-labelledby=\"%s-title\">\n<div class=\"part-head\"><h2 "
                 "id=\"%s-title\">Forbidden and allowed%s</h2><p>level by level, the smallest first, one of each "
                 "shape</p></div>\n",
                 id, id, id, reused ? ", a key used again" : "");
  for (size_t i = 0; isoproof_systematic_finding_at(w->runs, i, &finding) && !iso_output_failed(w->out); i++)
    if (finding.reused == reused) put_finding(w, i, &finding);
  iso_out_text(w->out, "</section>\n");
}

isoproof_status isoproof_systematic_write_html(const isoproof_systematic *runs, isoproof_write_fn write, void *user,
                                               isoproof_error *error) {
  writing w = {.runs = runs, .summary = {.struct_size = sizeof w.summary}};
  isoproof_systematic_level level = {.struct_size = sizeof level};
  (void)isoproof_systematic_summary_of(runs, &w.summary);
  for (; isoproof_systematic_level_at(runs, w.levels, &level); w.levels++)
    w.expected = w.expected || level.expected != NULL;
  ISO_TRY(iso_coo_page_begin(write, user, &w.out, error));
  iso_out_text(w.out, "<section class=\"sum\" id=\"verdict\" aria-labelledby=\"verdict-title\">\n");
  put_chip(&w);
  put_title(&w);
  iso_out_text(w.out, "</section>\n");
  put_levels(&w, false);
  put_findings(&w, false);
  if (w.summary.reused_schedules > 0) put_levels(&w, true);
  put_findings(&w, true);
  return iso_coo_page_end(w.out, error);
}
