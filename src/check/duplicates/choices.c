/* Which reads have a choice, found when somebody asks, and what they are taken to have observed. */
#include "check/duplicates/choices.h"

#include <stdlib.h>
#include <string.h>

#include "history/columns.h"
#include "history/repeated.h"
#include "history/resolve.h"
#include "level/method.h"

/* In the table of reads: asked about before, and nothing to choose. */
#define LISTED UINT32_MAX

void iso_choices_free(iso_choices *c) {
  iso_vec_free(&c->reads);
  iso_vec_free(&c->candidates);
  iso_vec_free(&c->counted);
  free(c->slots);
  free(c->slot_ops);
  iso_row_versions_free(c->own_versions);
  free(c->writers);
  free(c->by_value);
  if (c->has_reach) iso_reach_free(&c->reach);
  memset(c, 0, sizeof *c);
}

void iso_choose(iso_choices *c, size_t read, uint32_t chosen) {
  const iso_choice *choice = &c->reads.items[read];
  c->resolution->writer[choice->op] = c->candidates.items[choice->first + chosen];
}

iso_choice_wish iso_choice_wish_of(const isoproof_level_info *level) {
  const iso_level_method *method = iso_level_method_of(level);
  /* The one level that candidates of the wrong kind can satisfy. */
  iso_choice_wish wish = {.prune = method->engine != ISO_ENGINE_WITHIN};
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (method->engine == ISO_ENGINE_AXIOM) {
    wish.ordered = method->axiom <= ISO_AXIOM_CAUSAL;
    wish.causal = method->axiom == ISO_AXIOM_CAUSAL;
  } else if (strong != NULL) {
    wish.ordered = strong->session_order;
    wish.causal = wish.ordered && strong->rule != ISO_RULE_UPDATE_ATOMIC && strong->rule != ISO_RULE_MIXED;
  }
  return wish;
}

/* ---- the table of reads ---- */

static size_t slot_of(const iso_choices *c, uint32_t op) {
  size_t at = (op * UINT32_C(2654435769)) & c->slot_mask;
  while (c->slots[at] != 0 && c->slot_ops[at] != op) at = (at + 1) & c->slot_mask;
  return at;
}

static bool grow_table(iso_choices *c) {
  size_t old = c->slots != NULL ? c->slot_mask + 1 : 0, room = old > 0 ? 2 * old : 1024;
  uint32_t *slots = c->slots, *ops = c->slot_ops;
  if (2 * (c->slot_used + 1) <= old) return true;
  c->slots = iso_alloc_zero(room, sizeof *c->slots);
  c->slot_ops = iso_alloc(room, sizeof *c->slot_ops);
  c->slot_mask = room - 1;
  bool made = c->slots != NULL && c->slot_ops != NULL;
  for (size_t i = 0; made && i < old; i++) {
    if (slots[i] == 0) continue;
    size_t at = slot_of(c, ops[i]);
    c->slots[at] = slots[i];
    c->slot_ops[at] = ops[i];
  }
  free(slots);
  free(ops);
  return made;
}

static isoproof_status enter(iso_choices *c, uint32_t op, uint32_t what, isoproof_error *error) {
  if (!grow_table(c)) return iso_fail_memory(error);
  size_t at = slot_of(c, op);
  c->slot_used += c->slots[at] == 0;
  c->slots[at] = what;
  c->slot_ops[at] = op;
  return ISOPROOF_OK;
}

/* Adds a read with what is left of its candidates. */
static isoproof_status add_read(iso_choices *c, const iso_choice *choice, isoproof_error *error) {
  if (choice->count == 0 || (c->eager && choice->count == 1)) {
    if (choice->count == 1) c->resolution->writer[choice->op] = c->candidates.items[choice->first];
    c->candidates.count = choice->first;
    return enter(c, choice->op, LISTED, error);
  }
  if (!iso_vec_push(&c->reads, *choice)) return iso_fail_memory(error);
  if (c->eager) iso_choose(c, c->reads.count - 1, 0);
  return enter(c, choice->op, (uint32_t)c->reads.count, error);
}

/* ---- counts ---- */

/* Whether the candidates of a row of a count match, and whether all of them do. */
static void survey(const iso_choices *c, const iso_predicate *predicate, const iso_choice *choice, bool *some,
                   bool *all) {
  const isoproof_history *h = c->history;
  uint32_t key = h->op_key[choice->op];
  *some = false;
  *all = choice->count > 0;
  for (uint32_t i = 0; i < choice->count; i++) {
    uint32_t write = c->candidates.items[choice->first + i];
    iso_value version = write < h->ops ? iso_history_version(h, write) : iso_history_initial(h, key);
    bool matches = iso_version_matches(h, predicate, key, version);
    *some = *some || matches;
    *all = *all && matches;
  }
}

/* Whether the candidates that are left of the rows of a count can make up for its number. */
static isoproof_status is_possible(iso_choices *c, const iso_statement *s, bool *possible, isoproof_error *error) {
  iso_predicate predicate = iso_history_predicate(c->history, s);
  int64_t least = 0, most = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    iso_choice choice;
    bool some, all;
    ISO_TRY(iso_candidates_list(c, op, true, &choice, error));
    survey(c, &predicate, &choice, &some, &all);
    c->candidates.count = choice.first;
    least += all;
    most += some;
  }
  *possible = s->counted >= least && s->counted <= most;
  return ISOPROOF_OK;
}

/* Lists all rows of a count.  Where those that can be right do not make up for its number, others must have been seen.
 */
static isoproof_status add_count(iso_choices *c, const iso_statement *s, isoproof_error *error) {
  iso_counted counted = {.statement = s, .first_read = c->reads.count};
  bool narrow;
  if (c->resolution->writer[s->first_op] == ISO_FROM_NOBODY) {
    for (uint32_t i = 0; i < s->op_count; i++) ISO_TRY(enter(c, s->first_op + i, LISTED, error));
    return ISOPROOF_OK;
  }
  ISO_TRY(is_possible(c, s, &narrow, error));
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    iso_choice choice;
    ISO_TRY(iso_candidates_list(c, op, narrow, &choice, error));
    ISO_TRY(add_read(c, &choice, error));
  }
  counted.reads = c->reads.count - counted.first_read;
  return iso_vec_push(&c->counted, counted) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- reads ---- */

/* Whether the value does not tell which version was seen. */
static bool is_doubtful(const iso_choices *c, uint32_t op) {
  const isoproof_history *h = c->history;
  iso_value value = h->op_value[op];
  if (h->op_kind[op] != ISOPROOF_OP_READ || value == ISO_VALUE_NONE) return false;
  bool open = value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED;
  return (open && c->resolution->rows != NULL) || c->has_duplicates;
}

/* Who wrote each key, in the order of sessions. */
static bool list_writers(iso_choices *c) {
  const isoproof_history *h = c->history;
  uint32_t *next = iso_alloc(h->keys, sizeof *next);
  c->writers = iso_alloc(c->versions->first[h->keys], sizeof *c->writers);
  bool made = next != NULL && c->writers != NULL;
  if (made) memcpy(next, c->versions->first, h->keys * sizeof *next);
  for (uint32_t op = 0; made && op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) c->writers[next[h->op_key[op]]++] = c->op_txn[op];
  }
  free(next);
  return made;
}

/* The reads whose writer is certain: of a value that is unique. */
static isoproof_status find_reach(iso_choices *c, isoproof_error *error) {
  const isoproof_history *h = c->history;
  c->looked_for_reach = true;
  if (!list_writers(c)) return iso_fail_memory(error);
  uint64_t *certain = iso_alloc_zero((size_t)h->ops / 64 + 1, sizeof *certain);
  if (certain == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_READ && !is_doubtful(c, op)) certain[op / 64] |= UINT64_C(1) << (op % 64);
  }
  isoproof_status status = iso_reach_make(h, c->op_txn, c->resolution, certain, &c->reach, error);
  c->has_reach = status == ISOPROOF_OK;
  free(certain);
  return status;
}

isoproof_status iso_choices_need(iso_choices *c, uint32_t op, size_t *place, isoproof_error *error) {
  *place = ISO_NO_CHOICE;
  if (!is_doubtful(c, op)) return ISOPROOF_OK;
  if (!grow_table(c)) return iso_fail_memory(error);
  size_t at = slot_of(c, op);
  if (c->slots[at] == 0 && c->wish.ordered && !c->looked_for_reach) ISO_TRY(find_reach(c, error));
  if (c->slots[at] == 0) {
    if (c->history->op_value[op] == ISO_VALUE_COUNTED) {
      ISO_TRY(add_count(c, iso_history_statement(c->history, op), error));
    } else {
      iso_choice choice;
      ISO_TRY(iso_candidates_list(c, op, true, &choice, error));
      ISO_TRY(add_read(c, &choice, error));
    }
    at = slot_of(c, op);
  }
  if (c->slots[at] != LISTED) *place = c->slots[at] - 1;
  return ISOPROOF_OK;
}

/* Which of two appends of one value a list shows is not looked into: all repetitions must be of registers. */
static isoproof_status refuse_lists(const iso_choices *c, isoproof_error *error) {
  const isoproof_history *h = c->history;
  uint32_t appends = 0;
  for (uint32_t op = 0; op < h->ops; op++) appends += h->op_kind[op] == ISOPROOF_OP_APPEND;
  if (appends == 0) return ISOPROOF_OK;
  iso_repeated repeated;
  ISO_TRY(iso_repeated_find(h, &repeated, error));
  uint64_t of_registers = repeated.values + (c->resolution->rows == NULL ? repeated.absences : 0);
  iso_repeated_free(&repeated);
  return of_registers < c->resolution->counts.duplicate_writes ? iso_history_require_unique(h, c->resolution, error)
                                                               : ISOPROOF_OK;
}

/* Of values that are not unique the join found somebody's write: a better choice is made of each at once. */
static isoproof_status list_duplicates(iso_choices *c, isoproof_task *task, isoproof_error *error) {
  ISO_TRY(refuse_lists(c, error));
  c->eager = true;
  for (uint32_t op = 0; op < c->history->ops; op++) {
    size_t place;
    ISO_TRY(iso_choices_need(c, op, &place, error));
    if (op % 65536 == 0) ISO_TRY(iso_task_check(task, error));
  }
  c->eager = false;
  return ISOPROOF_OK;
}

static isoproof_status prepare(iso_choices *c, isoproof_task *task, isoproof_error *error) {
  c->versions = c->resolution->rows;
  c->has_duplicates = c->resolution->counts.duplicate_writes > 0;
  if (c->versions == NULL) {
    ISO_TRY(iso_row_versions_make(c->history, &c->own_versions, error));
    c->versions = c->own_versions;
  }
  if (!c->has_duplicates) return ISOPROOF_OK;
  ISO_TRY(iso_candidates_index(c, error));
  return list_duplicates(c, task, error);
}

isoproof_status iso_choices_make(isoproof_history *history, iso_choice_wish wish, isoproof_task *task, iso_choices *c,
                                 isoproof_error *error) {
  memset(c, 0, sizeof *c);
  c->history = history;
  c->wish = wish;
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  ISO_TRY(iso_history_op_txns(history, &c->op_txn, error));
  c->resolution = history->resolution;
  isoproof_status status = prepare(c, task, error);
  if (status != ISOPROOF_OK) iso_choices_free(c);
  return status;
}
