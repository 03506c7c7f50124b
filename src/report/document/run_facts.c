/* What a history says about its run: facts of its header, faults among its events, why transactions ended. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "history/history.h"
#include "history/notice.h"
#include "report/document/document.h"

/* ---- facts ---- */

static bool begins_with(isoproof_scalar text, const char *prefix) {
  size_t length = strlen(prefix);
  return text.type == ISOPROOF_STRING && text.length >= length && memcmp(text.text, prefix, length) == 0;
}

static bool set_fact(isoproof_document *document, isoproof_scalar name, isoproof_scalar value) {
  iso_arena *arena = &document->arena;
  isoproof_document_fact fact = {.struct_size = sizeof fact,
                                 .name = iso_document_text(arena, name.text, name.length, ISO_DOCUMENT_SCALAR),
                                 .value = iso_document_text(arena, value.text, value.length, ISO_DOCUMENT_FACT)};
  if (fact.name == NULL || fact.value == NULL) return false;
  /* A header that comes later says what holds. */
  for (size_t i = 0; i < document->facts.count; i++) {
    if (strcmp(document->facts.items[i].name, fact.name) == 0) {
      document->facts.items[i].value = fact.value;
      return true;
    }
  }
  return document->facts.count >= ISO_DOCUMENT_FACTS || iso_vec_push(&document->facts, fact);
}

/* ---- faults ---- */

/* A word of the text, behind which `*text` goes. */
static isoproof_scalar next_word(isoproof_scalar *text) {
  isoproof_scalar word = {.type = ISOPROOF_STRING, .text = text->text};
  while (word.length < text->length && text->text[word.length] != ' ') word.length++;
  uint32_t used = word.length < text->length ? word.length + 1 : word.length;
  text->text += used;
  text->length -= used;
  return word;
}

static bool is_word(isoproof_scalar word, const char *text) {
  return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static void end_fault(isoproof_document *document, const char *kind, const char *target, int64_t at) {
  for (size_t i = document->faults.count; i-- > 0;) {
    isoproof_document_fault *fault = &document->faults.items[i];
    if (fault->end != ISOPROOF_NO_TIME || strcmp(fault->kind, kind) != 0 || strcmp(fault->target, target) != 0)
      continue;
    if (at >= fault->start) fault->end = at;
    return;
  }
}

/* "NANOSECONDS fault KIND node NUMBER begin..." and the same with end; the number "all" is that of every node. */
static bool take_event(isoproof_document *document, isoproof_scalar text) {
  int64_t at;
  char target[64];
  isoproof_scalar time = next_word(&text), what = next_word(&text), kind = next_word(&text), node = next_word(&text),
                  number = next_word(&text), phase = next_word(&text);
  while (phase.length > 0 && phase.text[phase.length - 1] == ':') phase.length--;
  if (!iso_parse_i64(time.text, time.length, &at) || at == ISOPROOF_NO_TIME || !is_word(what, "fault") ||
      !is_word(node, "node"))
    return true;
  snprintf(target, sizeof target, "n%.*s", (int)(number.length < 40 ? number.length : 40), number.text);
  if (is_word(number, "all")) target[0] = 0;
  isoproof_document_fault fault = {
      .struct_size = sizeof fault,
      .kind = iso_document_text(&document->arena, kind.text, kind.length, ISO_DOCUMENT_SCALAR),
      .target = iso_document_text(&document->arena, target, strlen(target), ISO_DOCUMENT_SCALAR),
      .start = at,
      .end = ISOPROOF_NO_TIME};
  if (fault.kind == NULL || fault.target == NULL) return false;
  if (is_word(phase, "begin") && document->faults.count < ISO_DOCUMENT_FAULTS)
    return iso_vec_push(&document->faults, fault);
  if (is_word(phase, "end")) end_fault(document, fault.kind, fault.target, at);
  return true;
}

static bool take_facts(isoproof_document *document, const isoproof_history *history) {
  for (uint32_t i = 0; i < history->fact_count; i++) {
    isoproof_scalar name = iso_history_scalar(history, history->facts[i].name);
    isoproof_scalar value = iso_history_scalar(history, history->facts[i].value);
    if (name.type != ISOPROOF_STRING || value.type != ISOPROOF_STRING) continue;
    if (begins_with(name, ISO_NOTICE_FACT)) continue;
    bool taken;
    if (!iso_document_take_invariant(document, name, value, &taken)) return false;
    if (taken) continue;
    bool good = begins_with(name, "event.") ? take_event(document, value) : set_fact(document, name, value);
    if (!good) return false;
  }
  return true;
}

/* ---- aborts ---- */

typedef struct tally {
  iso_value code;
  uint64_t count;
} tally;

static int by_code(const void *a, const void *b) {
  const tally *x = a, *y = b;
  return x->code < y->code ? -1 : x->code > y->code;
}

/* The most frequent first; those of equal number in the order of their codes. */
static int by_count(const void *a, const void *b) {
  const tally *x = a, *y = b;
  return x->count > y->count ? -1 : x->count < y->count ? 1 : by_code(a, b);
}

typedef ISO_VEC(tally) tally_list;

/* Adds one, by a search among the few codes seen so far; false when memory is out. */
static bool count_code(tally_list *seen, iso_value code) {
  for (size_t i = 0; i < seen->count; i++) {
    if (seen->items[i].code == code) {
      seen->items[i].count++;
      return true;
    }
  }
  tally fresh = {code, 1};
  /* A history with thousands of codes has no classes: what comes late is counted with those without a code. */
  if (seen->count >= 4 * ISO_DOCUMENT_ABORTS) return seen->items[0].count++, true;
  return iso_vec_push(seen, fresh);
}

static bool list_aborts(isoproof_document *document, const isoproof_history *history, tally_list *seen) {
  qsort(seen->items, seen->count, sizeof *seen->items, by_count);
  for (size_t i = 0; i < seen->count && document->aborts.count < ISO_DOCUMENT_ABORTS; i++) {
    if (seen->items[i].count == 0) continue;
    isoproof_scalar code = iso_history_scalar(history, seen->items[i].code);
    char text[ISO_DOCUMENT_SCALAR * 2] = "";
    if (code.type != ISOPROOF_NIL) isoproof_scalar_format(code, text, sizeof text);
    isoproof_document_abort one = {.struct_size = sizeof one,
                                   .reason =
                                       iso_document_text(&document->arena, text, strlen(text), ISO_DOCUMENT_SCALAR),
                                   .count = seen->items[i].count};
    if (one.reason == NULL || !iso_vec_push(&document->aborts, one)) return false;
  }
  return true;
}

static bool take_aborts(isoproof_document *document, const isoproof_history *history) {
  if (history->aborted == 0 && history->unknown == 0) return true;
  tally_list seen = {NULL, 0, 0};
  tally none = {ISO_VALUE_NIL, 0};
  bool good = iso_vec_push(&seen, none);
  for (uint32_t t = 0; good && t < history->txns; t++) {
    if (history->txn_status[t] == ISOPROOF_TXN_COMMITTED) continue;
    good = count_code(&seen, history->txn_error_opt != NULL ? history->txn_error_opt[t] : ISO_VALUE_NIL);
  }
  good = good && list_aborts(document, history, &seen);
  iso_vec_free(&seen);
  return good;
}

/* ---- times ---- */

static void take_times(isoproof_document *document, const isoproof_history *history) {
  if (history->txn_start_opt == NULL) return;
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (uint32_t t = 0; t < history->txns; t++) {
    int64_t start = history->txn_start_opt[t], end = history->txn_end_opt[t];
    if (start != ISOPROOF_NO_TIME && start < first) first = start;
    if (start != ISOPROOF_NO_TIME && start > last) last = start;
    if (end != ISOPROOF_NO_TIME && end > last) last = end;
  }
  document->has_times = first <= last;
  if (!document->has_times) return;
  document->first_start = first;
  document->last_end = last;
}

bool iso_document_run_facts(isoproof_document *document, const isoproof_history *history) {
  isoproof_history_counts(history, &document->counts);
  take_times(document, history);
  return take_facts(document, history) && take_aborts(document, history) &&
         iso_document_bank_facts(document, history) && iso_document_take_notices(document, history);
}
