#include "report/page/page_data.h"

#include <string.h>

#include "report/escape.h"

/* Shares of the page, in percent: what does not fit is left out, and the page says so. */
enum { ANOMALIES_SHARE = 45, TIMELINE_SHARE = 45, FACTS_SHARE = 5, TXN_BYTES = 34, MOST_SHOWN = 200000 };

bool iso_blob_init(iso_blob *blob, const isoproof_document *document, uint64_t max_bytes) {
  *blob = (iso_blob){.document = document, .max_bytes = max_bytes};
  uint64_t most = max_bytes / 100 * TIMELINE_SHARE / TXN_BYTES;
  return iso_sample_choose(&blob->sample, document, most < MOST_SHOWN ? most : MOST_SHOWN);
}

void iso_blob_free(iso_blob *blob) {
  free(blob->sample.shown);
  free(blob->sample.session);
}

void iso_blob_field(const iso_blob *blob, const char *name) { iso_out_printf(blob->out, ",\"%s\":", name); }

void iso_blob_text(const iso_blob *blob, const char *name, const char *text) {
  iso_blob_field(blob, name);
  if (text != NULL)
    iso_put_json_in_html(blob->out, text);
  else
    iso_out_text(blob->out, "null");
}

void iso_blob_time(const iso_blob *blob, int64_t time) {
  int64_t base = blob->document->has_times ? blob->document->first_start : 0, since;
  if (time == ISOPROOF_NO_TIME)
    iso_out_text(blob->out, "null");
  else if (!__builtin_sub_overflow(time, base, &since))
    iso_out_i64(blob->out, since);
  else
    iso_out_printf(blob->out, "%.0f", (double)time - (double)base);
}

/* ---- parts ---- */

static void put_names(const iso_blob *blob, const char *field, const iso_name_list *names) {
  iso_blob_field(blob, field);
  iso_out_char(blob->out, '[');
  for (size_t i = 0; i < names->count; i++) {
    if (i > 0) iso_out_char(blob->out, ',');
    iso_put_json_in_html(blob->out, names->items[i]);
  }
  iso_out_char(blob->out, ']');
}

static void put_counts(const iso_blob *blob) {
  const isoproof_counts *c = &blob->document->counts;
  iso_out_printf(blob->out,
                 ",\"counts\":{\"sessions\":%llu,\"transactions\":%llu,\"operations\":%llu,\"committed\":%llu,"
                 "\"aborted\":%llu,\"unknown\":%llu}",
                 (unsigned long long)c->sessions, (unsigned long long)c->transactions,
                 (unsigned long long)c->operations, (unsigned long long)c->committed, (unsigned long long)c->aborted,
                 (unsigned long long)c->unknown);
}

static void put_expected(const iso_blob *blob) {
  const isoproof_document *d = blob->document;
  bool first = true;
  iso_blob_field(blob, "expected");
  iso_out_char(blob->out, '[');
  for (size_t i = 0; i < d->levels.count; i++) {
    if (!d->levels.items[i].asked) continue;
    if (!first) iso_out_char(blob->out, ',');
    first = false;
    iso_put_json_in_html(blob->out, d->levels.items[i].level);
  }
  iso_out_char(blob->out, ']');
}

static void put_verdicts(const iso_blob *blob) {
  const isoproof_document *d = blob->document;
  iso_blob_text(blob, "verdict", isoproof_verdict_name(d->verdict));
  put_expected(blob);
  iso_blob_text(blob, "unknown_reason", d->unknown_reason);
  iso_blob_levels(blob);
  put_names(blob, "strongest", &d->names[ISO_NAMES_STRONGEST]);
  put_names(blob, "weakest_violated", &d->names[ISO_NAMES_WEAKEST_VIOLATED]);
  iso_blob_text(blob, "workload", d->workload);
  iso_blob_field(blob, "models");
  iso_out_text(blob->out, "{\"schema\":1");
  put_names(blob, "not", &d->names[ISO_NAMES_NOT]);
  put_names(blob, "also_not", &d->names[ISO_NAMES_ALSO_NOT]);
  put_names(blob, "proved", &d->names[ISO_NAMES_PROVED]);
  iso_out_char(blob->out, '}');
}

/* How many facts fit into their share. */
static size_t put_facts(const iso_blob *blob) {
  const isoproof_document *d = blob->document;
  uint64_t room = blob->max_bytes / 100 * FACTS_SHARE;
  size_t shown = 0;
  iso_blob_field(blob, "run");
  iso_out_char(blob->out, '[');
  for (; shown < d->facts.count; shown++) {
    const isoproof_document_fact *fact = &d->facts.items[shown];
    uint64_t bytes = strlen(fact->name) + strlen(fact->value) + 32;
    if (bytes > room) break;
    room -= bytes;
    iso_out_text(blob->out, shown > 0 ? ",{\"name\":" : "{\"name\":");
    iso_put_json_in_html(blob->out, fact->name);
    iso_blob_text(blob, "value", fact->value);
    iso_out_char(blob->out, '}');
  }
  iso_out_char(blob->out, ']');
  return shown;
}

static void put_faults(const iso_blob *blob) {
  const isoproof_document *d = blob->document;
  iso_blob_field(blob, "faults");
  iso_out_char(blob->out, '[');
  for (size_t i = 0; i < d->faults.count; i++) {
    const isoproof_document_fault *fault = &d->faults.items[i];
    iso_out_text(blob->out, i > 0 ? ",{\"kind\":" : "{\"kind\":");
    iso_put_json_in_html(blob->out, fault->kind);
    iso_blob_text(blob, "target", fault->target);
    iso_blob_field(blob, "start");
    iso_blob_time(blob, fault->start);
    iso_blob_field(blob, "end");
    iso_blob_time(blob, fault->end);
    iso_out_char(blob->out, '}');
  }
  iso_out_char(blob->out, ']');
}

static void put_aborts(const iso_blob *blob) {
  const isoproof_document *d = blob->document;
  iso_blob_field(blob, "aborts");
  iso_out_char(blob->out, '[');
  for (size_t i = 0; i < d->aborts.count; i++) {
    const isoproof_document_abort *one = &d->aborts.items[i];
    iso_out_text(blob->out, i > 0 ? ",{\"class\":" : "{\"class\":");
    iso_put_json_in_html(blob->out, one->reason[0] != '\0' ? one->reason : "no code");
    iso_out_printf(blob->out, ",\"count\":%llu}", (unsigned long long)one->count);
  }
  iso_out_char(blob->out, ']');
}

static void put_seconds(const iso_blob *blob) {
  const isoproof_document *d = blob->document;
  if (d->load_seconds >= 0 && d->check_seconds >= 0)
    iso_out_printf(blob->out, ",\"seconds\":{\"load\":%.6f,\"check\":%.6f}", d->load_seconds, d->check_seconds);
  if (d->peak_bytes > 0) iso_out_printf(blob->out, ",\"peak_bytes\":%llu", (unsigned long long)d->peak_bytes);
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

static void put_sentence(const iso_blob *blob, bool *first, const char *before, uint64_t some, uint64_t all,
                         const char *after) {
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%s", before);
  add_count(&words, some);
  iso_words_add(&words, " of ");
  add_count(&words, all);
  iso_words_add(&words, "%s", after);
  if (!*first) iso_out_char(blob->out, ',');
  *first = false;
  iso_put_json_in_html(blob->out, words.text != NULL ? words.text : "");
  iso_words_free(&words);
}

static void put_left_out(const iso_blob *blob, size_t facts_shown) {
  const isoproof_document *d = blob->document;
  bool first = true;
  iso_blob_field(blob, "left_out");
  iso_out_char(blob->out, '[');
  for (size_t i = 0; i < d->left_out.count; i++) {
    if (!first) iso_out_char(blob->out, ',');
    first = false;
    iso_put_json_in_html(blob->out, d->left_out.items[i]);
  }
  if (blob->sample.shown != NULL && blob->sample.count < d->counts.transactions)
    put_sentence(blob, &first, "The timeline shows ", blob->sample.count, d->counts.transactions,
                 " transactions: those around the anomalies and an even sample.");
  if (blob->sample.by_session)
    put_sentence(blob, &first, "The timeline shows ", blob->sample.sessions, d->counts.sessions, " sessions.");
  if (blob->anomalies_shown < d->anomalies.count)
    put_sentence(blob, &first, "The page would be too large: it shows ", blob->anomalies_shown, d->anomalies.count,
                 " anomalies.");
  if (blob->cases_shown < blob->cases_found)
    put_sentence(blob, &first, "The page would be too large: of its last anomaly it shows ", blob->cases_shown,
                 blob->cases_found, " cases.");
  if (facts_shown < d->facts.count)
    put_sentence(blob, &first, "The page shows ", facts_shown, d->facts.count, " facts about the run.");
  iso_out_char(blob->out, ']');
}

void iso_blob_put(iso_blob *blob) {
  const isoproof_document *d = blob->document;
  iso_out_text(blob->out, "{\"schema\":1");
  iso_blob_text(blob, "isoproof", isoproof_version());
  iso_blob_text(blob, "title", d->title);
  iso_blob_text(blob, "file", d->file);
  iso_blob_text(blob, "format", d->format);
  put_counts(blob);
  put_verdicts(blob);
  if (d->has_problem) iso_blob_text(blob, "problem", d->problem.message);
  iso_blob_anomalies(blob);
  size_t facts_shown = put_facts(blob);
  put_faults(blob);
  put_aborts(blob);
  put_seconds(blob);
  if (!iso_blob_series(blob)) blob->failed = true;
  iso_blob_timeline(blob);
  put_left_out(blob, facts_shown);
  iso_out_char(blob->out, '}');
}
