/* Documents as such: making, freeing, and looking inside. */
#include "report/document/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/text.h"

isoproof_document *iso_document_new(void) {
  isoproof_document *document = iso_alloc_zero(1, sizeof *document);
  if (document == NULL) return NULL;
  document->arena = ISO_ARENA_EMPTY;
  document->file = document->title = document->format = "";
  document->load_seconds = document->check_seconds = -1;
  document->problem.offset = -1;
  document->counts.struct_size = sizeof document->counts;
  return document;
}

void isoproof_document_free(isoproof_document *document) {
  if (document == NULL) return;
  iso_vec_free(&document->levels);
  iso_vec_free(&document->undecided);
  for (size_t i = 0; i < ISO_NAMES_KINDS; i++) iso_vec_free(&document->names[i]);
  iso_vec_free(&document->facts);
  iso_vec_free(&document->faults);
  iso_vec_free(&document->aborts);
  iso_vec_free(&document->bank.totals);
  iso_vec_free(&document->invariants);
  iso_vec_free(&document->anomalies);
  iso_vec_free(&document->left_out);
  iso_vec_free(&document->notices);
  for (size_t i = 0; i < document->certificates.count; i++) {
    iso_vec_free(&document->certificates.items[i].names);
    iso_vec_free(&document->certificates.items[i].observed);
  }
  iso_vec_free(&document->certificates);
  for (size_t i = 0; i < document->searches.count; i++) iso_vec_free(&document->searches.items[i].figures);
  iso_vec_free(&document->searches);
  isoproof_history_free(document->owned_history);
  iso_arena_free(&document->arena);
  free(document);
}

/* How many bytes of the text stay within `most`, whole characters only. */
static size_t fitting(const char *text, size_t length, size_t most) {
  if (length <= most) return length;
  size_t fits = 0;
  while (fits < length) {
    size_t step = iso_utf8_step(text + fits, length - fits);
    if (step == 0) step = 1;
    if (fits + step > most) break;
    fits += step;
  }
  return fits;
}

/* The same text as UTF-8; `clean` has room for three times the length. */
static size_t clean_text(const char *text, size_t length, char *clean) {
  static const char replacement[3] = {'\xef', '\xbf', '\xbd'};
  size_t at = 0;
  for (size_t i = 0; i < length;) {
    size_t step = iso_utf8_step(text + i, length - i);
    if (step == 0 || text[i] == '\0') {
      memcpy(clean + at, replacement, sizeof replacement);
      at += sizeof replacement;
      i++;
      continue;
    }
    memcpy(clean + at, text + i, step);
    at += step;
    i += step;
  }
  return at;
}

const char *iso_document_text(iso_arena *arena, const char *text, size_t length, size_t most) {
  static const char ellipsis[] = "\xe2\x80\xa6";
  /* No more than that can show. */
  bool long_input = length > most;
  if (long_input) length = most;
  if (!long_input && iso_utf8_valid(text, length) && memchr(text, '\0', length) == NULL)
    return iso_arena_text(arena, text, length);
  char *clean = iso_alloc(length + 2, 3);
  if (clean == NULL) return NULL;
  size_t used = clean_text(text, length, clean);
  if (long_input || used > most) {
    used = fitting(clean, used, most - (sizeof ellipsis - 1));
    memcpy(clean + used, ellipsis, sizeof ellipsis - 1);
    used += sizeof ellipsis - 1;
  }
  const char *made = iso_arena_text(arena, clean, used);
  free(clean);
  return made;
}

bool iso_document_leave_out(isoproof_document *document, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) return true;
  size_t bytes = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
  const char *kept = iso_document_text(&document->arena, text, bytes, sizeof text);
  return kept != NULL && iso_vec_push(&document->left_out, kept);
}

static bool same_key(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

void iso_document_add_edge(isoproof_document_edge *edges, uint32_t *count, isoproof_document_edge edge) {
  for (uint32_t i = 0; i < *count; i++) {
    const isoproof_document_edge *other = &edges[i];
    if (other->from == edge.from && other->to == edge.to && other->from_op == edge.from_op &&
        other->to_op == edge.to_op && strcmp(other->kind, edge.kind) == 0 && same_key(other->key, edge.key))
      return;
  }
  edges[(*count)++] = edge;
}

isoproof_status isoproof_document_make_problem(const char *file, const isoproof_error *problem,
                                               isoproof_document **document, isoproof_error *error) {
  isoproof_document *made = iso_document_new();
  if (made == NULL) return iso_fail_memory(error);
  made->has_problem = true;
  made->problem = *problem;
  made->file = iso_document_text(&made->arena, file, strlen(file), ISO_DOCUMENT_FACT);
  made->given_file = iso_arena_text(&made->arena, file, strlen(file));
  if (made->file == NULL || made->given_file == NULL || !iso_document_make_title(made)) {
    isoproof_document_free(made);
    return iso_fail_memory(error);
  }
  *document = made;
  return ISOPROOF_OK;
}

/* ---- looking inside ---- */

const isoproof_error *isoproof_document_problem(const isoproof_document *document) {
  return document->has_problem ? &document->problem : NULL;
}

const char *isoproof_document_file(const isoproof_document *document) { return document->file; }
const char *isoproof_document_title(const isoproof_document *document) { return document->title; }
const char *isoproof_document_format(const isoproof_document *document) { return document->format; }
void isoproof_document_counts(const isoproof_document *document, isoproof_counts *counts) {
  (void)ISO_STRUCT_GIVE(counts, document->counts);
}
const isoproof_history *isoproof_document_history(const isoproof_document *document) { return document->history; }
double isoproof_document_load_seconds(const isoproof_document *document) { return document->load_seconds; }
double isoproof_document_check_seconds(const isoproof_document *document) { return document->check_seconds; }
isoproof_verdict isoproof_document_verdict(const isoproof_document *document) { return document->verdict; }
const char *isoproof_document_unknown_reason(const isoproof_document *document) { return document->unknown_reason; }
const char *isoproof_document_workload(const isoproof_document *document) { return document->workload; }
isoproof_verdict isoproof_document_elle(const isoproof_document *document) { return document->elle; }

bool isoproof_document_level(const isoproof_document *document, size_t number, isoproof_level_verdict *out) {
  if (number >= document->levels.count) return false;
  return ISO_STRUCT_GIVE(out, document->levels.items[number]);
}

const char *isoproof_document_undecided_at(const isoproof_document *document, size_t number, const char **reason) {
  if (number >= document->undecided.count) return NULL;
  if (reason != NULL) *reason = document->undecided.items[number].reason;
  return document->undecided.items[number].level;
}

static const char *name_at(const iso_name_list *names, size_t number) {
  return number < names->count ? names->items[number] : NULL;
}

const char *isoproof_document_strongest(const isoproof_document *document, size_t number) {
  return name_at(&document->names[ISO_NAMES_STRONGEST], number);
}

const char *isoproof_document_weakest_violated(const isoproof_document *document, size_t number) {
  return name_at(&document->names[ISO_NAMES_WEAKEST_VIOLATED], number);
}

const char *isoproof_document_not(const isoproof_document *document, size_t number) {
  return name_at(&document->names[ISO_NAMES_NOT], number);
}

const char *isoproof_document_also_not(const isoproof_document *document, size_t number) {
  return name_at(&document->names[ISO_NAMES_ALSO_NOT], number);
}

const char *isoproof_document_proved(const isoproof_document *document, size_t number) {
  return name_at(&document->names[ISO_NAMES_PROVED], number);
}

const char *isoproof_document_left_out(const isoproof_document *document, size_t number) {
  return name_at(&document->left_out, number);
}

bool isoproof_document_fact_at(const isoproof_document *document, size_t number, isoproof_document_fact *out) {
  return number < document->facts.count && ISO_STRUCT_GIVE(out, document->facts.items[number]);
}

const char *isoproof_document_fact_of(const isoproof_document *document, const char *name) {
  for (size_t i = 0; i < document->facts.count; i++) {
    if (strcmp(document->facts.items[i].name, name) == 0) return document->facts.items[i].value;
  }
  return NULL;
}

bool isoproof_document_fault_at(const isoproof_document *document, size_t number, isoproof_document_fault *out) {
  return number < document->faults.count && ISO_STRUCT_GIVE(out, document->faults.items[number]);
}

bool isoproof_document_abort_at(const isoproof_document *document, size_t number, isoproof_document_abort *out) {
  return number < document->aborts.count && ISO_STRUCT_GIVE(out, document->aborts.items[number]);
}

const isoproof_document_anomaly *isoproof_document_anomaly_at(const isoproof_document *document, size_t number) {
  return number < document->anomalies.count ? &document->anomalies.items[number].limited : NULL;
}

/* ---- what renderers ask for ---- */

uint64_t iso_document_anomaly_count(const isoproof_document *document) {
  return document->source.get != NULL ? document->source.count : document->anomalies.count;
}

bool iso_document_anomaly(const isoproof_document *document, size_t number, iso_anomaly_parts parts, iso_arena *arena,
                          iso_full_anomaly *out) {
  if (document->source.get != NULL) return document->source.get(document, number, parts, arena, out);
  *out = number < document->anomalies.count ? document->anomalies.items[number] : (iso_full_anomaly){.code = NULL};
  return true;
}

const char *iso_certificate_next(iso_certificate_cursor *cursor) {
  const iso_document_certificate *c = cursor->certificate;
  if (cursor->at == c->count) return NULL;
  uint64_t at = cursor->at++;
  if (c->events == NULL) {
    const char *name = c->names.items + cursor->next;
    cursor->next += strlen(name) + 1;
    return name;
  }
  const isoproof_certificate_event *event = &c->events[at];
  size_t length = isoproof_history_txn_name(cursor->history, event->txn, cursor->name, sizeof cursor->name);
  if (event->kind != ISOPROOF_EVENT_TXN && length < sizeof cursor->name)
    snprintf(cursor->name + length, sizeof cursor->name - length, ":%s",
             isoproof_certificate_event_kind_name(event->kind));
  return cursor->name;
}

bool iso_certificate_add(iso_document_certificate *certificate, const char *name, size_t length) {
  length = strnlen(name, length);
  if (!iso_vec_reserve(&certificate->names, length + 1)) return false;
  memcpy(certificate->names.items + certificate->names.count, name, length);
  certificate->names.items[certificate->names.count + length] = '\0';
  certificate->names.count += length + 1;
  certificate->count++;
  return true;
}
