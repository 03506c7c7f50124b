/* The data of the page: what is not long, and what is left out. */
#include "report/page/page_data.h"

#include <string.h>

#include "report/document/assessment.h"
#include "report/document/json.h"

/* Shares of the page, in percent: what does not fit is left out, and the page says so. */
enum { TIMELINE_SHARE = 45, FACTS_SHARE = 5, TXN_BYTES = 34, MOST_SHOWN = 200000 };

bool iso_page_data_init(iso_page_data *page, const isoproof_document *document, uint64_t max_bytes) {
  *page = (iso_page_data){.document = document, .max_bytes = max_bytes};
  uint64_t most = max_bytes / 100 * TIMELINE_SHARE / TXN_BYTES;
  return iso_sample_choose(&page->sample, document, most < MOST_SHOWN ? most : MOST_SHOWN);
}

void iso_page_data_free(iso_page_data *page) {
  free(page->sample.shown);
  free(page->sample.session);
}

void iso_page_data_time(const iso_page_data *page, const char *name, int64_t time) {
  int64_t base = page->document->has_times ? page->document->first_start : 0, since;
  iso_json_field(page->json, name);
  if (time == ISOPROOF_NO_TIME)
    isoproof_json_null(page->json);
  else if (!__builtin_sub_overflow(time, base, &since))
    isoproof_json_i64(page->json, since);
  else
    iso_json_fixed(page->json, (double)time - (double)base, 0);
}

/* ---- parts ---- */

static void put_names(const iso_page_data *page, const char *field, const iso_name_list *names) {
  iso_json_field_list(page->json, field);
  for (size_t i = 0; i < names->count; i++)
    isoproof_json_string(page->json, iso_page_level_name(page->document, names->items[i]));
  isoproof_json_end(page->json);
}

static void put_counts(const iso_page_data *page) {
  const isoproof_counts *c = &page->document->counts;
  iso_json_field_object(page->json, "counts");
  iso_json_field_u64(page->json, "sessions", c->sessions);
  iso_json_field_u64(page->json, "transactions", c->transactions);
  iso_json_field_u64(page->json, "operations", c->operations);
  iso_json_field_u64(page->json, "committed", c->committed);
  iso_json_field_u64(page->json, "aborted", c->aborted);
  iso_json_field_u64(page->json, "unknown", c->unknown);
  isoproof_json_end(page->json);
}

static void put_expected(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_json_field_list(page->json, "expected");
  for (size_t i = 0; i < d->levels.count; i++) {
    if (d->levels.items[i].asked) isoproof_json_string(page->json, iso_page_level_name(d, d->levels.items[i].level));
  }
  isoproof_json_end(page->json);
}

/* Invariants of scripts, each in a sentence. */
static void put_invariants(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_words words = {NULL, 0, 0, false};
  if (d->invariants.count == 0) return;
  iso_json_field_list(page->json, "invariants");
  for (size_t i = 0; i < d->invariants.count; i++) {
    iso_tell_invariant(&words, &d->invariants.items[i]);
    isoproof_json_object(page->json);
    isoproof_json_name(page->json, "broken");
    isoproof_json_bool(page->json, d->invariants.items[i].broken > 0);
    iso_json_field_text(page->json, "words", words.failed ? "" : words.text);
    isoproof_json_end(page->json);
    iso_words_free(&words);
  }
  isoproof_json_end(page->json);
  if (iso_document_broken_invariants(d) == 0) return;
  iso_tell_invariant_reason(&words, d);
  iso_json_field_text(page->json, "invariants_reason", words.failed ? "" : words.text);
  iso_words_free(&words);
}

static void put_verdicts(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_json_field_text(page->json, "verdict", isoproof_verdict_name(d->verdict));
  put_expected(page);
  iso_json_field_text(page->json, "unknown_reason", d->unknown_reason);
  iso_put_notices_json(page->json, d);
  put_invariants(page);
  iso_page_data_levels(page);
  put_names(page, "strongest", &d->names[ISO_NAMES_STRONGEST]);
  put_names(page, "weakest_violated", &d->names[ISO_NAMES_WEAKEST_VIOLATED]);
  iso_json_field_text(page->json, "workload", d->workload);
  iso_json_field_object(page->json, "models");
  iso_json_field_u64(page->json, "schema", 1);
  put_names(page, "not", &d->names[ISO_NAMES_NOT]);
  put_names(page, "also_not", &d->names[ISO_NAMES_ALSO_NOT]);
  put_names(page, "proved", &d->names[ISO_NAMES_PROVED]);
  isoproof_json_end(page->json);
}

static void put_fact(const iso_page_data *page, const char *name, iso_words *words) {
  isoproof_json_object(page->json);
  iso_json_field_text(page->json, "name", name);
  iso_json_field_text(page->json, "value", words->failed ? "" : words->text);
  isoproof_json_end(page->json);
  iso_words_free(words);
}

/* Wrong totals of a bank, as facts about the run. */
static void put_bank(const iso_page_data *page) {
  enum { MOST = 3 };
  const iso_document_bank *bank = &page->document->bank;
  iso_words words = {NULL, 0, 0, false};
  if (!bank->known || bank->wrong == 0) return;
  iso_tell_bank(&words, bank);
  put_fact(page, "wrong totals", &words);
  for (size_t i = 0; i < bank->totals.count && i < MOST; i++) {
    iso_tell_total(&words, bank, &bank->totals.items[i]);
    put_fact(page, "for example", &words);
  }
}

/* From the first start to the last end. */
static void put_times(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  if (!d->has_times) return;
  iso_json_field_object(page->json, "times");
  iso_page_data_time(page, "start", d->first_start);
  iso_page_data_time(page, "end", d->last_end);
  isoproof_json_end(page->json);
}

/* How many facts fit into their share. */
static size_t put_facts(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  uint64_t room = page->max_bytes / 100 * FACTS_SHARE;
  size_t shown = 0;
  iso_json_field_list(page->json, "run");
  for (; shown < d->facts.count; shown++) {
    const isoproof_document_fact *fact = &d->facts.items[shown];
    uint64_t bytes = strlen(fact->name) + strlen(fact->value) + 32;
    if (bytes > room) break;
    room -= bytes;
    isoproof_json_object(page->json);
    iso_json_field_text(page->json, "name", fact->name);
    iso_json_field_text(page->json, "value", fact->value);
    isoproof_json_end(page->json);
  }
  put_bank(page);
  isoproof_json_end(page->json);
  return shown;
}

static void put_faults(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_json_field_list(page->json, "faults");
  for (size_t i = 0; i < d->faults.count; i++) {
    const isoproof_document_fault *fault = &d->faults.items[i];
    isoproof_json_object(page->json);
    iso_json_field_text(page->json, "kind", fault->kind);
    iso_json_field_text(page->json, "target", fault->target);
    iso_page_data_time(page, "start", fault->start);
    iso_page_data_time(page, "end", fault->end);
    isoproof_json_end(page->json);
  }
  isoproof_json_end(page->json);
}

static void put_aborts(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_json_field_list(page->json, "aborts");
  for (size_t i = 0; i < d->aborts.count; i++) {
    const isoproof_document_abort *one = &d->aborts.items[i];
    isoproof_json_object(page->json);
    iso_json_field_text(page->json, "class", one->reason[0] != '\0' ? one->reason : "no code");
    iso_json_field_u64(page->json, "count", one->count);
    isoproof_json_end(page->json);
  }
  isoproof_json_end(page->json);
}

/* As the result has it, or from the history: one without times tells how many versions there were, at least. */
static void put_effort(iso_page_data *page) {
  const isoproof_document *d = page->document;
  isoproof_effort effort = {.struct_size = sizeof effort};
  bool known = isoproof_document_effort(d, &effort);
  if (!known && d->history != NULL) {
    known = isoproof_history_effort(d->history, NULL, &effort, NULL) == ISOPROOF_OK;
    if (!known) page->failed = true;
  }
  if (known) iso_put_effort(page->json, &effort, true);
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

static void put_sentence(const iso_page_data *page, const char *before, uint64_t some, uint64_t all,
                         const char *after) {
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%s", before);
  add_count(&words, some);
  iso_words_add(&words, " of ");
  add_count(&words, all);
  iso_words_add(&words, "%s", after);
  isoproof_json_string(page->json, words.text != NULL ? words.text : "");
  iso_words_free(&words);
}

static void put_left_out(const iso_page_data *page, size_t facts_shown) {
  const isoproof_document *d = page->document;
  iso_json_field_list(page->json, "left_out");
  for (size_t i = 0; i < d->left_out.count; i++) isoproof_json_string(page->json, d->left_out.items[i]);
  if (page->sample.shown != NULL && page->sample.count < d->counts.transactions)
    put_sentence(page, "The timeline shows ", page->sample.count, d->counts.transactions,
                 " transactions: those around the anomalies and an even sample.");
  if (page->sample.by_session)
    put_sentence(page, "The timeline shows ", page->sample.sessions, d->counts.sessions, " sessions.");
  if (page->anomalies_shown < d->anomalies.count)
    put_sentence(page, "The page would be too large: it shows ", page->anomalies_shown, d->anomalies.count,
                 " anomalies.");
  if (page->cases_shown < page->cases_found)
    put_sentence(page, "The page would be too large: of its last anomaly it shows ", page->cases_shown,
                 page->cases_found, " cases.");
  if (facts_shown < d->facts.count)
    put_sentence(page, "The page shows ", facts_shown, d->facts.count, " facts about the run.");
  isoproof_json_end(page->json);
}

void iso_page_data_put(iso_page_data *page) {
  const isoproof_document *d = page->document;
  isoproof_json json;
  iso_json_writer_init(&json, page->out, ISO_JSON_IN_HTML);
  page->json = &json;
  isoproof_json_object(page->json);
  iso_json_field_u64(page->json, "schema", 1);
  iso_json_field_text(page->json, "isoproof", isoproof_version());
  iso_json_field_text(page->json, "title", d->title);
  iso_json_field_text(page->json, "file", d->file);
  iso_json_field_text(page->json, "format", d->format);
  put_counts(page);
  put_times(page);
  put_verdicts(page);
  if (d->has_problem) iso_json_field_text(page->json, "problem", d->problem.message);
  iso_page_data_anomalies(page);
  size_t facts_shown = put_facts(page);
  put_faults(page);
  put_aborts(page);
  iso_put_effort_json(page->json, d);
  put_effort(page);
  if (!iso_page_data_time_series(page)) page->failed = true;
  iso_page_data_timeline(page);
  put_left_out(page, facts_shown);
  isoproof_json_end(page->json);
  page->json = NULL;
}
