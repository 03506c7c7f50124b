/* Registers with compare-and-set, locks, which are such registers, and keys of a store: is there a moment for every
 * call, between its invocation and its completion, so that calls that take effect one after the other return what was
 * recorded?
 *
 * Where all writes of a key differ and nobody compares, one sort decides (object/unique.c).  Else this is just-in-time
 * linearization (Lowe 2017, after Wing and Gong 1993), key by key: linearizability is local.  The file is gone through
 * once, with the set of all configurations that the register may be in (object/configurations.h).  A call takes effect
 * at the latest when it completes, and other open calls before it as far as that is of use; so only completions make
 * choices.  A read takes effect as soon as its value is there, which can do no harm.  Of appends, only what is the
 * beginning of what the next read shows is of use, unless somebody may overwrite it before.  Deciding is NP-complete:
 * the time may be exponential in the calls that are open at once, and a budget bounds it, as it does memory. */
#include <stdlib.h>
#include <string.h>

#include "object/calls.h"
#include "object/configurations.h"

enum { USUAL_BUDGET = 20000000, MOST_CONFIGURATIONS = 4000000, MOST_TEXT = 256 << 20 };

/* A beginning or an end of a call. */
typedef struct moment {
  uint32_t place, call;
  bool end;
} moment;

/* Calls of unknown outcome that do the same. */
typedef struct kind_of_call {
  iso_call_kind kind;
  iso_value from, to;
  uint32_t available; /* that have begun */
} kind_of_call;

/* A read of a key to which somebody appends, in the order of completions. */
typedef struct shown {
  uint32_t call;
  uint32_t overwritten; /* the last completion of a write that begins before this read ends */
} shown;

typedef struct search {
  isoproof_task *task;
  isoproof_error *error;
  iso_object_report *report;
  iso_calls calls;
  ISO_VEC(iso_value) observed; /* values that reads and compare-and-sets of the key at hand look for, sorted */
  ISO_VEC(moment) moments;
  ISO_VEC(kind_of_call) unknown;
  ISO_VEC(uint32_t) scratch;
  bool appends, misses; /* somebody appends to the key at hand, or found another value than compared with */
  ISO_VEC(shown) reads;
  ISO_VEC(iso_value) texts; /* what they show, sorted */
  ISO_VEC(char) text;
  size_t next_read; /* of `reads`: the first that has not completed before the completion at hand */
  uint32_t now_at;  /* the completion at hand */
  const iso_call *open[ISO_MOST_OPEN];
  iso_call_set open_mask;
  iso_configurations now, work, next;
  uint64_t looked_at, budget;
} search;

/* ---- texts ---- */

static isoproof_scalar text_of(const search *s, iso_value value) {
  iso_pool_view view = iso_pool_look(&s->calls.pool);
  return iso_pool_scalar(&view, value);
}

static bool begins_with(isoproof_scalar whole, isoproof_scalar start) {
  return start.length <= whole.length && memcmp(whole.text, start.text, start.length) == 0;
}

/* A text that no read begins with.  Whatever is appended to it, nobody reads that: all such texts are one. */
#define OF_NO_USE ISO_VALUE_NONE

static int compare_texts(isoproof_scalar x, isoproof_scalar y) {
  size_t shorter = x.length < y.length ? x.length : y.length;
  int order = memcmp(x.text, y.text, shorter);
  return order != 0 ? order : (x.length > y.length) - (x.length < y.length);
}

static int by_text(const void *a, const void *b, void *user) {
  return compare_texts(text_of(user, *(const iso_value *)a), text_of(user, *(const iso_value *)b));
}

/* Whether some read shows a text that begins with this one: the first that does not come before it would. */
static bool is_of_use(const search *s, isoproof_scalar text) {
  size_t low = 0, high = s->texts.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_texts(text_of(s, s->texts.items[middle]), text) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < s->texts.count && begins_with(text_of(s, s->texts.items[low]), text);
}

/* The value that a call leaves.  False when memory is out. */
static bool leaves(search *s, iso_call_kind kind, iso_value state, iso_value to, iso_value *after) {
  *after = to;
  if (!s->appends) return true;
  if (kind != ISO_CALL_APPEND) {
    if (!is_of_use(s, text_of(s, to))) *after = OF_NO_USE;
    return true;
  }
  *after = OF_NO_USE;
  if (state == OF_NO_USE) return true;
  isoproof_scalar old = text_of(s, state), more = text_of(s, to);
  isoproof_scalar both = {.type = ISOPROOF_STRING, .length = old.length + more.length};
  s->text.count = 0;
  if (both.length < old.length || !iso_vec_reserve(&s->text, (size_t)both.length + 1)) return false;
  memcpy(s->text.items, old.text, old.length);
  memcpy(s->text.items + old.length, more.text, more.length);
  both.text = s->text.items;
  return !is_of_use(s, both) || iso_pool_add(&s->calls.pool, both, after, s->error) == ISOPROOF_OK;
}

static int by_completion(const void *a, const void *b) {
  const shown *x = a, *y = b;
  return (x->overwritten > y->overwritten) - (x->overwritten < y->overwritten);
}

static bool matters(const search *s, const iso_call *c);

/* Lists the reads, and until when each may still be of a value that was overwritten. */
static bool list_reads(search *s, uint32_t first, uint32_t end) {
  s->reads.count = s->next_read = s->texts.count = 0;
  for (uint32_t i = first; s->appends && i < end; i++) {
    const iso_call *c = &s->calls.items[i];
    if (c->kind != ISO_CALL_READ) continue;
    shown read = {i, c->completed};
    if (!iso_vec_push(&s->reads, read) || !iso_vec_push(&s->texts, c->from)) return false;
  }
  if (s->texts.count > 1) qsort_r(s->texts.items, s->texts.count, sizeof *s->texts.items, by_text, s);
  if (s->reads.count > 1) qsort(s->reads.items, s->reads.count, sizeof *s->reads.items, by_completion);
  uint32_t write = first, last = 0;
  for (size_t i = 0; i < s->reads.count; i++) {
    uint32_t completed = s->calls.items[s->reads.items[i].call].completed;
    for (; write < end && s->calls.items[write].invoked < completed; write++) {
      const iso_call *c = &s->calls.items[write];
      if (c->kind != ISO_CALL_WRITE || !matters(s, c)) continue;
      if (!c->known || c->completed > last) last = c->known ? c->completed : UINT32_MAX;
    }
    s->reads.items[i].overwritten = last;
  }
  return true;
}

/* Whether a value can still become what the next read shows. */
static bool is_viable(const search *s, iso_value state, iso_call_set done) {
  if (!s->appends || s->next_read == s->reads.count) return true;
  const shown *read = &s->reads.items[s->next_read];
  const iso_call *c = &s->calls.items[read->call];
  if (read->overwritten >= s->now_at) return true;
  for (iso_call_set rest = done & s->open_mask; rest != 0; rest &= rest - 1) {
    if (s->open[iso_call_first(rest)] == c) return true;
  }
  return state != OF_NO_USE && begins_with(text_of(s, c->from), text_of(s, state));
}

/* ---- moments ---- */

static int by_value(const void *a, const void *b) {
  iso_value x = *(const iso_value *)a, y = *(const iso_value *)b;
  return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b) {
  const moment *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

/* Whether it ever matters that a call of unknown outcome took effect. */
static bool matters(const search *s, const iso_call *c) {
  if (c->known) return true;
  isoproof_scalar part = s->appends ? text_of(s, c->to) : isoproof_nil();
  for (size_t i = 0; s->appends && i < s->reads.count; i++) {
    isoproof_scalar whole = text_of(s, s->calls.items[s->reads.items[i].call].from);
    if (memmem(whole.text, whole.length, part.text, part.length) != NULL) return true;
  }
  if (s->appends) return false;
  if (s->misses) return true;
  return s->observed.count > 0 &&
         bsearch(&c->to, s->observed.items, s->observed.count, sizeof(iso_value), by_value) != NULL;
}

static bool plan(search *s, uint32_t first, uint32_t end) {
  s->observed.count = s->moments.count = s->unknown.count = 0;
  s->appends = s->misses = false;
  for (uint32_t i = first; i < end; i++) {
    s->appends |= s->calls.items[i].kind == ISO_CALL_APPEND;
    s->misses |= s->calls.items[i].kind == ISO_CALL_MISS;
  }
  if (!list_reads(s, first, end)) return false;
  for (uint32_t i = first; i < end; i++) {
    const iso_call *c = &s->calls.items[i];
    bool looks = c->kind == ISO_CALL_READ || c->kind == ISO_CALL_CAS;
    if (looks && !iso_vec_push(&s->observed, c->from)) return false;
  }
  if (s->observed.count > 1) qsort(s->observed.items, s->observed.count, sizeof(iso_value), by_value);
  for (uint32_t i = first; i < end; i++) {
    const iso_call *c = &s->calls.items[i];
    if (!matters(s, c)) continue;
    if (!iso_vec_push(&s->moments, ((moment){c->invoked, i, false}))) return false;
    if (c->known && !iso_vec_push(&s->moments, ((moment){c->completed, i, true}))) return false;
  }
  if (s->moments.count > 1) qsort(s->moments.items, s->moments.count, sizeof(moment), by_place);
  return true;
}

/* ---- steps ---- */

/* Open reads of a value take effect when it is there, and who found another value when it is not. */
static iso_call_set settle(const search *s, iso_value state, iso_call_set done) {
  for (iso_call_set rest = s->open_mask & ~done; rest != 0; rest &= rest - 1) {
    unsigned i = iso_call_first(rest);
    const iso_call *c = s->open[i];
    bool sees = c->kind == ISO_CALL_READ && c->from == state, misses = c->kind == ISO_CALL_MISS && c->from != state;
    if (sees || misses) done |= iso_call_one(i);
  }
  return done;
}

/* A configuration that was reached: it has the call that completes, or is worked on. */
static bool reach(search *s, iso_value state, iso_call_set done, iso_call_set wanted, const uint32_t *used,
                  uint32_t count) {
  done = settle(s, state, done);
  s->looked_at++;
  if (!is_viable(s, state, done)) return true;
  if ((done & wanted) != 0) return iso_configurations_add(&s->next, state, done & ~wanted, used, count);
  return iso_configurations_add(&s->work, state, done, used, count);
}

/* Whether somebody who is there looks for a value.  Whoever appends to a value is looked for by those who read both. */
static bool is_demanded(const search *s, iso_value value, iso_value now, iso_call_set done) {
  if (s->appends) return true;
  for (iso_call_set rest = s->open_mask & ~done; rest != 0; rest &= rest - 1) {
    const iso_call *c = s->open[iso_call_first(rest)];
    if (c->kind == ISO_CALL_MISS && c->from == now) return true;
    if (c->kind != ISO_CALL_WRITE && c->kind != ISO_CALL_MISS && c->from == value) return true;
  }
  for (size_t i = 0; i < s->unknown.count; i++) {
    if (s->unknown.items[i].kind == ISO_CALL_CAS && s->unknown.items[i].from == value) return true;
  }
  return false;
}

static bool expand_unknown(search *s, iso_configuration c, iso_call_set wanted) {
  for (uint32_t k = 0; k < s->unknown.count; k++) {
    const kind_of_call *u = &s->unknown.items[k];
    uint32_t times = 0, at = 0;
    iso_value after;
    if (u->kind == ISO_CALL_CAS && u->from != c.state) continue;
    if (!leaves(s, u->kind, c.state, u->to, &after)) return false;
    if (after == c.state) continue;
    const uint32_t *used = s->work.used.items + c.used_first;
    for (uint32_t i = 0; i < c.used_count; i++) times += used[i] == k;
    if (times >= u->available || !is_demanded(s, after, c.state, c.done)) continue;
    s->scratch.count = 0;
    if (!iso_vec_reserve(&s->scratch, c.used_count + 1)) return false;
    while (at < c.used_count && used[at] <= k) s->scratch.items[s->scratch.count++] = used[at++];
    s->scratch.items[s->scratch.count++] = k;
    while (at < c.used_count) s->scratch.items[s->scratch.count++] = used[at++];
    if (!reach(s, after, c.done, wanted, s->scratch.items, (uint32_t)s->scratch.count)) return false;
  }
  return true;
}

static bool expand(search *s, iso_configuration c, iso_call_set wanted) {
  for (iso_call_set rest = s->open_mask & ~c.done; rest != 0; rest &= rest - 1) {
    unsigned i = iso_call_first(rest);
    const iso_call *o = s->open[i];
    iso_value after;
    bool changes = o->kind == ISO_CALL_WRITE || o->kind == ISO_CALL_APPEND;
    if (!changes && (o->kind != ISO_CALL_CAS || o->from != c.state)) continue;
    if (!leaves(s, o->kind, c.state, o->to, &after)) return false;
    s->scratch.count = 0;
    if (!iso_vec_reserve(&s->scratch, c.used_count)) return false;
    for (uint32_t k = 0; k < c.used_count; k++) {
      s->scratch.items[s->scratch.count++] = s->work.used.items[c.used_first + k];
    }
    if (!reach(s, after, c.done | iso_call_one(i), wanted, s->scratch.items, c.used_count)) return false;
  }
  return expand_unknown(s, c, wanted);
}

/* Past a limit of memory nothing can be said. */
static void notice_limits(search *s) {
  bool large = s->work.list.count > MOST_CONFIGURATIONS || s->next.list.count > MOST_CONFIGURATIONS;
  if (large || s->calls.pool.text_count > MOST_TEXT) s->report->undecided = "the search reached its limit of memory";
  if (s->looked_at > s->budget) s->report->undecided = "the search reached its limit";
}

static isoproof_status complete(search *s, iso_call_set wanted) {
  iso_configurations_clear(&s->work);
  iso_configurations_clear(&s->next);
  for (size_t i = 0; i < s->now.list.count; i++) {
    const iso_configuration *c = &s->now.list.items[i];
    if (c->gone) continue;
    if (!reach(s, c->state, c->done, wanted, s->now.used.items + c->used_first, c->used_count)) {
      return iso_fail_memory(s->error);
    }
  }
  for (size_t i = 0; i < s->work.list.count && s->report->undecided == NULL; i++) {
    if ((i & 255) == 0) ISO_TRY(iso_task_check(s->task, s->error));
    notice_limits(s);
    if (!s->work.list.items[i].gone && !expand(s, s->work.list.items[i], wanted)) return iso_fail_memory(s->error);
  }
  iso_configurations swap = s->now;
  s->now = s->next;
  s->next = swap;
  return ISOPROOF_OK;
}

static isoproof_status begin(search *s, const iso_call *c) {
  if (c->known) {
    if (~s->open_mask == 0) {
      s->report->undecided = "more than 128 calls of one key are open at once";
      return ISOPROOF_OK;
    }
    unsigned slot = iso_call_first(~s->open_mask);
    s->open[slot] = c;
    s->open_mask |= iso_call_one(slot);
    return ISOPROOF_OK;
  }
  for (size_t i = 0; i < s->unknown.count; i++) {
    kind_of_call *u = &s->unknown.items[i];
    if (u->kind != c->kind || u->to != c->to || (c->kind == ISO_CALL_CAS && u->from != c->from)) continue;
    u->available++;
    return ISOPROOF_OK;
  }
  kind_of_call fresh = {c->kind, c->from, c->to, 1};
  return iso_vec_push(&s->unknown, fresh) ? ISOPROOF_OK : iso_fail_memory(s->error);
}

static void tell(search *s, const iso_call *c) {
  if (!iso_object_problem(s->report)) return;
  iso_call_say(s->report, &s->calls, c);
  iso_words_add(&s->report->words,
                " can have taken effect at no moment since it was invoked, whatever became of the other calls");
}

static isoproof_status search_key(search *s, uint32_t first, uint32_t end) {
  s->open_mask = 0;
  iso_configurations_clear(&s->now);
  if (!plan(s, first, end)) return iso_fail_memory(s->error);
  if (!iso_configurations_add(&s->now, s->calls.initial, 0, NULL, 0)) return iso_fail_memory(s->error);
  if (s->appends && s->reads.count == 0) return ISOPROOF_OK;
  for (size_t m = 0; m < s->moments.count && s->report->undecided == NULL; m++) {
    const iso_call *c = &s->calls.items[s->moments.items[m].call];
    unsigned slot = 0;
    if (!s->moments.items[m].end) {
      ISO_TRY(begin(s, c));
      continue;
    }
    while ((s->open_mask >> slot & 1) == 0 || s->open[slot] != c) slot++;
    s->now_at = c->completed;
    ISO_TRY(complete(s, iso_call_one(slot)));
    s->open_mask &= ~iso_call_one(slot);
    notice_limits(s);
    bool is_next = s->next_read < s->reads.count && &s->calls.items[s->reads.items[s->next_read].call] == c;
    if (is_next) s->next_read++;
    if (s->appends && s->next_read == s->reads.count && s->now.list.count > 0) return ISOPROOF_OK; /* nobody looks */
    if (s->report->undecided == NULL && s->now.list.count == 0) {
      tell(s, c);
      return ISOPROOF_OK;
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status judge_key(search *s, size_t first, size_t end) {
  bool decided = false;
  ISO_TRY(iso_calls_judge_unique(&s->calls, first, end, s->task, s->report, &decided, s->error));
  return decided ? ISOPROOF_OK : search_key(s, (uint32_t)first, (uint32_t)end);
}

/* A key that is not decided leaves open whether another one is violated. */
static isoproof_status judge_keys(search *s) {
  const char *undecided = NULL;
  for (size_t i = 0; i < s->calls.count;) {
    size_t end = i + 1;
    while (end < s->calls.count && s->calls.items[end].key == s->calls.items[i].key) end++;
    ISO_TRY(judge_key(s, i, end));
    if (s->report->undecided != NULL) undecided = s->report->undecided;
    s->report->undecided = NULL;
    i = end;
  }
  s->report->undecided = undecided;
  return ISOPROOF_OK;
}

isoproof_status iso_object_check_linearizable(const iso_object_history *h, const isoproof_object_options *options,
                                              isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  search s = {.task = task, .error = error, .report = report};
  s.budget = options->budget != 0 ? options->budget : USUAL_BUDGET;
  ISO_TRY(iso_calls_make(h, options->model, &s.calls, error));
  bool made = iso_configurations_init(&s.now);
  made &= iso_configurations_init(&s.work);
  made &= iso_configurations_init(&s.next);
  isoproof_status status = made ? judge_keys(&s) : iso_fail_memory(error);
  iso_configurations_free(&s.now);
  iso_configurations_free(&s.work);
  iso_configurations_free(&s.next);
  iso_calls_free(&s.calls);
  iso_vec_free(&s.observed);
  iso_vec_free(&s.moments);
  iso_vec_free(&s.unknown);
  iso_vec_free(&s.scratch);
  iso_vec_free(&s.reads);
  iso_vec_free(&s.text);
  iso_vec_free(&s.texts);
  return status;
}
