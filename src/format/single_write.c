/* Writes histories of single operations as Porcupine's key-value logs, or as what Jepsen prints of a register. */
#include <stdlib.h>

#include "base/vector.h"
#include "format/moments.h"
#include "format/single_log.h"

typedef struct writer {
  iso_write_job *job;
  const isoproof_history *h;
  iso_output *out;
  bool porcupine;
  const char *name;
  uint32_t *crashed; /* by session: transactions of unknown outcome so far */
} writer;

static isoproof_status cannot(const writer *w, uint32_t txn, const char *what) {
  char name[64];
  isoproof_history_txn_name(w->h, txn, name, sizeof name);
  return iso_fail(w->job->error, ISOPROOF_ERR_UNSUPPORTED, "%s cannot express %s (in %s)", w->name, what, name);
}

/* What a transaction is as a call. */
static isoproof_status call_of(const writer *w, uint32_t txn, iso_single_call *call) {
  const isoproof_history *h = w->h;
  uint32_t first = h->txn_first_op[txn], count = h->txn_first_op[txn + 1] - first;
  bool swap = count == 2 && h->op_kind[first] == ISOPROOF_OP_READ && h->op_kind[first + 1] == ISOPROOF_OP_WRITE &&
              h->op_key[first] == h->op_key[first + 1] && !w->porcupine;
  if (count != 1 && !swap) return cannot(w, txn, "a transaction that is not one operation");
  if (!swap && h->op_kind[first] != ISOPROOF_OP_READ && h->op_kind[first] != ISOPROOF_OP_WRITE) {
    return cannot(w, txn, "operations on anything but registers");
  }
  if (!w->porcupine && h->keys > 1) return cannot(w, txn, "more than one register");
  bool reads = !swap && h->op_kind[first] == ISOPROOF_OP_READ;
  *call = (iso_single_call){.key = h->key_name[h->op_key[first]], .outcome = h->txn_status[txn]};
  call->f = (uint8_t)(reads  ? (w->porcupine ? ISO_SINGLE_GET : ISO_SINGLE_READ)
                      : swap ? ISO_SINGLE_CAS
                             : (w->porcupine ? ISO_SINGLE_PUT : ISO_SINGLE_WRITE));
  for (uint32_t i = 0; i < count; i++) call->value[i] = h->op_value[first + i];
  bool nothing = reads && call->value[0] == ISO_VALUE_NONE;
  if (nothing && h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) return cannot(w, txn, "a read without a recorded value");
  if (swap && call->value[0] == ISO_VALUE_NIL) return cannot(w, txn, "a comparison with what was there at first");
  if (swap && call->value[0] == ISO_VALUE_NONE) return cannot(w, txn, "a read without a recorded value");
  if (swap && h->txn_status[txn] == ISOPROOF_TXN_ABORTED) {
    return cannot(w, txn, "a compare-and-set that was undone: one that fails says that the value was another");
  }
  return ISOPROOF_OK;
}

/* A scalar; Porcupine's form has texts only. */
static isoproof_status put_scalar(const writer *w, uint32_t txn, iso_value value) {
  isoproof_scalar s = iso_history_scalar(w->h, value);
  if (s.type == ISOPROOF_NIL) {
    iso_out_text(w->out, w->porcupine ? "\"\"" : "nil");
  } else if (s.type == ISOPROOF_INTEGER) {
    if (w->porcupine) iso_out_char(w->out, '"');
    iso_out_i64(w->out, s.integer);
    if (w->porcupine) iso_out_char(w->out, '"');
  } else if (s.type == ISOPROOF_STRING && w->porcupine) {
    if (s.length == 0) return cannot(w, txn, "a write of the empty text, which is its initial version,");
    iso_out_json_string(w->out, s.text, s.length); /* what JSON escapes, EDN reads */
  } else {
    return cannot(w, txn, w->porcupine ? "anything but numbers and texts" : "anything but numbers");
  }
  return ISOPROOF_OK;
}

static isoproof_status put_value(const writer *w, uint32_t txn, const iso_single_call *call, bool begins) {
  bool reads = call->f == ISO_SINGLE_GET || call->f == ISO_SINGLE_READ;
  if (reads && (begins || call->outcome == ISOPROOF_TXN_ABORTED)) {
    iso_out_text(w->out, begins ? "nil" : ":timed-out");
    return ISOPROOF_OK;
  }
  if (call->f != ISO_SINGLE_CAS) return put_scalar(w, txn, call->value[0]);
  iso_out_char(w->out, '[');
  ISO_TRY(put_scalar(w, txn, call->value[0]));
  iso_out_char(w->out, ' ');
  ISO_TRY(put_scalar(w, txn, call->value[1]));
  iso_out_char(w->out, ']');
  return ISOPROOF_OK;
}

/* A client of unknown outcome goes on under another number, as in Jepsen. */
static uint64_t process_of(const writer *w, uint32_t session) {
  return session + (uint64_t)w->h->sessions * w->crashed[session];
}

static isoproof_status put_line(writer *w, uint32_t session, const iso_moment *m, bool begins) {
  static const char *const names[] = {
#define ISO_X(name, text, porcupine, values) text,
      ISO_SINGLE_F_LIST(ISO_X)
#undef ISO_X
  };
  iso_single_call call = {0};
  ISO_TRY(call_of(w, m->txn, &call));
  const char *type = begins ? "invoke" : call.outcome == ISOPROOF_TXN_COMMITTED ? "ok" : "fail";
  if (w->porcupine) {
    iso_out_printf(w->out, "{:process %llu, :type :%s, :f :%s, :key ", (unsigned long long)process_of(w, session), type,
                   names[call.f]);
    ISO_TRY(put_scalar(w, m->txn, call.key));
    iso_out_text(w->out, ", :value ");
  } else {
    iso_out_printf(w->out, "INFO  jepsen.util - %llu\t:%s\t:%s\t", (unsigned long long)process_of(w, session), type,
                   names[call.f]);
  }
  ISO_TRY(put_value(w, m->txn, &call, begins));
  iso_out_text(w->out, w->porcupine ? "}\n" : "\n");
  if (begins && call.outcome == ISOPROOF_TXN_UNKNOWN) w->crashed[session]++;
  return ISOPROOF_OK;
}

static uint32_t session_of(const isoproof_history *h, uint32_t txn) {
  uint32_t low = 0, high = h->sessions;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (h->session_first_txn[middle] <= txn) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static isoproof_status write_log(iso_write_job *job, bool porcupine) {
  writer w = {.job = job, .h = job->history, .out = job->output, .porcupine = porcupine};
  w.name = porcupine ? "a key-value log of Porcupine" : "a log of Jepsen";
  iso_moments moments;
  ISO_TRY(iso_moments_make(job, w.name, &moments));
  w.crashed = iso_alloc_zero(w.h->sessions, sizeof *w.crashed);
  isoproof_status status = w.crashed != NULL ? ISOPROOF_OK : iso_fail_memory(job->error);
  uint8_t *begun = iso_alloc_zero(w.h->txns, 1);
  if (begun == NULL) status = iso_fail_memory(job->error);
  for (size_t i = 0; i < moments.count && status == ISOPROOF_OK; i++) {
    const iso_moment *m = &moments.items[i];
    if ((i & 1023) == 0) status = iso_task_check(job->task, job->error);
    if (status == ISOPROOF_OK) status = put_line(&w, session_of(w.h, m->txn), m, begun[m->txn] == 0);
    begun[m->txn] = 1;
  }
  if (w.h->txn_start_opt != NULL) job->loss->times = true;
  if (w.h->txn_node_opt != NULL) job->loss->nodes = true;
  free(begun);
  free(w.crashed);
  iso_moments_free(&moments);
  return status;
}

isoproof_status iso_write_porcupine(iso_write_job *job) { return write_log(job, true); }
isoproof_status iso_write_jepsen_log(iso_write_job *job) { return write_log(job, false); }
