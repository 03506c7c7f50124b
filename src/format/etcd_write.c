/* Writes histories of registers as etcd's robustness tests record them, without revisions: a history has none. */
#include "format/format.h"
#include "history/real_time.h"

typedef struct writer {
  iso_write_job *job;
  const isoproof_history *h;
  iso_output *out;
} writer;

static isoproof_status cannot(const writer *w, uint32_t txn, const char *what) {
  char name[64];
  isoproof_history_txn_name(w->h, txn, name, sizeof name);
  return iso_fail(w->job->error, ISOPROOF_ERR_UNSUPPORTED, "a record of etcd cannot express %s (in %s)", what, name);
}

static isoproof_status put_text(const writer *w, uint32_t txn, iso_value value) {
  isoproof_scalar s = iso_history_scalar(w->h, value);
  if (s.type == ISOPROOF_INTEGER) {
    iso_out_printf(w->out, "\"%lld\"", (long long)s.integer);
  } else if (s.type == ISOPROOF_STRING) {
    iso_out_json_string(w->out, s.text, s.length);
  } else {
    return cannot(w, txn, "anything but numbers and texts");
  }
  return ISOPROOF_OK;
}

static isoproof_status put_request(const writer *w, uint32_t txn, uint32_t op) {
  const isoproof_history *h = w->h;
  bool reads = h->op_kind[op] == ISOPROOF_OP_READ;
  if (!reads && h->op_kind[op] != ISOPROOF_OP_WRITE) return cannot(w, txn, "operations on anything but registers");
  iso_out_printf(w->out, "{\"Type\":\"%s\",\"%s\":{\"%s\":", reads ? "range-operation" : "put-operation",
                 reads ? "Range" : "Put", reads ? "Start" : "Key");
  ISO_TRY(put_text(w, txn, h->key_name[h->op_key[op]]));
  if (reads) {
    iso_out_text(w->out, ",\"End\":\"\",\"Limit\":0}}");
    return ISOPROOF_OK;
  }
  iso_out_text(w->out, ",\"Value\":{\"Value\":");
  ISO_TRY(put_text(w, txn, h->op_value[op]));
  iso_out_text(w->out, "},\"LeaseID\":0}}");
  return ISOPROOF_OK;
}

static isoproof_status put_result(const writer *w, uint32_t txn, uint32_t op) {
  const isoproof_history *h = w->h;
  bool shows = h->op_kind[op] == ISOPROOF_OP_READ && h->op_value[op] != ISO_VALUE_NIL;
  if (h->op_value[op] == ISO_VALUE_NONE) return cannot(w, txn, "a read without a recorded value");
  iso_out_text(w->out, "{\"KVs\":[");
  if (shows) {
    iso_out_text(w->out, "{\"Key\":");
    ISO_TRY(put_text(w, txn, h->key_name[h->op_key[op]]));
    iso_out_text(w->out, ",\"Value\":{\"Value\":");
    ISO_TRY(put_text(w, txn, h->op_value[op]));
    iso_out_text(w->out, "}}");
  }
  iso_out_printf(w->out, "],\"Count\":%d,\"Deleted\":0}", shows);
  return ISOPROOF_OK;
}

static isoproof_status put_txn(const writer *w, uint32_t session, uint32_t txn) {
  const isoproof_history *h = w->h;
  int64_t start = iso_real_start(h, txn), end = iso_real_end(h, txn);
  uint32_t first = h->txn_first_op[txn], last = h->txn_first_op[txn + 1];
  isoproof_txn_status status = (isoproof_txn_status)h->txn_status[txn];
  if (start == INT64_MIN) return cannot(w, txn, "transactions without a time at which they began");
  iso_out_printf(w->out,
                 "{\"ClientId\":%u,\"Input\":{\"Type\":\"txn\",\"Txn\":{\"Conditions\":null,"
                 "\"OperationsOnSuccess\":[",
                 session);
  for (uint32_t op = first; op < last; op++) {
    if (op > first) iso_out_char(w->out, ',');
    ISO_TRY(put_request(w, txn, op));
  }
  iso_out_printf(w->out, "],\"OperationsOnFailure\":null}},\"Call\":%lld,\"Output\":{\"Txn\":", (long long)start);
  bool answered = status == ISOPROOF_TXN_COMMITTED;
  iso_out_text(w->out, answered ? "{\"Failure\":false,\"Results\":[" : "null");
  for (uint32_t op = first; op < last && answered; op++) {
    if (op > first) iso_out_char(w->out, ',');
    ISO_TRY(put_result(w, txn, op));
  }
  if (answered) iso_out_text(w->out, "]}");
  const char *lost = status == ISOPROOF_TXN_UNKNOWN ? "the answer was lost" : "";
  const char *refused = status == ISOPROOF_TXN_ABORTED ? "refused" : "";
  iso_out_printf(w->out, ",\"Revision\":0,\"Error\":\"%s\",\"ClientError\":\"%s\"},\"Return\":%lld}\n", lost, refused,
                 (long long)(end == INT64_MAX ? start : end));
  return ISOPROOF_OK;
}

isoproof_status iso_write_etcd(iso_write_job *job) {
  writer w = {.job = job, .h = job->history, .out = job->output};
  const isoproof_history *h = w.h;
  if (h->txns > 0 && !iso_has_real_time(h)) {
    return iso_fail(job->error, ISOPROOF_ERR_UNSUPPORTED,
                    "a record of etcd is about real time, and the history has none");
  }
  for (uint32_t s = 0; s < h->sessions; s++) {
    for (uint32_t t = h->session_first_txn[s]; t < h->session_first_txn[s + 1]; t++) {
      if ((t & 1023) == 0) ISO_TRY(iso_task_check(job->task, job->error));
      ISO_TRY(put_txn(&w, s, t));
    }
  }
  if (h->txn_node_opt != NULL) job->loss->nodes = true;
  return ISOPROOF_OK;
}
