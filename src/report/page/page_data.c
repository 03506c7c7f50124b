#include "report/page/page_data.h"

#include <string.h>

#include "report/escape.h"

/* Shares of the page, in percent: what does not fit is left out, and the page says so. */
enum { ANOMALIES_SHARE = 45, TIMELINE_SHARE = 45, FACTS_SHARE = 5, TXN_BYTES = 34, MOST_SHOWN = 200000 };

bool iso_page_data_init(iso_page_data *page, const isoproof_document *document, uint64_t max_bytes) {
  *page = (iso_page_data){.document = document, .max_bytes = max_bytes};
  uint64_t most = max_bytes / 100 * TIMELINE_SHARE / TXN_BYTES;
  return iso_sample_choose(&page->sample, document, most < MOST_SHOWN ? most : MOST_SHOWN);
}

void iso_page_data_free(iso_page_data *page) {
  free(page->sample.shown);
  free(page->sample.session);
}

void iso_page_data_field(const iso_page_data *page, const char *name) { iso_out_printf(page->out, ",\"%s\":", name); }

void iso_page_data_text(const iso_page_data *page, const char *name, const char *text) {
  iso_page_data_field(page, name);
  if (text != NULL)
    iso_put_json_in_html(page->out, text);
  else
    iso_out_text(page->out, "null");
}

void iso_page_data_time(const iso_page_data *page, int64_t time) {
  int64_t base = page->document->has_times ? page->document->first_start : 0, since;
  if (time == ISOPROOF_NO_TIME)
    iso_out_text(page->out, "null");
  else if (!__builtin_sub_overflow(time, base, &since))
    iso_out_i64(page->out, since);
  else
    iso_out_printf(page->out, "%.0f", (double)time - (double)base);
}

/* ---- parts ---- */

static void put_names(const iso_page_data *page, const char *field, const iso_name_list *names) {
  iso_page_data_field(page, field);
  iso_out_char(page->out, '[');
  for (size_t i = 0; i < names->count; i++) {
    if (i > 0) iso_out_char(page->out, ',');
    iso_put_json_in_html(page->out, names->items[i]);
  }
  iso_out_char(page->out, ']');
}

static void put_counts(const iso_page_data *page) {
  const isoproof_counts *c = &page->document->counts;
  iso_out_printf(page->out,
                 ",\"counts\":{\"sessions\":%llu,\"transactions\":%llu,\"operations\":%llu,\"committed\":%llu,"
                 "\"aborted\":%llu,\"unknown\":%llu}",
                 (unsigned long long)c->sessions, (unsigned long long)c->transactions,
                 (unsigned long long)c->operations, (unsigned long long)c->committed, (unsigned long long)c->aborted,
                 (unsigned long long)c->unknown);
}

static void put_expected(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  bool first = true;
  iso_page_data_field(page, "expected");
  iso_out_char(page->out, '[');
  for (size_t i = 0; i < d->levels.count; i++) {
    if (!d->levels.items[i].asked) continue;
    if (!first) iso_out_char(page->out, ',');
    first = false;
    iso_put_json_in_html(page->out, d->levels.items[i].level);
  }
  iso_out_char(page->out, ']');
}

static void put_verdicts(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_page_data_text(page, "verdict", isoproof_verdict_name(d->verdict));
  put_expected(page);
  iso_page_data_text(page, "unknown_reason", d->unknown_reason);
  iso_page_data_levels(page);
  put_names(page, "strongest", &d->names[ISO_NAMES_STRONGEST]);
  put_names(page, "weakest_violated", &d->names[ISO_NAMES_WEAKEST_VIOLATED]);
  iso_page_data_text(page, "workload", d->workload);
  iso_page_data_field(page, "models");
  iso_out_text(page->out, "{\"schema\":1");
  put_names(page, "not", &d->names[ISO_NAMES_NOT]);
  put_names(page, "also_not", &d->names[ISO_NAMES_ALSO_NOT]);
  put_names(page, "proved", &d->names[ISO_NAMES_PROVED]);
  iso_out_char(page->out, '}');
}

/* How many facts fit into their share. */
static size_t put_facts(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  uint64_t room = page->max_bytes / 100 * FACTS_SHARE;
  size_t shown = 0;
  iso_page_data_field(page, "run");
  iso_out_char(page->out, '[');
  for (; shown < d->facts.count; shown++) {
    const isoproof_document_fact *fact = &d->facts.items[shown];
    uint64_t bytes = strlen(fact->name) + strlen(fact->value) + 32;
    if (bytes > room) break;
    room -= bytes;
    iso_out_text(page->out, shown > 0 ? ",{\"name\":" : "{\"name\":");
    iso_put_json_in_html(page->out, fact->name);
    iso_page_data_text(page, "value", fact->value);
    iso_out_char(page->out, '}');
  }
  iso_out_char(page->out, ']');
  return shown;
}

static void put_faults(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_page_data_field(page, "faults");
  iso_out_char(page->out, '[');
  for (size_t i = 0; i < d->faults.count; i++) {
    const isoproof_document_fault *fault = &d->faults.items[i];
    iso_out_text(page->out, i > 0 ? ",{\"kind\":" : "{\"kind\":");
    iso_put_json_in_html(page->out, fault->kind);
    iso_page_data_text(page, "target", fault->target);
    iso_page_data_field(page, "start");
    iso_page_data_time(page, fault->start);
    iso_page_data_field(page, "end");
    iso_page_data_time(page, fault->end);
    iso_out_char(page->out, '}');
  }
  iso_out_char(page->out, ']');
}

static void put_aborts(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_page_data_field(page, "aborts");
  iso_out_char(page->out, '[');
  for (size_t i = 0; i < d->aborts.count; i++) {
    const isoproof_document_abort *one = &d->aborts.items[i];
    iso_out_text(page->out, i > 0 ? ",{\"class\":" : "{\"class\":");
    iso_put_json_in_html(page->out, one->reason[0] != '\0' ? one->reason : "no code");
    iso_out_printf(page->out, ",\"count\":%llu}", (unsigned long long)one->count);
  }
  iso_out_char(page->out, ']');
}

static void put_seconds(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  if (d->load_seconds >= 0 && d->check_seconds >= 0)
    iso_out_printf(page->out, ",\"seconds\":{\"load\":%.6f,\"check\":%.6f}", d->load_seconds, d->check_seconds);
  if (d->peak_bytes > 0) iso_out_printf(page->out, ",\"peak_bytes\":%llu", (unsigned long long)d->peak_bytes);
}

/* ---- what is not there ---- */

/* "1,000,000" */
static void add_count(iso_words *words, uint64_t count) {
  char digits[32];
  iso_words plain = {NULL, 0, 0, false};
  iso_words_add(&plain, "%llu", (unsigned long long)count);
  if (plain.failed) {
    words->failed = true;
    return;
  }
  size_t at = 0;
  for (size_t i = 0; i < plain.length && at + 2 < sizeof digits; i++) {
    if (i > 0 && (plain.length - i) % 3 == 0) digits[at++] = ',';
    digits[at++] = plain.text[i];
  }
  digits[at] = '\0';
  iso_words_add(words, "%s", digits);
  iso_words_free(&plain);
}

static void put_sentence(const iso_page_data *page, bool *first, const char *before, uint64_t some, uint64_t all,
                         const char *after) {
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%s", before);
  add_count(&words, some);
  iso_words_add(&words, " of ");
  add_count(&words, all);
  iso_words_add(&words, "%s", after);
  if (!*first) iso_out_char(page->out, ',');
  *first = false;
  iso_put_json_in_html(page->out, words.text != NULL ? words.text : "");
  iso_words_free(&words);
}

static void put_left_out(const iso_page_data *page, size_t facts_shown) {
  const isoproof_document *d = page->document;
  bool first = true;
  iso_page_data_field(page, "left_out");
  iso_out_char(page->out, '[');
  for (size_t i = 0; i < d->left_out.count; i++) {
    if (!first) iso_out_char(page->out, ',');
    first = false;
    iso_put_json_in_html(page->out, d->left_out.items[i]);
  }
  if (page->sample.shown != NULL && page->sample.count < d->counts.transactions)
    put_sentence(page, &first, "The timeline shows ", page->sample.count, d->counts.transactions,
                 " transactions: those around the anomalies and an even sample.");
  if (page->sample.by_session)
    put_sentence(page, &first, "The timeline shows ", page->sample.sessions, d->counts.sessions, " sessions.");
  if (page->anomalies_shown < d->anomalies.count)
    put_sentence(page, &first, "The page would be too large: it shows ", page->anomalies_shown, d->anomalies.count,
                 " anomalies.");
  if (page->cases_shown < page->cases_found)
    put_sentence(page, &first, "The page would be too large: of its last anomaly it shows ", page->cases_shown,
                 page->cases_found, " cases.");
  if (facts_shown < d->facts.count)
    put_sentence(page, &first, "The page shows ", facts_shown, d->facts.count, " facts about the run.");
  iso_out_char(page->out, ']');
}

void iso_page_data_put(iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_out_text(page->out, "{\"schema\":1");
  iso_page_data_text(page, "isoproof", isoproof_version());
  iso_page_data_text(page, "title", d->title);
  iso_page_data_text(page, "file", d->file);
  iso_page_data_text(page, "format", d->format);
  put_counts(page);
  put_verdicts(page);
  if (d->has_problem) iso_page_data_text(page, "problem", d->problem.message);
  iso_page_data_anomalies(page);
  size_t facts_shown = put_facts(page);
  put_faults(page);
  put_aborts(page);
  put_seconds(page);
  if (!iso_page_data_series(page)) page->failed = true;
  iso_page_data_timeline(page);
  put_left_out(page, facts_shown);
  iso_out_char(page->out, '}');
}
