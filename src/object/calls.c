/* From operations to calls. */
#include "object/calls.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
  const iso_object_history *h;
  isoproof_object_model model;
  iso_calls *calls;
  isoproof_error *error;
} maker;

/* [old new] or [key [old new]]. */
static bool take_swap(const iso_object_history *h, const iso_object_op *op, iso_call *c) {
  const iso_value *v = iso_object_values(h, op);
  if (op->count != 2 || (op->shape != ISO_SHAPE_LIST && op->shape != ISO_SHAPE_KEYED)) return false;
  if (op->shape == ISO_SHAPE_KEYED) c->key = op->key;
  c->from = v[0];
  c->to = v[1];
  return true;
}

/* value or [key value]. */
static bool take_value(const iso_object_history *h, const iso_object_op *op, iso_call *c) {
  const iso_value *v = iso_object_values(h, op);
  bool with_key = op->shape == ISO_SHAPE_LIST && op->count == 2;
  if (!with_key && op->shape != ISO_SHAPE_SCALAR && op->shape != ISO_SHAPE_NOTHING) return false;
  if (with_key) c->key = v[0];
  c->from = c->to = op->shape == ISO_SHAPE_NOTHING ? ISO_VALUE_NIL : v[with_key ? 1 : 0];
  return true;
}

static void lock_call(const iso_object_op *op, iso_call *c) {
  enum { FREE = 0, HELD = 1 };
  c->kind = ISO_CALL_CAS;
  c->from = op->f == ISO_OBJECT_F_ACQUIRE ? FREE : HELD;
  c->to = op->f == ISO_OBJECT_F_ACQUIRE ? HELD : FREE;
}

static isoproof_status register_call(const maker *m, const iso_object_op *op, iso_call *c, bool *wanted) {
  bool swaps = op->f == ISO_OBJECT_F_CAS || op->f == ISO_OBJECT_F_MISS;
  c->kind = op->f == ISO_OBJECT_F_READ    ? ISO_CALL_READ
            : op->f == ISO_OBJECT_F_WRITE ? ISO_CALL_WRITE
            : op->f == ISO_OBJECT_F_CAS   ? ISO_CALL_CAS
                                          : ISO_CALL_MISS;
  if (!(swaps ? take_swap(m->h, op, c) : take_value(m->h, op, c))) {
    return iso_object_expected(m->h, op, swaps ? "[old new]" : "a value", m->error);
  }
  if (c->kind == ISO_CALL_READ) *wanted = c->known && (m->h->nil_is_seen || c->from != ISO_VALUE_NIL);
  if (c->kind == ISO_CALL_MISS) *wanted = c->known;
  return ISOPROOF_OK;
}

/* Keys of a store hold texts; what is not there is the empty one. */
static isoproof_status store_call(const maker *m, const iso_object_op *op, iso_call *c, bool *wanted) {
  c->key = op->key;
  iso_value value = op->count == 1 ? iso_object_values(m->h, op)[0] : ISO_VALUE_NIL;
  iso_pool_view view = iso_pool_look(&m->h->pool);
  isoproof_scalar text = iso_pool_scalar(&view, value);
  bool nothing = op->f == ISO_OBJECT_F_DELETE || (op->f == ISO_OBJECT_F_GET && value == ISO_VALUE_NIL);
  if (nothing) text = isoproof_string("");
  if (text.type != ISOPROOF_STRING) return iso_object_expected(m->h, op, "a text", m->error);
  c->kind = op->f == ISO_OBJECT_F_GET ? ISO_CALL_READ : op->f == ISO_OBJECT_F_APPEND ? ISO_CALL_APPEND : ISO_CALL_WRITE;
  if (c->kind == ISO_CALL_READ) *wanted = c->known;
  ISO_TRY(iso_pool_add(&m->calls->pool, text, &c->from, m->error));
  c->to = c->from;
  return ISOPROOF_OK;
}

static isoproof_status take(const maker *m, const iso_object_op *op) {
  iso_call c = {.key = ISO_VALUE_NIL,
                .known = op->outcome == ISOPROOF_TXN_COMMITTED,
                .invoked = op->invoked,
                .completed = op->completed,
                .line = op->line};
  bool wanted = op->outcome != ISOPROOF_TXN_ABORTED;
  if (!wanted) return ISOPROOF_OK;
  if (m->model == ISOPROOF_OBJECT_MUTEX) {
    lock_call(op, &c);
  } else if (m->model == ISOPROOF_OBJECT_KV) {
    ISO_TRY(store_call(m, op, &c, &wanted));
  } else {
    ISO_TRY(register_call(m, op, &c, &wanted));
  }
  return !wanted || iso_vec_push(m->calls, c) ? ISOPROOF_OK : iso_fail_memory(m->error);
}

static int by_key(const void *a, const void *b) {
  const iso_call *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->invoked > y->invoked) - (x->invoked < y->invoked);
}

/* Registers have the codes of the file. */
static isoproof_status share_pool(const maker *m) {
  iso_pool_view view = iso_pool_look(&m->h->pool);
  for (uint32_t i = 0; i < view.count; i++) {
    iso_value code;
    ISO_TRY(iso_pool_add(&m->calls->pool, iso_pool_scalar(&view, ISO_VALUE_INTERNED | i), &code, m->error));
  }
  return ISOPROOF_OK;
}

static isoproof_status make(const maker *m) {
  iso_calls *calls = m->calls;
  ISO_TRY(iso_pool_init(&calls->pool, m->error));
  if (m->model != ISOPROOF_OBJECT_KV) ISO_TRY(share_pool(m));
  if (m->model == ISOPROOF_OBJECT_KV) {
    ISO_TRY(iso_pool_add_text(&calls->pool, ISOPROOF_STRING, "", 0, &calls->initial, m->error));
  }
  for (size_t i = 0; i < m->h->ops.count; i++) ISO_TRY(take(m, &m->h->ops.items[i]));
  if (calls->count > 1) qsort(calls->items, calls->count, sizeof *calls->items, by_key);
  bool fits = calls->count < UINT32_MAX / 4;
  return fits ? ISOPROOF_OK : iso_fail(m->error, ISOPROOF_ERR_LIMIT, "too many operations");
}

isoproof_status iso_calls_make(const iso_object_history *history, isoproof_object_model model, iso_calls *calls,
                               isoproof_error *error) {
  memset(calls, 0, sizeof *calls);
  calls->lock = model == ISOPROOF_OBJECT_MUTEX;
  calls->initial = calls->lock ? 0 : ISO_VALUE_NIL;
  maker m = {history, model, calls, error};
  isoproof_status status = make(&m);
  if (status != ISOPROOF_OK) iso_calls_free(calls);
  return status;
}

void iso_calls_free(iso_calls *calls) {
  iso_pool_free(&calls->pool);
  iso_vec_free(calls);
}

static void say_value(iso_object_report *report, const iso_calls *calls, iso_value value) {
  iso_pool_view view = iso_pool_look(&calls->pool);
  iso_words_add_scalar(&report->words, iso_pool_scalar(&view, value));
}

void iso_call_say(iso_object_report *report, const iso_calls *calls, const iso_call *c) {
  static const char *const verbs[] = {[ISO_CALL_READ] = "the read of",
                                      [ISO_CALL_WRITE] = "the write of",
                                      [ISO_CALL_CAS] = "the compare-and-set from",
                                      [ISO_CALL_MISS] = "the failed compare-and-set from",
                                      [ISO_CALL_APPEND] = "the append of"};
  iso_words *w = &report->words;
  iso_words_add(w, "line %llu: ", (unsigned long long)c->line);
  if (calls->lock) {
    iso_words_add(w, "the %s", c->to == 1 ? "acquisition" : "release");
    return;
  }
  iso_words_add(w, "%s ", verbs[c->kind]);
  say_value(report, calls, c->kind == ISO_CALL_WRITE || c->kind == ISO_CALL_APPEND ? c->to : c->from);
  if (c->kind != ISO_CALL_CAS && c->kind != ISO_CALL_MISS) return;
  iso_words_add(w, " to ");
  say_value(report, calls, c->to);
}
