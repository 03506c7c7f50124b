/* join_lost.c - what lost machines wrote, as far as others have read it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/jsonl.h"
#include "history/resolve.h"
#include "run/join.h"
#include "workload/generator.h"

typedef struct seeker {
  isoproof_history *history;
  const iso_resolution *resolution;
  iso_joined *joined;
  uint64_t sessions; /* of the workload */
  bool amounts;      /* values hold them */
  iso_output *out;
  ISO_VEC(uint64_t) seen; /* keys and values that were told */
} seeker;

/* ---- whose value it is ---- */

/* Every session has its own residue of the values, and every machine its own of the sessions. */
static bool is_of_lost(const seeker *s, iso_value value) {
  int64_t number;
  if (!iso_pool_integer(&s->history->pool, value, &number)) return false;
  if (s->amounts) number >>= ISO_AMOUNT_BITS;
  if (number < 1) return false;
  return !s->joined->machines[(uint64_t)(number - 1) % s->sessions % s->joined->count].ended;
}

static isoproof_status start(seeker *s, isoproof_task *task, isoproof_error *error) {
  const char *sessions = isoproof_history_fact(s->history, "sessions");
  const char *workload = isoproof_history_fact(s->history, "workload");
  s->sessions = sessions != NULL ? strtoull(sessions, NULL, 10) : 0;
  s->amounts = workload != NULL && strcmp(workload, isoproof_workload_at(ISOPROOF_WORKLOAD_BANK)) == 0;
  if (s->sessions == 0 || workload == NULL)
    return iso_fail(error, ISOPROOF_ERR_FORMAT, "expected the number of sessions and the workload in the header");
  if (iso_history_has_rows(s->history) || strcmp(workload, isoproof_workload_at(ISOPROOF_WORKLOAD_PREDICATE)) == 0)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "a machine was lost that deletes rows: what it deleted in the end nobody knows, and without that "
                    "the history is not to be judged");
  return iso_history_resolve(s->history, task, &s->resolution, error);
}

/* ---- what others have seen of it ---- */

/* Adds the write of a value that nobody recorded; each is noted once, when sorted. */
static bool note(seeker *s, uint32_t key, iso_value value) {
  return !is_of_lost(s, value) || iso_vec_push(&s->seen, (uint64_t)key << 32 | value);
}

static bool seek_registers(seeker *s) {
  const isoproof_history *h = s->history;
  for (uint32_t i = 0; i < h->ops; i++)
    if (h->op_kind[i] == ISOPROOF_OP_READ && s->resolution->writer[i] == ISO_FROM_NOBODY &&
        !note(s, h->op_key[i], h->op_value[i]))
      return false;
  return true;
}

static bool seek_lists(seeker *s) {
  const isoproof_history *h = s->history;
  for (uint32_t key = 0; h->list_first != NULL && key < h->keys; key++)
    for (uint64_t i = h->list_first[key]; i < h->list_first[key + 1]; i++)
      if (s->resolution->list_writer[i] == ISO_FROM_NOBODY && !note(s, key, h->list_values[i])) return false;
  for (uint32_t op = 0; h->odd_lists > 0 && op < h->ops; op++) {
    uint32_t count;
    if (h->op_kind[op] != ISOPROOF_OP_READ_LIST) continue;
    const iso_value *elements = iso_history_list(h, op, &count);
    if (count == 0 || elements < h->odd_values || elements >= h->odd_values + h->odd_first[h->odd_lists]) continue;
    for (uint32_t i = 0; i < count; i++)
      if (s->resolution->odd_writer[elements - h->odd_values + i] == ISO_FROM_NOBODY &&
          !note(s, h->op_key[op], elements[i]))
        return false;
  }
  return true;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Each in a session of its own, since nobody knows their order; begun when everything began. */
static void tell(seeker *s, bool lists) {
  const isoproof_history *h = s->history;
  if (s->seen.count > 0) qsort(s->seen.items, s->seen.count, sizeof *s->seen.items, by_number);
  for (size_t i = 0; i < s->seen.count; i++) {
    if (i > 0 && s->seen.items[i] == s->seen.items[i - 1]) continue;
    uint32_t key = (uint32_t)(s->seen.items[i] >> 32), value = (uint32_t)s->seen.items[i];
    iso_jsonl_op op = {.kind = lists ? ISOPROOF_OP_APPEND : ISOPROOF_OP_WRITE,
                       .key = iso_history_scalar(h, h->key_name[key]),
                       .value = iso_history_scalar(h, value)};
    iso_jsonl_txn txn = {.session = {.type = ISOPROOF_INTEGER, .integer = ++s->joined->last_name},
                         .status = ISOPROOF_TXN_UNKNOWN,
                         .start = s->joined->begin,
                         .end = ISOPROOF_NO_TIME,
                         .start_index = -1,
                         .end_index = -1,
                         .node = isoproof_nil(),
                         .error = isoproof_nil(),
                         .ops = &op,
                         .count = 1};
    iso_jsonl_write_txn(s->out, &txn);
    s->joined->lost_writes++;
  }
  s->seen.count = 0;
}

static bool append(void *user, const void *data, size_t size) { return fwrite(data, 1, size, user) == size; }

static isoproof_status add_seen(seeker *s, FILE *file, isoproof_error *error) {
  ISO_TRY(iso_output_open_callback(append, file, ISOPROOF_COMPRESS_NO, &s->out, error));
  bool good = seek_registers(s);
  if (good) tell(s, false);
  good = good && seek_lists(s);
  if (good) tell(s, true);
  isoproof_status status = good ? ISOPROOF_OK : iso_fail_memory(error);
  if (good) {
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, s->joined->lost_writes);
    iso_jsonl_fact fact = {"lost-writes", number, strlen("lost-writes"), strlen(number)};
    iso_jsonl_write_header(s->out, false, &fact, 1);
    status = iso_output_close(s->out, error);
  } else {
    iso_output_abandon(s->out);
  }
  return status;
}

isoproof_status iso_join_lost(const char *path, isoproof_task *task, iso_joined *joined, isoproof_error *error) {
  seeker s = {.joined = joined};
  ISO_TRY(isoproof_history_open(path, NULL, task, &s.history, error));
  isoproof_status status = start(&s, task, error);
  FILE *file = status == ISOPROOF_OK ? fopen(path, "ae") : NULL;
  if (status == ISOPROOF_OK && file == NULL) status = iso_fail_errno(error, path, "open it for writing");
  if (file != NULL) {
    status = add_seen(&s, file, error);
    if (fclose(file) != 0 && status == ISOPROOF_OK) status = iso_fail_errno(error, path, "write to it");
  }
  if (status != ISOPROOF_OK) unlink(path);
  iso_vec_free(&s.seen);
  isoproof_history_free(s.history);
  return status;
}
