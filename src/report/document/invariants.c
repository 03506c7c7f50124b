/* Invariants of scripts: whether each held, and if not, what was there instead and which anomaly explains it. */
#include <string.h>

#include "base/abi.h"
#include "base/text.h"
#include "history/history.h"
#include "history/invariant.h"
#include "report/document/assessment.h"
#include "report/document/json.h"
#include "report/document/read.h"

enum { MOST_INVARIANTS = 1000, MOST_NAMED = 3, MOST_LOOKED = 30 };

/* ---- from a history ---- */

static isoproof_document_invariant *invariant_at(isoproof_document *document, uint64_t number) {
  while (document->invariants.count < number) {
    isoproof_document_invariant fresh = {
        .struct_size = sizeof fresh, .name = "", .query = "", .expected = "", .found = "", .first = ISOPROOF_NO_TIME};
    if (!iso_vec_push(&document->invariants, fresh)) return NULL;
  }
  return &document->invariants.items[number - 1];
}

static bool set_field(isoproof_document *document, isoproof_document_invariant *v, size_t field,
                      isoproof_scalar value) {
  const char *text = iso_document_text(&document->arena, value.text, value.length, ISO_DOCUMENT_FACT);
  uint64_t number = 0;
  int64_t time = ISOPROOF_NO_TIME;
  if (text == NULL) return false;
  (void)iso_parse_u64(value.text, value.length, &number);
  (void)iso_parse_i64(value.text, value.length, &time);
  switch ((iso_invariant_fact)field) {
  case ISO_INVARIANT_NAME:
    v->name = text;
    break;
  case ISO_INVARIANT_QUERY:
    v->query = text;
    break;
  case ISO_INVARIANT_EXPECTED:
    v->expected = text;
    break;
  case ISO_INVARIANT_FOUND:
    v->found = text;
    break;
  case ISO_INVARIANT_CHECKS:
    v->checks = number;
    break;
  case ISO_INVARIANT_BROKEN:
    v->broken = number;
    break;
  case ISO_INVARIANT_FIRST:
    v->first = time;
    break;
  case ISO_INVARIANT_IN_THE_END:
    v->in_the_end = strcmp(text, "yes") == 0;
    break;
  case ISO_INVARIANT_FACTS:
    break;
  }
  return true;
}

bool iso_document_take_invariant(isoproof_document *document, isoproof_scalar name, isoproof_scalar value,
                                 bool *taken) {
  static const char *const fields[ISO_INVARIANT_FACTS] = {
#define ISO_X(c_name, field) field,
      ISO_INVARIANT_FACT_LIST(ISO_X)
#undef ISO_X
  };
  size_t prefix = strlen(ISO_INVARIANT_FACT);
  uint64_t number;
  *taken = false;
  if (name.length <= prefix || memcmp(name.text, ISO_INVARIANT_FACT, prefix) != 0) return true;
  const char *digits = name.text + prefix, *end = name.text + name.length,
             *dot = memchr(digits, '.', name.length - prefix);
  if (dot == NULL || !iso_parse_u64(digits, (size_t)(dot - digits), &number) || number == 0 || number > MOST_INVARIANTS)
    return true;
  for (size_t i = 0; i < ISO_INVARIANT_FACTS; i++) {
    size_t length = (size_t)(end - dot - 1);
    if (strlen(fields[i]) != length || memcmp(fields[i], dot + 1, length) != 0) continue;
    isoproof_document_invariant *v = invariant_at(document, number);
    *taken = true;
    return v != NULL && set_field(document, v, i, value);
  }
  return true;
}

bool isoproof_document_invariant_at(const isoproof_document *document, size_t number,
                                    isoproof_document_invariant *out) {
  return number < document->invariants.count && ISO_STRUCT_GIVE(out, document->invariants.items[number]);
}

/* ---- JSON ---- */

void iso_put_invariants_json(isoproof_json *json, const isoproof_document *document) {
  if (document->invariants.count == 0) return;
  iso_json_field_list(json, "invariants");
  for (size_t i = 0; i < document->invariants.count; i++) {
    const isoproof_document_invariant *v = &document->invariants.items[i];
    isoproof_json_object(json);
    iso_json_field_text(json, "name", v->name);
    iso_json_field_text(json, "query", v->query);
    iso_json_field_text(json, "expected", v->expected);
    iso_json_field_u64(json, "checks", v->checks);
    iso_json_field_u64(json, "broken", v->broken);
    if (v->broken > 0) {
      iso_json_field_text(json, "found", v->found);
      if (v->first != ISOPROOF_NO_TIME) iso_json_field_i64(json, "first", v->first);
      isoproof_json_name(json, "in_the_end");
      isoproof_json_bool(json, v->in_the_end);
    }
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

static const char *text_at(isoproof_document *d, const iso_json *tree) {
  if (tree == NULL || tree->type != ISO_TREE_TEXT) return "";
  return iso_document_text(&d->arena, tree->text, tree->length, ISO_DOCUMENT_FACT);
}

bool iso_read_invariants(isoproof_document *d, const iso_json *tree) {
  if (tree->type != ISO_TREE_LIST) return true;
  for (const iso_json *one = tree->first; one != NULL && d->invariants.count < MOST_INVARIANTS; one = one->next) {
    isoproof_document_invariant v = {.struct_size = sizeof v,
                                     .name = text_at(d, iso_json_find(one, "name")),
                                     .query = text_at(d, iso_json_find(one, "query")),
                                     .expected = text_at(d, iso_json_find(one, "expected")),
                                     .found = text_at(d, iso_json_find(one, "found")),
                                     .first = ISOPROOF_NO_TIME};
    const iso_json *end = iso_json_find(one, "in_the_end");
    if (v.name == NULL || v.query == NULL || v.expected == NULL || v.found == NULL) return false;
    (void)iso_json_u64(iso_json_find(one, "checks"), &v.checks);
    (void)iso_json_u64(iso_json_find(one, "broken"), &v.broken);
    (void)iso_json_i64(iso_json_find(one, "first"), &v.first);
    v.in_the_end = end != NULL && end->type == ISO_TREE_SCALAR && end->length == 4 && memcmp(end->text, "true", 4) == 0;
    if (!iso_vec_push(&d->invariants, v)) return false;
  }
  return true;
}

/* ---- in words ---- */

void iso_tell_invariant(iso_words *words, const isoproof_document_invariant *v) {
  if (v->broken == 0) {
    iso_words_add(words, "invariant %s holds, asked %llu time%s: %s returned %s", v->name,
                  (unsigned long long)v->checks, v->checks == 1 ? "" : "s", v->query, v->expected);
    return;
  }
  iso_words_add(words, "invariant %s is broken: %s must return %s, and returned %s", v->name, v->query, v->expected,
                v->found);
  if (v->first != ISOPROOF_NO_TIME) iso_words_add(words, " after %.1f s", (double)v->first * 1e-9);
  iso_words_add(words, " (%llu of %llu times%s)", (unsigned long long)v->broken, (unsigned long long)v->checks,
                v->in_the_end ? ", and in the end" : ", but not in the end");
}

/* Whether the history was found to be that of transactions one after the other. */
static bool is_serial(const isoproof_document *document) {
  for (size_t i = 0; i < document->levels.count; i++) {
    const isoproof_level_verdict *v = &document->levels.items[i];
    if (strcmp(v->level, "serializable") == 0) return v->verdict == ISOPROOF_SATISFIED;
  }
  return false;
}

void iso_tell_invariant_reason(iso_words *words, const isoproof_document *document) {
  uint64_t count = iso_document_anomaly_count(document);
  if (count == 0) {
    iso_words_add(words,
                  is_serial(document)
                      ? "The history is serializable: the transactions break it also when they run one after the "
                        "other, and no isolation level will help."
                      : "No isolation anomaly was found that explains it.");
    return;
  }
  /* Anomalies that people know by name, such as lost updates, before patterns with a number. */
  size_t named = 0;
  for (int patterns = 0; patterns < 2; patterns++) {
    for (size_t i = 0; i < count && i < MOST_LOOKED && named < MOST_NAMED; i++) {
      iso_arena scratch = ISO_ARENA_EMPTY;
      iso_full_anomaly anomaly;
      bool good = iso_document_anomaly(document, i, (iso_anomaly_parts){.full = false}, &scratch, &anomaly);
      if (good && anomaly.code != NULL && (strncmp(anomaly.code, "TAP-", 4) == 0) == (patterns == 1)) {
        iso_words_add(words, "%s%s", named == 0 ? "What explains it: " : ", ", anomaly.name);
        named++;
      }
      iso_arena_free(&scratch);
      if (!good) words->failed = true;
    }
  }
  iso_words_add(words, count > named ? ", and others." : ".");
}

uint64_t iso_document_broken_invariants(const isoproof_document *document) {
  uint64_t broken = 0;
  for (size_t i = 0; i < document->invariants.count; i++) broken += document->invariants.items[i].broken > 0;
  return broken;
}
