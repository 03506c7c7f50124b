/* Writes Jepsen and Elle histories, EDN or JSON: one map per invocation and completion. */
#include "format/jepsen_write.h"

#include <stdio.h>

#include "base/text.h"
#include "base/vector.h"
#include "format/jepsen_rows.h"

typedef struct writer {
  iso_write_job *job;
  const isoproof_history *h;
  iso_output *out;
  bool json;
  uint8_t *styles;
  uint8_t *made;          /* per key: what its writes make it */
  bool *invokes;          /* per session: whether its invocations are written */
  int64_t lines;          /* written so far: the index of the next one where the history has no indexes */
  isoproof_status status; /* the first thing that cannot be written */
} writer;

enum { MADE_LIST = 1, MADE_SET = 2, MADE_COUNTER = 4, MADE_REGISTER = 8 };

static void refuse(writer *w, uint32_t op, const char *what) {
  if (w->status != ISOPROOF_OK) return;
  char key[128];
  isoproof_scalar_format(iso_history_scalar(w->h, w->h->key_name[w->h->op_key[op]]), key, sizeof key);
  w->status = iso_fail(w->job->error, ISOPROOF_ERR_UNSUPPORTED, "%s cannot say %s (key %s)", w->json ? "JSON" : "EDN",
                       what, key);
}

/* ---- words ---- */

static void edn_string(iso_output *out, const char *text, size_t length) {
  static const char digits[] = "0123456789abcdef", special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  iso_out_char(out, '"');
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    const char *known = c != '\0' ? strchr(special, c) : NULL;
    if (known != NULL) {
      iso_out_char(out, '\\');
      iso_out_char(out, letters[known - special]);
    } else if (c < 0x20) {
      iso_out_text(out, "\\u00");
      iso_out_char(out, digits[c >> 4]);
      iso_out_char(out, digits[c & 15]);
    } else {
      iso_out_char(out, (char)c);
    }
  }
  iso_out_char(out, '"');
}

static void text(writer *w, iso_value value, isoproof_scalar scalar) {
  switch ((iso_text_style)w->styles[value & ~ISO_VALUE_INTERNED]) {
  case ISO_TEXT_QUOTED:
    if (w->json) {
      iso_out_json_string(w->out, scalar.text, scalar.length);
    } else {
      edn_string(w->out, scalar.text, scalar.length);
    }
    return;
  case ISO_TEXT_KEYWORD:
    iso_out_char(w->out, ':');
    iso_out_bytes(w->out, scalar.text, scalar.length);
    return;
  case ISO_TEXT_BARE:
    iso_out_bytes(w->out, scalar.text, scalar.length);
    return;
  case ISO_TEXT_NOT:
    break;
  }
  if (w->status == ISOPROOF_OK) {
    char quoted[256];
    w->status = iso_fail(w->job->error, ISOPROOF_ERR_UNSUPPORTED, "%s cannot say the text %s", w->json ? "JSON" : "EDN",
                         iso_quote(scalar.text, scalar.length, quoted));
  }
}

static void value(writer *w, iso_value value_code) {
  if (value_code < ISO_VALUE_INLINE_LIMIT) {
    iso_out_u64(w->out, value_code);
    return;
  }
  isoproof_scalar scalar = iso_history_scalar(w->h, value_code);
  if (scalar.type == ISOPROOF_INTEGER) {
    iso_out_i64(w->out, scalar.integer);
  } else if (scalar.type == ISOPROOF_UNSIGNED) {
    iso_out_u64(w->out, (uint64_t)scalar.integer);
  } else if (scalar.type >= ISOPROOF_STRING) {
    text(w, value_code, scalar);
  } else {
    iso_out_text(w->out, w->json ? "null" : "nil");
  }
}

/* A word of the format itself: :txn or "txn". */
static void word(writer *w, const char *name) {
  iso_out_char(w->out, w->json ? '"' : ':');
  iso_out_text(w->out, name);
  if (w->json) iso_out_char(w->out, '"');
}

static void field(writer *w, const char *name, bool first) {
  iso_out_text(w->out, first ? "{" : w->json ? "," : ", ");
  word(w, name);
  iso_out_char(w->out, w->json ? ':' : ' ');
}

static void between(writer *w) { iso_out_char(w->out, w->json ? ',' : ' '); }

/* ---- micro-operations ---- */

static bool unlearnt(const isoproof_history *h, uint32_t op) {
  return isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]) && h->op_value[op] == ISO_VALUE_NONE;
}

/* Whether reading back would take the read for another kind. */
static bool would_change(const writer *w, uint32_t op) {
  isoproof_op_kind kind = (isoproof_op_kind)w->h->op_kind[op];
  unsigned made = w->made[w->h->op_key[op]];
  if (w->h->op_value[op] == ISO_VALUE_NIL || w->h->op_value[op] == ISO_VALUE_NONE) return false;
  if (kind == ISOPROOF_OP_READ_COUNTER) return made != MADE_COUNTER;
  if (kind == ISOPROOF_OP_READ) return made == MADE_COUNTER;
  if (!w->json) return false;
  return (kind == ISOPROOF_OP_READ_SET && made != MADE_SET) || (kind == ISOPROOF_OP_READ_LIST && made == MADE_SET);
}

/* Whether the operation is written at all; refuses what cannot be, unless lossy. */
static bool is_written(writer *w, uint32_t op, isoproof_txn_status status, bool end) {
  isoproof_op_kind kind = (isoproof_op_kind)w->h->op_kind[op];
  bool lossy = w->job->lossy;
  if (kind == ISOPROOF_OP_READ_PREDICATE) {
    if (iso_rows_writable(w->h, op)) return true;
    if (!lossy) refuse(w, op, "what a predicate read saw");
    if (end) w->job->loss->unrecorded_reads++;
    return false;
  }
  if (unlearnt(w->h, op) && status == ISOPROOF_TXN_COMMITTED) {
    if (!lossy) refuse(w, op, "that the result of a read in a committed transaction is not known");
    if (end) w->job->loss->unrecorded_reads++;
    return false;
  }
  if (!lossy && would_change(w, op)) refuse(w, op, "which kind of read this is, since no write of its key tells");
  if (w->h->initial_is_zero && kind == ISOPROOF_OP_WRITE && w->h->op_value[op] == 0) {
    refuse(w, op, "a write of 0 apart from the initial version, which is 0 in this history");
  }
  if (!isoproof_op_kind_observes(kind) && (w->h->op_value[op] & ISO_VALUE_NIL) == ISO_VALUE_NIL) {
    refuse(w, op, "a write of nil");
  }
  return true;
}

static void elements(writer *w, uint32_t op) {
  uint32_t count;
  const iso_value *items = iso_history_list(w->h, op, &count);
  bool set = w->h->op_kind[op] == ISOPROOF_OP_READ_SET && !w->json;
  iso_out_text(w->out, set ? "#{" : "[");
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) between(w);
    if ((items[i] & ISO_VALUE_NIL) == ISO_VALUE_NIL) refuse(w, op, "an element that is nil");
    value(w, items[i]);
  }
  iso_out_char(w->out, set ? '}' : ']');
}

/* ---- rows ---- */

/* A key of a map.  In JSON that is a text, and reads as a number if it looks like one. */
static void row_key(writer *w, uint32_t op, iso_value key) {
  int64_t number;
  isoproof_scalar scalar = iso_history_scalar(w->h, key);
  bool quote = w->json && scalar.type <= ISOPROOF_UNSIGNED;
  bool text = scalar.type >= ISOPROOF_STRING;
  if (w->json && text && iso_parse_i64(scalar.text, scalar.length, &number)) refuse(w, op, "a text that is a number");
  if (quote) iso_out_char(w->out, '"');
  value(w, key);
  if (quote) iso_out_char(w->out, '"');
  iso_out_char(w->out, w->json ? ':' : ' ');
}

static void row(writer *w, uint32_t op, bool first, iso_value key, iso_value value_code) {
  if (!first) iso_out_text(w->out, w->json ? "," : ", ");
  row_key(w, op, key);
  value(w, value_code);
}

static void rows(writer *w, uint32_t op) {
  uint32_t count;
  const iso_value *items = iso_history_list(w->h, op, &count);
  iso_out_char(w->out, '{');
  for (uint32_t i = 0; items != NULL && i + 1 < count; i += 2) row(w, op, i == 0, items[i], items[i + 1]);
  iso_out_char(w->out, '}');
}

/* Whether a word is a number as it would be written. */
static bool is_number(const char *text, size_t length) {
  char again[32];
  int64_t number;
  if (!iso_parse_i64(text, length, &number)) return false;
  int wrote = snprintf(again, sizeof again, "%lld", (long long)number);
  return wrote > 0 && (size_t)wrote == length && memcmp(again, text, length) == 0;
}

/* true, or its words in brackets. */
static void predicate(writer *w, uint32_t op) {
  isoproof_scalar name = iso_history_scalar(w->h, w->h->key_name[w->h->op_key[op]]);
  bool several = memchr(name.text, ' ', name.length) != NULL;
  const char *text;
  size_t at = 0, length;
  if (several) iso_out_char(w->out, '[');
  for (bool first = true; (length = iso_rows_word(name, &at, &text)) > 0; first = false) {
    if (!first) between(w);
    if (is_number(text, length)) {
      iso_out_bytes(w->out, text, length);
    } else if (w->json) {
      iso_out_json_string(w->out, text, length);
    } else if (iso_edn_is_keyword(text, length)) {
      iso_out_char(w->out, ':');
      iso_out_bytes(w->out, text, length);
    } else {
      edn_string(w->out, text, length);
    }
  }
  if (several) iso_out_char(w->out, ']');
}

/* [:rp PREDICATE {k v, ...}]; nil where nobody learnt what was found. */
static void query(writer *w, uint32_t op, bool end) {
  iso_out_char(w->out, '[');
  word(w, "rp");
  between(w);
  predicate(w, op);
  between(w);
  if (end && w->h->op_value[op] != ISO_VALUE_NONE) {
    rows(w, op);
  } else {
    value(w, ISO_VALUE_NIL);
  }
  iso_out_char(w->out, ']');
}

/* What the initial state wrote, as a map. */
static void initial_state(writer *w, uint32_t txn) {
  const isoproof_history *h = w->h;
  uint32_t first = h->txn_first_op[txn] + 1;
  iso_out_char(w->out, '{');
  for (uint32_t op = first; op < h->txn_first_op[txn + 1]; op++) {
    if (!is_written(w, op, (isoproof_txn_status)h->txn_status[txn], false)) continue;
    row(w, op, op == first, h->key_name[h->op_key[op]], h->op_value[op]);
  }
  iso_out_char(w->out, '}');
}

/* ---- any operation ---- */

static void micro_op(writer *w, uint32_t op, bool end, bool exact) {
  static const char *const names[] = {
#define ISOPROOF_X(name, own, jepsen, letter, observes, text) jepsen,
      ISOPROOF_OP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  };
  isoproof_op_kind kind = (isoproof_op_kind)w->h->op_kind[op];
  bool observes = isoproof_op_kind_observes(kind);
  iso_value seen = w->h->op_value[op];
  bool deletes = iso_rows_deletes(w->h, op);
  if (kind == ISOPROOF_OP_READ_PREDICATE) {
    query(w, op, end);
    return;
  }
  iso_out_char(w->out, '[');
  word(w, deletes ? "delete" : names[kind]);
  between(w);
  iso_value key = w->h->key_name[w->h->op_key[op]];
  if ((key & ISO_VALUE_NIL) == ISO_VALUE_NIL) refuse(w, op, "a key that is nil");
  value(w, key);
  if (deletes || (observes && end && exact && seen == ISO_VALUE_NONE)) {
    iso_out_char(w->out, ']');
    return;
  }
  between(w);
  if (observes && !end) seen = ISO_VALUE_NIL;
  if (iso_kind_is_list(kind) && seen != ISO_VALUE_NIL && seen != ISO_VALUE_NONE) {
    elements(w, op);
  } else {
    value(w, seen);
  }
  iso_out_char(w->out, ']');
}

/* ---- lines ---- */

/* Whether nil reads need the words of `initial-reads` (see jepsen.h). */
static bool needs_exact(const isoproof_history *h, uint32_t txn) {
  if (h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) return false;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]) && h->op_value[op] == ISO_VALUE_NIL) return true;
  }
  return false;
}

static int64_t column(const int64_t *opt, uint32_t txn, int64_t missing) { return opt != NULL ? opt[txn] : missing; }
static iso_value code_column(const iso_value *opt, uint32_t txn) { return opt != NULL ? opt[txn] : ISO_VALUE_NIL; }

/* Whether a completion says anything that the invocation alone does not. */
static bool end_says_more(const writer *w, uint32_t txn) {
  const isoproof_history *h = w->h;
  if (h->txn_status[txn] != ISOPROOF_TXN_UNKNOWN || !w->invokes[h->txn_session[txn]]) return true;
  if (column(h->txn_end_opt, txn, ISOPROOF_NO_TIME) != ISOPROOF_NO_TIME) return true;
  if (column(h->txn_end_index_opt, txn, -1) != -1) return true;
  if (code_column(h->txn_error_opt, txn) != ISO_VALUE_NIL) return true;
  /* What follows in the session must find it completed. */
  if (txn + 1 < h->session_first_txn[h->txn_session[txn] + 1]) return true;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]) && h->op_value[op] != ISO_VALUE_NONE) return true;
  }
  return false;
}

static void extras(writer *w, iso_event event, bool exact) {
  const isoproof_history *h = w->h;
  iso_value error = code_column(h->txn_error_opt, event.txn), node = code_column(h->txn_node_opt, event.txn);
  if (event.end && error != ISO_VALUE_NIL) field(w, "error", false), value(w, error);
  if (node != ISO_VALUE_NIL) field(w, "node", false), value(w, node);
  int64_t id = column(h->txn_id_opt, event.txn, INT64_MIN);
  if (id != INT64_MIN) field(w, "id", false), iso_out_i64(w->out, id);
  iso_txn_isolation isolation = iso_history_isolation(h, event.txn);
  if (isolation != ISO_ISOLATION_NONE) field(w, "isolation", false), word(w, iso_txn_isolation_id(isolation));
  if (event.end && exact) field(w, "initial-reads", false), iso_out_text(w->out, "true");
}

static void micro_ops(writer *w, iso_event event, bool exact) {
  const isoproof_history *h = w->h;
  bool first = true;
  iso_out_char(w->out, '[');
  for (uint32_t op = h->txn_first_op[event.txn]; op < h->txn_first_op[event.txn + 1]; op++) {
    if (!is_written(w, op, (isoproof_txn_status)h->txn_status[event.txn], event.end)) continue;
    if (!first) between(w);
    first = false;
    micro_op(w, op, event.end, exact);
  }
  iso_out_char(w->out, ']');
}

static void line(writer *w, iso_event event) {
  static const char *const types[] = {"ok", "fail", "info"};
  const isoproof_history *h = w->h;
  isoproof_txn_status status = (isoproof_txn_status)h->txn_status[event.txn];
  int64_t index = column(event.end ? h->txn_end_index_opt : h->txn_start_index_opt, event.txn, -1);
  int64_t time = column(event.end ? h->txn_end_opt : h->txn_start_opt, event.txn, ISOPROOF_NO_TIME);
  if (h->txn_start_index_opt == NULL) index = w->lines++;
  bool exact = needs_exact(h, event.txn);
  field(w, "index", true);
  if (index >= 0) {
    iso_out_i64(w->out, index);
  } else {
    iso_out_text(w->out, w->json ? "null" : "nil");
  }
  if (time != ISOPROOF_NO_TIME) field(w, "time", false), iso_out_i64(w->out, time);
  field(w, "type", false), word(w, event.end ? types[status] : "invoke");
  field(w, "process", false), value(w, h->session_name[h->txn_session[event.txn]]);
  bool initial = iso_rows_initial(h, event.txn);
  field(w, "f", false), word(w, initial ? "init" : "txn");
  field(w, "value", false);
  if (initial) {
    initial_state(w, event.txn);
  } else {
    micro_ops(w, event, exact);
  }
  extras(w, event, exact);
  iso_out_text(w->out, "}\n");
}

/* ---- the history ---- */

/* Sessions none of whose transactions has a beginning are written as completions only: invocations would say that
 * there is an order in real time. */
static void plan_invokes(writer *w) {
  const isoproof_history *h = w->h;
  for (uint32_t t = 0; t < h->txns; t++) {
    bool known = column(h->txn_start_opt, t, ISOPROOF_NO_TIME) != ISOPROOF_NO_TIME ||
                 column(h->txn_end_opt, t, ISOPROOF_NO_TIME) != ISOPROOF_NO_TIME ||
                 column(h->txn_start_index_opt, t, -1) != -1;
    if (known) w->invokes[h->txn_session[t]] = true;
  }
}

static void plan_keys(writer *w) {
  for (uint32_t op = 0; op < w->h->ops; op++) {
    uint8_t *made = &w->made[w->h->op_key[op]];
    switch ((isoproof_op_kind)w->h->op_kind[op]) {
    case ISOPROOF_OP_APPEND:
      *made |= MADE_LIST;
      break;
    case ISOPROOF_OP_ADD:
      *made |= MADE_SET;
      break;
    case ISOPROOF_OP_INCREMENT:
      *made |= MADE_COUNTER;
      break;
    case ISOPROOF_OP_WRITE:
      *made |= MADE_REGISTER;
      break;
    default:
      break;
    }
  }
}

static isoproof_status all_lines(writer *w, iso_events *events) {
  iso_event event;
  for (uint64_t done = 0; w->status == ISOPROOF_OK && iso_events_next(events, &event); done++) {
    if ((done & 4095) == 0) {
      ISO_TRY(iso_task_check(w->job->task, w->job->error));
      iso_task_progress(w->job->task, "writing", "transactions", done / 2, w->h->txns);
      if (iso_output_failed(w->out)) break;
    }
    if (event.end ? end_says_more(w, event.txn) : w->invokes[w->h->txn_session[event.txn]]) line(w, event);
  }
  return w->status;
}

static isoproof_status write_jepsen(iso_write_job *job, iso_token_dialect dialect) {
  const isoproof_history *h = job->history;
  writer w = {.job = job, .h = h, .out = job->output, .json = dialect == ISO_TOKEN_DIALECT_JSON};
  iso_events events = {0};
  ISO_TRY(iso_text_styles(h, dialect, job->lossy, &w.styles, job->error));
  w.made = iso_alloc_zero(h->keys, 1);
  w.invokes = iso_alloc_zero(h->sessions, sizeof *w.invokes);
  isoproof_status status = ISOPROOF_OK;
  if (w.made == NULL || w.invokes == NULL) status = iso_fail_memory(job->error);
  if (status == ISOPROOF_OK) status = iso_events_init(&events, h, job->error);
  if (status == ISOPROOF_OK) {
    plan_invokes(&w);
    plan_keys(&w);
    status = all_lines(&w, &events);
  }
  /* A session without transactions has no line. */
  for (uint32_t s = 0; s < h->sessions; s++) {
    if (h->session_first_txn[s] == h->session_first_txn[s + 1]) job->loss->session_names = true;
  }
  iso_events_free(&events);
  free(w.invokes);
  free(w.made);
  free(w.styles);
  return status;
}

isoproof_status iso_write_edn(iso_write_job *job) { return write_jepsen(job, ISO_TOKEN_DIALECT_EDN); }
isoproof_status iso_write_json(iso_write_job *job) { return write_jepsen(job, ISO_TOKEN_DIALECT_JSON); }
