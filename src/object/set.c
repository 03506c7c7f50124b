/* Sets: by their last read, or by every read. */
#include <stdlib.h>
#include <string.h>

#include "history/numbering.h"
#include "object/object.h"

/* An element of a set that somebody tried to add. */
typedef struct element {
  uint64_t name;         /* key << 32 | element */
  bool attempted;        /* by an addition that did not fail */
  uint32_t known;        /* when it is known to be in the set; ISO_OBJECT_NEVER */
  uint32_t last_present; /* when the latest read that shows it began, + 1; 0 none */
  uint32_t last_absent;  /* the same of reads that miss it although it was known before they began */
  uint32_t seen;         /* the number of the read that showed it last, + 1 */
} element;

typedef struct set {
  const iso_object_history *h;
  const isoproof_object_options *options;
  iso_object_report *report;
  bool keyed;
  ISO_VEC(element) elements; /* by name */
  ISO_VEC(uint32_t) reads;   /* that succeeded, in order of their beginnings */
} set;

static int by_name(const void *a, const void *b) {
  const element *x = a, *y = b;
  if (x->name != y->name) return x->name < y->name ? -1 : 1;
  return (x->known > y->known) - (x->known < y->known);
}

static bool name_of(const set *s, const iso_object_op *add, uint64_t *name) {
  const iso_value *values = iso_object_values(s->h, add);
  if (s->keyed) {
    *name = add->shape == ISO_SHAPE_LIST && add->count == 2 ? (uint64_t)values[0] << 32 | values[1] : 0;
    return add->shape == ISO_SHAPE_LIST && add->count == 2;
  }
  *name = add->shape == ISO_SHAPE_SCALAR ? (uint64_t)ISO_VALUE_NIL << 32 | values[0] : 0;
  return add->shape == ISO_SHAPE_SCALAR;
}

static isoproof_status collect(set *s, isoproof_error *error) {
  const iso_object_history *h = s->h;
  for (size_t i = 0; i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    if (op->f != ISO_OBJECT_F_READ || op->outcome != ISOPROOF_TXN_COMMITTED) continue;
    if (op->shape == ISO_SHAPE_KEYED) s->keyed = true;
    bool good = op->shape == ISO_SHAPE_KEYED || op->shape == ISO_SHAPE_LIST;
    if (!good) return iso_object_expected(h, op, "a list or a set of elements", error);
    if (!iso_vec_push(&s->reads, (uint32_t)i)) return iso_fail_memory(error);
  }
  for (size_t i = 0; i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    element e = {.attempted = op->outcome != ISOPROOF_TXN_ABORTED, .known = ISO_OBJECT_NEVER};
    if (op->f != ISO_OBJECT_F_ADD) continue;
    if (!name_of(s, op, &e.name)) return iso_object_expected(h, op, s->keyed ? "[key element]" : "an element", error);
    if (op->outcome == ISOPROOF_TXN_COMMITTED) e.known = op->completed;
    if (!iso_vec_push(&s->elements, e)) return iso_fail_memory(error);
  }
  if (s->elements.count > 1) qsort(s->elements.items, s->elements.count, sizeof(element), by_name);
  size_t kept = 0;
  for (size_t i = 0; i < s->elements.count; i++) {
    bool again = kept > 0 && s->elements.items[kept - 1].name == s->elements.items[i].name;
    if (again) s->elements.items[kept - 1].attempted |= s->elements.items[i].attempted;
    if (!again) s->elements.items[kept++] = s->elements.items[i];
  }
  s->elements.count = kept;
  return ISOPROOF_OK;
}

/* The elements of one key. */
static void range_of(const set *s, iso_value key, size_t *first, size_t *end) {
  size_t low = 0, high = s->elements.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->elements.items[middle].name >> 32 < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *first = low;
  for (high = s->elements.count; low < high;) {
    size_t middle = low + (high - low) / 2;
    if (s->elements.items[middle].name >> 32 <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *end = low;
}

static element *find(const set *s, uint64_t name) {
  element wanted = {.name = name};
  size_t low = 0, high = s->elements.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->elements.items[middle].name < wanted.name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < s->elements.count && s->elements.items[low].name == name ? &s->elements.items[low] : NULL;
}

static iso_value key_of(const set *s, const iso_object_op *read) { return s->keyed ? read->key : ISO_VALUE_NIL; }

static void tell(set *s, const iso_object_op *read, iso_value value, const char *what) {
  if (!iso_object_problem(s->report)) return;
  iso_words_add(&s->report->words, "line %llu: the read ", (unsigned long long)read->line);
  iso_words_add(&s->report->words, "%s ", what);
  iso_object_say(s->report, s->h, value);
}

/* Marks what a read shows, and tells what nobody added and what is there twice. */
static void mark(set *s, uint32_t number) {
  const iso_object_op *read = &s->h->ops.items[s->reads.items[number]];
  const iso_value *values = iso_object_values(s->h, read);
  for (uint32_t i = 0; i < read->count; i++) {
    element *e = find(s, (uint64_t)key_of(s, read) << 32 | values[i]);
    if (e == NULL || !e->attempted) tell(s, read, values[i], "shows what nobody added:");
    if (e == NULL) continue;
    if (e->seen == number + 1) tell(s, read, values[i], "shows twice:");
    e->seen = number + 1;
    if (read->completed < e->known) e->known = read->completed;
    if (read->invoked + 1 > e->last_present) e->last_present = read->invoked + 1;
  }
}

/* ---- by the last read ---- */

static void judge_read(set *s, uint32_t number) {
  const iso_object_op *read = &s->h->ops.items[s->reads.items[number]];
  size_t first, end;
  mark(s, number);
  range_of(s, key_of(s, read), &first, &end);
  for (size_t i = first; i < end; i++) {
    const element *e = &s->elements.items[i];
    if (e->seen != number + 1 && e->known < read->invoked) tell(s, read, (iso_value)e->name, "misses");
  }
}

static isoproof_status judge_last(set *s, isoproof_task *task, isoproof_error *error) {
  ISO_TRY(iso_task_check(task, error));
  if (s->reads.count == 0) {
    s->report->undecided = "the set was never read";
    return ISOPROOF_OK;
  }
  iso_numbering keys; /* of which the last read was met */
  isoproof_status status = ISOPROOF_OK;
  iso_numbering_init(&keys);
  for (uint32_t r = (uint32_t)s->reads.count; r-- > 0 && status == ISOPROOF_OK;) {
    uint32_t number;
    size_t before = keys.count;
    status = iso_numbering_add(&keys, key_of(s, &s->h->ops.items[s->reads.items[r]]), &number, error);
    if (keys.count > before) judge_read(s, r);
  }
  iso_numbering_free(&keys);
  return status;
}

/* ---- by every read ---- */

static void tell_lost(set *s, const element *e, const char *what) {
  if (!iso_object_problem(s->report)) return;
  iso_words_add(&s->report->words, "element ");
  iso_object_say(s->report, s->h, (iso_value)e->name);
  iso_words_add(&s->report->words, " %s", what);
}

static isoproof_status judge_all(set *s, isoproof_task *task, isoproof_error *error) {
  for (uint32_t r = 0; r < s->reads.count; r++) mark(s, r);
  for (uint32_t r = 0; r < s->reads.count; r++) {
    const iso_object_op *read = &s->h->ops.items[s->reads.items[r]];
    size_t first, end;
    if ((r & 63) == 0) ISO_TRY(iso_task_check(task, error));
    for (size_t i = 0; i < read->count; i++) {
      element *e = find(s, (uint64_t)key_of(s, read) << 32 | iso_object_values(s->h, read)[i]);
      if (e != NULL) e->seen = (uint32_t)s->reads.count + r + 1;
    }
    range_of(s, key_of(s, read), &first, &end);
    for (size_t i = first; i < end; i++) {
      element *e = &s->elements.items[i];
      bool absent = e->seen != s->reads.count + r + 1 && e->known < read->invoked;
      if (absent && read->invoked + 1 > e->last_absent) e->last_absent = read->invoked + 1;
    }
  }
  uint64_t stable = 0;
  for (size_t i = 0; i < s->elements.count; i++) {
    const element *e = &s->elements.items[i];
    bool lost = e->last_absent > e->last_present, stays = e->last_present > e->last_absent;
    if (lost) tell_lost(s, e, "was lost: no read shows it that begins after one that should and does not");
    if (stays && e->last_absent > 0 && s->options->linearizable) {
      tell_lost(s, e, "was missed by a read that began when it was known to be there");
    }
    stable += stays;
  }
  if (stable == 0) s->report->undecided = "no element was there to stay";
  return ISOPROOF_OK;
}

isoproof_status iso_object_check_set(const iso_object_history *h, const isoproof_object_options *options,
                                     isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  set s = {.h = h, .options = options, .report = report};
  isoproof_status status = collect(&s, error);
  if (status == ISOPROOF_OK && s.reads.count >= UINT32_MAX / 4) {
    status = iso_fail(error, ISOPROOF_ERR_LIMIT, "too many reads");
  }
  if (status == ISOPROOF_OK) {
    status = options->model == ISOPROOF_OBJECT_SET ? judge_last(&s, task, error) : judge_all(&s, task, error);
  }
  iso_vec_free(&s.elements);
  iso_vec_free(&s.reads);
  return status;
}
