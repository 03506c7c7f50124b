/* Registers with compare-and-set, and locks, which are such registers: is there a moment for every call, between its
 * invocation and its completion, so that calls that take effect one after the other return what was recorded?
 *
 * This is just-in-time linearization (Lowe 2017, after Wing and Gong 1993), key by key: linearizability is local.  The
 * file is gone through once, with the set of all configurations that the register may be in (object/configurations.h).
 * A call takes effect at the latest when it completes, and other open calls before it as far as that is of use; so only
 * completions make choices.  A read takes effect as soon as its value is there, which can do no harm.  Deciding is
 * NP-complete: the time may be exponential in the calls that are open at once, and a budget bounds it. */
#include <stdlib.h>
#include <string.h>

#include "object/configurations.h"
#include "object/object.h"

enum { MOST_OPEN = 64, USUAL_BUDGET = 20000000 };

typedef enum call_kind { CALL_READ, CALL_WRITE, CALL_CAS } call_kind;

typedef struct call {
  iso_value key;
  call_kind kind;
  iso_value from, to; /* a read has `from` only, a write `to` only */
  bool known;         /* its outcome */
  uint32_t invoked, completed;
  uint64_t line;
} call;

/* A beginning or an end of a call. */
typedef struct moment {
  uint32_t place, call;
  bool end;
} moment;

/* Calls of unknown outcome that do the same. */
typedef struct kind_of_call {
  call_kind kind;
  iso_value from, to;
  uint32_t available; /* that have begun */
} kind_of_call;

typedef struct search {
  const iso_object_history *h;
  isoproof_task *task;
  isoproof_error *error;
  iso_object_report *report;
  bool lock;
  ISO_VEC(call) calls;         /* by key, then by invocation */
  ISO_VEC(iso_value) observed; /* values that reads and compare-and-sets of the key at hand look for, sorted */
  ISO_VEC(moment) moments;
  ISO_VEC(kind_of_call) unknown;
  ISO_VEC(uint32_t) scratch;
  const call *open[MOST_OPEN];
  uint64_t open_mask;
  iso_configurations now, work, next;
  uint64_t looked_at, budget;
} search;

/* ---- calls ---- */

/* [old new] or [key [old new]]. */
static bool take_swap(const iso_object_history *h, const iso_object_op *op, call *c) {
  const iso_value *v = iso_object_values(h, op);
  if (op->count != 2 || (op->shape != ISO_SHAPE_LIST && op->shape != ISO_SHAPE_KEYED)) return false;
  if (op->shape == ISO_SHAPE_KEYED) c->key = op->key;
  c->from = v[0];
  c->to = v[1];
  return true;
}

/* value or [key value]. */
static bool take_value(const iso_object_history *h, const iso_object_op *op, call *c) {
  const iso_value *v = iso_object_values(h, op);
  bool with_key = op->shape == ISO_SHAPE_LIST && op->count == 2;
  if (!with_key && op->shape != ISO_SHAPE_SCALAR && op->shape != ISO_SHAPE_NOTHING) return false;
  if (with_key) c->key = v[0];
  c->from = c->to = op->shape == ISO_SHAPE_NOTHING ? ISO_VALUE_NIL : v[with_key ? 1 : 0];
  return true;
}

/* *wanted false for what says nothing: what failed, and reads of nothing or without an answer. */
static isoproof_status call_of(const search *s, const iso_object_op *op, call *c, bool *wanted, isoproof_error *error) {
  enum { FREE = 0, HELD = 1 };
  *c = (call){.key = ISO_VALUE_NIL, .known = op->outcome == ISOPROOF_TXN_COMMITTED};
  c->invoked = op->invoked;
  c->completed = op->completed;
  c->line = op->line;
  *wanted = op->outcome != ISOPROOF_TXN_ABORTED;
  if (!*wanted) return ISOPROOF_OK;
  if (s->lock) {
    c->kind = CALL_CAS;
    c->from = op->f == ISO_OBJECT_F_ACQUIRE ? FREE : HELD;
    c->to = op->f == ISO_OBJECT_F_ACQUIRE ? HELD : FREE;
    return ISOPROOF_OK;
  }
  c->kind = op->f == ISO_OBJECT_F_READ ? CALL_READ : op->f == ISO_OBJECT_F_WRITE ? CALL_WRITE : CALL_CAS;
  if (!(c->kind == CALL_CAS ? take_swap(s->h, op, c) : take_value(s->h, op, c))) {
    return iso_object_expected(s->h, op, c->kind == CALL_CAS ? "[old new]" : "a value", error);
  }
  if (c->kind == CALL_READ) *wanted = c->known && c->from != ISO_VALUE_NIL;
  return ISOPROOF_OK;
}

static int by_key(const void *a, const void *b) {
  const call *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->invoked > y->invoked) - (x->invoked < y->invoked);
}

static isoproof_status collect(search *s) {
  for (size_t i = 0; i < s->h->ops.count; i++) {
    call c;
    bool wanted;
    ISO_TRY(call_of(s, &s->h->ops.items[i], &c, &wanted, s->error));
    if (wanted && !iso_vec_push(&s->calls, c)) return iso_fail_memory(s->error);
  }
  if (s->calls.count > 1) qsort(s->calls.items, s->calls.count, sizeof(call), by_key);
  return s->calls.count < UINT32_MAX / 4 ? ISOPROOF_OK : iso_fail(s->error, ISOPROOF_ERR_LIMIT, "too many operations");
}

static int by_value(const void *a, const void *b) {
  iso_value x = *(const iso_value *)a, y = *(const iso_value *)b;
  return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b) {
  const moment *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

/* Whether it ever matters that a call of unknown outcome took effect. */
static bool matters(const search *s, const call *c) {
  if (c->known) return true;
  return s->observed.count > 0 &&
         bsearch(&c->to, s->observed.items, s->observed.count, sizeof(iso_value), by_value) != NULL;
}

static bool plan(search *s, uint32_t first, uint32_t end) {
  s->observed.count = s->moments.count = s->unknown.count = 0;
  for (uint32_t i = first; i < end; i++) {
    const call *c = &s->calls.items[i];
    if (c->kind != CALL_WRITE && !iso_vec_push(&s->observed, c->from)) return false;
  }
  if (s->observed.count > 1) qsort(s->observed.items, s->observed.count, sizeof(iso_value), by_value);
  for (uint32_t i = first; i < end; i++) {
    const call *c = &s->calls.items[i];
    if (!matters(s, c)) continue;
    if (!iso_vec_push(&s->moments, ((moment){c->invoked, i, false}))) return false;
    if (c->known && !iso_vec_push(&s->moments, ((moment){c->completed, i, true}))) return false;
  }
  if (s->moments.count > 1) qsort(s->moments.items, s->moments.count, sizeof(moment), by_place);
  return true;
}

/* ---- steps ---- */

/* Open reads of a value take effect when it is there. */
static uint64_t settle(const search *s, iso_value state, uint64_t done) {
  for (uint64_t rest = s->open_mask & ~done; rest != 0; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctzll(rest);
    if (s->open[i]->kind == CALL_READ && s->open[i]->from == state) done |= UINT64_C(1) << i;
  }
  return done;
}

/* A configuration that was reached: it has the call that completes, or is worked on. */
static bool reach(search *s, iso_value state, uint64_t done, uint64_t wanted, const uint32_t *used, uint32_t count) {
  done = settle(s, state, done);
  s->looked_at++;
  if ((done & wanted) != 0) return iso_configurations_add(&s->next, state, done & ~wanted, used, count);
  return iso_configurations_add(&s->work, state, done, used, count);
}

/* Whether somebody who is there looks for a value. */
static bool is_demanded(const search *s, iso_value value, uint64_t done) {
  for (uint64_t rest = s->open_mask & ~done; rest != 0; rest &= rest - 1) {
    const call *c = s->open[__builtin_ctzll(rest)];
    if (c->kind != CALL_WRITE && c->from == value) return true;
  }
  for (size_t i = 0; i < s->unknown.count; i++) {
    if (s->unknown.items[i].kind == CALL_CAS && s->unknown.items[i].from == value) return true;
  }
  return false;
}

static bool expand_unknown(search *s, iso_configuration c, uint64_t wanted) {
  for (uint32_t k = 0; k < s->unknown.count; k++) {
    const kind_of_call *u = &s->unknown.items[k];
    uint32_t times = 0, at = 0;
    if (u->to == c.state || (u->kind == CALL_CAS && u->from != c.state)) continue;
    const uint32_t *used = s->work.used.items + c.used_first;
    for (uint32_t i = 0; i < c.used_count; i++) times += used[i] == k;
    if (times >= u->available || !is_demanded(s, u->to, c.done)) continue;
    s->scratch.count = 0;
    if (!iso_vec_reserve(&s->scratch, c.used_count + 1)) return false;
    while (at < c.used_count && used[at] <= k) s->scratch.items[s->scratch.count++] = used[at++];
    s->scratch.items[s->scratch.count++] = k;
    while (at < c.used_count) s->scratch.items[s->scratch.count++] = used[at++];
    if (!reach(s, u->to, c.done, wanted, s->scratch.items, (uint32_t)s->scratch.count)) return false;
  }
  return true;
}

static bool expand(search *s, iso_configuration c, uint64_t wanted) {
  for (uint64_t rest = s->open_mask & ~c.done; rest != 0; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctzll(rest);
    const call *o = s->open[i];
    bool possible = o->kind == CALL_WRITE || (o->kind == CALL_CAS && o->from == c.state);
    if (!possible) continue;
    s->scratch.count = 0;
    if (!iso_vec_reserve(&s->scratch, c.used_count)) return false;
    for (uint32_t k = 0; k < c.used_count; k++) {
      s->scratch.items[s->scratch.count++] = s->work.used.items[c.used_first + k];
    }
    if (!reach(s, o->to, c.done | UINT64_C(1) << i, wanted, s->scratch.items, c.used_count)) return false;
  }
  return expand_unknown(s, c, wanted);
}

static isoproof_status complete(search *s, uint64_t wanted) {
  iso_configurations_clear(&s->work);
  iso_configurations_clear(&s->next);
  for (size_t i = 0; i < s->now.list.count; i++) {
    const iso_configuration *c = &s->now.list.items[i];
    if (c->gone) continue;
    if (!reach(s, c->state, c->done, wanted, s->now.used.items + c->used_first, c->used_count)) {
      return iso_fail_memory(s->error);
    }
  }
  for (size_t i = 0; i < s->work.list.count && s->looked_at <= s->budget; i++) {
    if ((i & 255) == 0) ISO_TRY(iso_task_check(s->task, s->error));
    if (!s->work.list.items[i].gone && !expand(s, s->work.list.items[i], wanted)) return iso_fail_memory(s->error);
  }
  iso_configurations swap = s->now;
  s->now = s->next;
  s->next = swap;
  return ISOPROOF_OK;
}

static isoproof_status begin(search *s, const call *c) {
  if (c->known) {
    if (s->open_mask == UINT64_MAX) {
      s->report->undecided = "more than 64 calls are open at once";
      return ISOPROOF_OK;
    }
    unsigned slot = (unsigned)__builtin_ctzll(~s->open_mask);
    s->open[slot] = c;
    s->open_mask |= UINT64_C(1) << slot;
    return ISOPROOF_OK;
  }
  for (size_t i = 0; i < s->unknown.count; i++) {
    kind_of_call *u = &s->unknown.items[i];
    if (u->kind != c->kind || u->to != c->to || (c->kind == CALL_CAS && u->from != c->from)) continue;
    u->available++;
    return ISOPROOF_OK;
  }
  kind_of_call fresh = {c->kind, c->from, c->to, 1};
  return iso_vec_push(&s->unknown, fresh) ? ISOPROOF_OK : iso_fail_memory(s->error);
}

static void tell(search *s, const call *c) {
  static const char *const verbs[] = {"the read of", "the write of", "the compare-and-set from"};
  iso_words *w = &s->report->words;
  if (!iso_object_problem(s->report)) return;
  iso_words_add(w, "line %llu: ", (unsigned long long)c->line);
  if (s->lock) {
    iso_words_add(w, "the %s", c->to == 1 ? "acquisition" : "release");
  } else {
    iso_words_add(w, "%s ", verbs[c->kind]);
    iso_object_say(s->report, s->h, c->kind == CALL_WRITE ? c->to : c->from);
    if (c->kind == CALL_CAS) {
      iso_words_add(w, " to ");
      iso_object_say(s->report, s->h, c->to);
    }
  }
  iso_words_add(w, " can have taken effect at no moment since it was invoked, whatever became of the other calls");
}

static isoproof_status search_key(search *s, uint32_t first, uint32_t end) {
  s->open_mask = 0;
  iso_configurations_clear(&s->now);
  if (!plan(s, first, end)) return iso_fail_memory(s->error);
  if (!iso_configurations_add(&s->now, s->lock ? 0 : ISO_VALUE_NIL, 0, NULL, 0)) return iso_fail_memory(s->error);
  for (size_t m = 0; m < s->moments.count && s->report->undecided == NULL; m++) {
    const call *c = &s->calls.items[s->moments.items[m].call];
    unsigned slot = 0;
    if (!s->moments.items[m].end) {
      ISO_TRY(begin(s, c));
      continue;
    }
    while ((s->open_mask >> slot & 1) == 0 || s->open[slot] != c) slot++;
    ISO_TRY(complete(s, UINT64_C(1) << slot));
    s->open_mask &= ~(UINT64_C(1) << slot);
    if (s->looked_at > s->budget) s->report->undecided = "the search reached its limit";
    if (s->report->undecided == NULL && s->now.list.count == 0) {
      tell(s, c);
      return ISOPROOF_OK;
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_object_check_linearizable(const iso_object_history *h, const isoproof_object_options *options,
                                              isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  search s = {.h = h, .task = task, .error = error, .report = report};
  s.lock = options->model == ISOPROOF_OBJECT_MUTEX;
  s.budget = options->budget != 0 ? options->budget : USUAL_BUDGET;
  bool made = iso_configurations_init(&s.now);
  made &= iso_configurations_init(&s.work);
  made &= iso_configurations_init(&s.next);
  isoproof_status status = made ? collect(&s) : iso_fail_memory(error);
  for (size_t i = 0; status == ISOPROOF_OK && i < s.calls.count && report->undecided == NULL;) {
    size_t end = i + 1;
    while (end < s.calls.count && s.calls.items[end].key == s.calls.items[i].key) end++;
    status = search_key(&s, (uint32_t)i, (uint32_t)end);
    i = end;
  }
  iso_configurations_free(&s.now);
  iso_configurations_free(&s.work);
  iso_configurations_free(&s.next);
  iso_vec_free(&s.calls);
  iso_vec_free(&s.observed);
  iso_vec_free(&s.moments);
  iso_vec_free(&s.unknown);
  iso_vec_free(&s.scratch);
  return status;
}
