/* Writes Plume text, one line per operation. */
#include <stdlib.h>

#include "format/format.h"
#include "format/txn_id_set.h"

/* What the loops below need at every operation. */
typedef struct {
  iso_write_job *job;
  const isoproof_history *h;
  uint8_t *as;  /* how to write each transaction, see iso_write_outcomes */
  bool own_ids; /* the history's ids can be used */
} writer;

static isoproof_status cannot(const writer *w, uint32_t op, const char *what) {
  char name[64];
  isoproof_position at;
  isoproof_history_txn_name(w->h, iso_history_txn_of(w->h, op), name, sizeof name);
  isoproof_history_position_of(w->h, op, &at);
  return iso_fail_at(w->job->error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){at.file, at.line, 0, at.offset},
                     "Plume text cannot express %s (in %s)", what, name);
}

/* Ids can be kept when every written, committed transaction has one of its own that is not negative. */
static isoproof_status decide_ids(writer *w) {
  const isoproof_history *h = w->h;
  if (h->txn_id_opt == NULL) return ISOPROOF_OK;
  iso_txn_id_set ids;
  iso_txn_id_set_init(&ids);
  isoproof_status status = ISOPROOF_OK;
  w->own_ids = true;
  for (uint32_t t = 0; t < h->txns && w->own_ids && status == ISOPROOF_OK; t++) {
    if (w->as[t] != ISO_WRITE_COMMITTED) continue;
    if (h->txn_id_opt[t] < 0) {
      w->own_ids = false;
      break;
    }
    iso_txn_id_set_result result = iso_txn_id_set_add(&ids, (uint64_t)h->txn_id_opt[t]);
    if (result == ISO_ID_NO_MEMORY) status = iso_fail_memory(w->job->error);
    if (result == ISO_ID_SEEN) w->own_ids = false;
  }
  iso_txn_id_set_free(&ids);
  if (!w->own_ids) w->job->loss->ids = true;
  return status;
}

static isoproof_status put_op(const writer *w, uint32_t op, uint64_t session, int64_t id) {
  const isoproof_history *h = w->h;
  isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
  uint64_t key, value = 0;
  if (kind != ISOPROOF_OP_READ && kind != ISOPROOF_OP_WRITE) {
    return cannot(w, op, "lists, sets, counters or predicates");
  }
  if (!iso_pool_unsigned(&h->pool, h->key_name[h->op_key[op]], &key)) {
    return cannot(w, op, "a key that is not a number without sign");
  }
  if (h->op_value[op] == ISO_VALUE_NONE) {
    if (!w->job->lossy) return cannot(w, op, "a read without a recorded value");
    w->job->loss->unrecorded_reads++;
    return ISOPROOF_OK;
  }
  if (h->op_value[op] != ISO_VALUE_NIL) {
    if (!iso_pool_unsigned(&h->pool, h->op_value[op], &value)) {
      return cannot(w, op, "a value that is not a number without sign");
    }
    if (value == 0 && !h->initial_is_zero) return cannot(w, op, "the value 0, which is its initial version,");
  }
  iso_output *out = w->job->output;
  iso_out_bytes(out, kind == ISOPROOF_OP_READ ? "r(" : "w(", 2);
  iso_out_u64(out, key);
  iso_out_char(out, ',');
  iso_out_u64(out, value);
  iso_out_char(out, ',');
  iso_out_u64(out, session);
  iso_out_char(out, ',');
  iso_out_i64(out, id);
  iso_out_bytes(out, ")\n", 2);
  return ISOPROOF_OK;
}

/* A session's number; by position, as a loss, where the names are not all numbers. */
static isoproof_status session_number(const writer *w, uint32_t session, uint64_t *number) {
  *number = session;
  if (w->h->sessions_are_numbers) {
    (void)iso_pool_unsigned(&w->h->pool, w->h->session_name[session], number);
    return ISOPROOF_OK;
  }
  if (!w->job->lossy) {
    return iso_fail(w->job->error, ISOPROOF_ERR_UNSUPPORTED, "Plume text cannot express sessions that are not numbers");
  }
  w->job->loss->session_names = true;
  return ISOPROOF_OK;
}

static isoproof_status put_session(const writer *w, uint32_t session, int64_t *next_id) {
  const isoproof_history *h = w->h;
  uint64_t number;
  ISO_TRY(session_number(w, session, &number));
  bool after_abort = false;
  for (uint32_t t = h->session_first_txn[session]; t < h->session_first_txn[session + 1]; t++) {
    if (w->as[t] == ISO_WRITE_NOT) continue;
    if (h->txn_first_op[t] == h->txn_first_op[t + 1]) {
      if (!w->job->lossy && w->as[t] == ISO_WRITE_COMMITTED) {
        return iso_fail(w->job->error, ISOPROOF_ERR_UNSUPPORTED,
                        "Plume text cannot express a transaction without operations");
      }
      w->job->loss->empty_txns++;
      continue;
    }
    bool aborted = w->as[t] == ISO_WRITE_ABORTED;
    if (aborted && after_abort) w->job->loss->merged_aborts++;
    after_abort = aborted;
    int64_t id = aborted ? -1 : w->own_ids ? h->txn_id_opt[t] : (*next_id)++;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      ISO_TRY(put_op(w, op, number, id));
    }
    if ((t & 1023) == 0) {
      ISO_TRY(iso_task_check(w->job->task, w->job->error));
      iso_task_progress(w->job->task, "writing", "transactions", t, h->txns);
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_write_plume(iso_write_job *job) {
  writer w = {.job = job, .h = job->history};
  ISO_TRY(iso_write_outcomes(job, "Plume text", &w.as));
  isoproof_status status = decide_ids(&w);
  int64_t next_id = 0;
  for (uint32_t s = 0; s < w.h->sessions && status == ISOPROOF_OK; s++) status = put_session(&w, s, &next_id);
  if (w.h->txn_start_opt != NULL) job->loss->times = true;
  if (w.h->txn_node_opt != NULL) job->loss->nodes = true;
  free(w.as);
  return status;
}
