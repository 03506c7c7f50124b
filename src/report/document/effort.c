/* How hard the run tried, as a part of the document: from the history, to JSON, and back. */
#include <string.h>

#include "base/abi.h"
#include "report/document/document.h"
#include "report/document/json.h"
#include "report/document/read.h"

isoproof_status iso_document_take_effort(isoproof_document *document, const isoproof_effort *given,
                                         isoproof_error *error) {
  if (given == NULL || !document->has_times) return ISOPROOF_OK;
  document->effort = (isoproof_effort){.struct_size = sizeof document->effort};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_effort, &document->effort, given, error));
  document->has_effort = true;
  return ISOPROOF_OK;
}

static void put_counts(isoproof_json *json, const isoproof_effort *e) {
  iso_json_field_u64(json, "keys_written", e->keys_written);
  if (e->keys_written > 0) {
    iso_json_field_object(json, "versions");
    iso_json_field_u64(json, "least", e->versions_min);
    iso_json_field_u64(json, "median", e->versions_median);
    iso_json_field_u64(json, "most", e->versions_max);
    isoproof_json_end(json);
  }
  if (!e->has_times) return;
  iso_json_field_u64(json, "transactions", e->transactions);
  iso_json_field_u64(json, "conflicting", e->conflicting);
  iso_json_field_object(json, "concurrency");
  iso_json_field(json, "mean");
  iso_json_fixed(json, e->concurrency_mean, 3);
  iso_json_field_u64(json, "max", e->concurrency_max);
  isoproof_json_end(json);
}

void iso_put_effort(isoproof_json *json, const isoproof_effort *e, bool words) {
  iso_json_field_object(json, "effort");
  put_counts(json, e);
  if (e->has_times) {
    iso_json_field_list(json, "chances");
    for (size_t i = 0; i < ISOPROOF_CHANCES; i++) {
      const isoproof_chance_info *info = isoproof_chance_at(i);
      isoproof_json_object(json);
      iso_json_field_text(json, "anomaly", info->code);
      if (words) iso_json_field_text(json, "name", info->name);
      if (words) iso_json_field_text(json, "what", info->what);
      iso_json_field_u64(json, "count", e->chances[i]);
      if (e->at_least) iso_json_field_bool(json, "at_least", true);
      isoproof_json_end(json);
    }
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

static void read_chance(isoproof_effort *e, const iso_json *tree) {
  const iso_json *code = iso_json_find(tree, "anomaly");
  for (size_t i = 0; code != NULL && code->type == ISO_TREE_TEXT && i < ISOPROOF_CHANCES; i++) {
    if (strcmp(code->text, isoproof_chance_at(i)->code) != 0) continue;
    (void)iso_json_u64(iso_json_find(tree, "count"), &e->chances[i]);
    if (iso_json_is(iso_json_find(tree, "at_least"), "true")) e->at_least = true;
  }
}

void iso_read_effort(isoproof_document *document, const iso_json *tree) {
  isoproof_effort *e = &document->effort;
  const iso_json *versions = iso_json_find(tree, "versions"), *concurrency = iso_json_find(tree, "concurrency");
  *e = (isoproof_effort){.struct_size = sizeof *e};
  document->has_effort = iso_json_u64(iso_json_find(tree, "keys_written"), &e->keys_written);
  (void)iso_json_u64(iso_json_find(versions, "least"), &e->versions_min);
  (void)iso_json_u64(iso_json_find(versions, "median"), &e->versions_median);
  (void)iso_json_u64(iso_json_find(versions, "most"), &e->versions_max);
  e->has_times = iso_json_u64(iso_json_find(tree, "transactions"), &e->transactions);
  (void)iso_json_u64(iso_json_find(tree, "conflicting"), &e->conflicting);
  (void)iso_json_number(iso_json_find(concurrency, "mean"), &e->concurrency_mean);
  (void)iso_json_u64(iso_json_find(concurrency, "max"), &e->concurrency_max);
  const iso_json *chances = iso_json_find(tree, "chances");
  for (const iso_json *one = chances != NULL && chances->type == ISO_TREE_LIST ? chances->first : NULL; one != NULL;
       one = one->next)
    read_chance(e, one);
}

bool isoproof_document_effort(const isoproof_document *document, isoproof_effort *effort) {
  if (document->has_effort) return ISO_STRUCT_GIVE(effort, document->effort);
  bool known = document->history != NULL && document->has_times;
  return known && isoproof_history_effort(document->history, NULL, effort, NULL) == ISOPROOF_OK;
}
