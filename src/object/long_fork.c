/* Reads of several keys that disagree about which write came first, and reads that see a later insertion of a client
 * without an earlier one. */
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

/* ---- long fork ---- */

/* A read of several keys: pairs of key and value, sorted by key. */
typedef struct group_read {
  const iso_object_op *op;
  const uint64_t *pairs; /* key << 32 | value */
  uint32_t count, seen;
} group_read;

typedef struct forks {
  const iso_object_history *h;
  iso_object_report *report;
  ISO_VEC(group_read) reads;
  ISO_VEC(uint64_t) pairs;
  ISO_VEC(uint64_t) writes; /* key << 32 | value, of writes that did not fail */
} forks;

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* By keys, then by how many of them were seen. */
static int by_group(const void *a, const void *b) {
  const group_read *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? -1 : 1;
  for (uint32_t i = 0; i < x->count; i++) {
    uint64_t k = x->pairs[i] >> 32, l = y->pairs[i] >> 32;
    if (k != l) return k < l ? -1 : 1;
  }
  if (x->seen != y->seen) return x->seen < y->seen ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

static bool same_group(const group_read *x, const group_read *y) {
  if (x->count != y->count) return false;
  for (uint32_t i = 0; i < x->count; i++) {
    if (x->pairs[i] >> 32 != y->pairs[i] >> 32) return false;
  }
  return true;
}

static isoproof_status collect_write(forks *f, const iso_object_op *op, isoproof_error *error) {
  const iso_value *v = iso_object_values(f->h, op);
  if (op->outcome == ISOPROOF_TXN_ABORTED) return ISOPROOF_OK;
  return iso_vec_push(&f->writes, (uint64_t)v[1] << 32 | v[2]) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status collect_read(forks *f, const iso_object_op *op, uint32_t group_size, isoproof_error *error) {
  const iso_value *v = iso_object_values(f->h, op);
  group_read read = {.op = op, .count = op->count / 3};
  if (group_size != 0 && read.count != group_size) {
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){f->h->name, op->line, 0, -1},
                       "expected a read of %u keys, found one of %u", group_size, read.count);
  }
  for (uint32_t i = 0; i < op->count; i += 3) {
    if (!iso_vec_push(&f->pairs, (uint64_t)v[i + 1] << 32 | v[i + 2])) return iso_fail_memory(error);
    read.seen += v[i + 2] != ISO_VALUE_NIL;
  }
  return iso_vec_push(&f->reads, read) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status collect(forks *f, uint32_t group_size, isoproof_error *error) {
  for (size_t i = 0; i < f->h->ops.count; i++) {
    const iso_object_op *op = &f->h->ops.items[i];
    bool reads = true;
    if (op->shape == ISO_SHAPE_LIST && op->count == 0) continue;
    if (op->shape == ISO_SHAPE_NOTHING && op->outcome != ISOPROOF_TXN_COMMITTED) continue;
    if (op->shape != ISO_SHAPE_MICRO) return iso_object_expected(f->h, op, "[[:r k v] ...] or [[:w k v]]", error);
    for (uint32_t k = 0; k < op->count; k += 3) reads &= iso_object_values(f->h, op)[k] == 0;
    if (!reads && op->count != 3) return iso_object_expected(f->h, op, "either reads or one write", error);
    if (!reads) ISO_TRY(collect_write(f, op, error));
    if (reads && op->outcome == ISOPROOF_TXN_COMMITTED) ISO_TRY(collect_read(f, op, group_size, error));
  }
  size_t at = 0;
  for (size_t i = 0; i < f->reads.count; i++) {
    group_read *read = &f->reads.items[i];
    read->pairs = f->pairs.items + at;
    if (read->count > 1) qsort(f->pairs.items + at, read->count, sizeof(uint64_t), by_number);
    at += read->count;
  }
  if (f->reads.count > 1) qsort(f->reads.items, f->reads.count, sizeof(group_read), by_group);
  if (f->writes.count > 1) qsort(f->writes.items, f->writes.count, sizeof(uint64_t), by_number);
  return ISOPROOF_OK;
}

static void judge_values(forks *f, const group_read *read) {
  for (uint32_t i = 0; i < read->count; i++) {
    uint64_t pair = read->pairs[i];
    bool written =
        f->writes.count > 0 && bsearch(&pair, f->writes.items, f->writes.count, sizeof(uint64_t), by_number) != NULL;
    if ((iso_value)pair == ISO_VALUE_NIL || written || !iso_object_problem(f->report)) continue;
    iso_words_add(&f->report->words, "line %llu: the read shows a value that nobody wrote to key ",
                  (unsigned long long)read->op->line);
    iso_object_say(f->report, f->h, (iso_value)(pair >> 32));
  }
}

/* Of two reads of the same keys the one that saw fewer may see nothing that the other misses. */
static void judge_pair(forks *f, const group_read *few, const group_read *many) {
  uint32_t ahead = UINT32_MAX, behind = UINT32_MAX;
  for (uint32_t i = 0; i < few->count; i++) {
    bool here = (iso_value)few->pairs[i] != ISO_VALUE_NIL, there = (iso_value)many->pairs[i] != ISO_VALUE_NIL;
    if (here && !there) ahead = i;
    if (there && !here) behind = i;
  }
  if (ahead == UINT32_MAX || behind == UINT32_MAX || !iso_object_problem(f->report)) return;
  iso_words_add(&f->report->words, "line %llu: the read shows key ", (unsigned long long)few->op->line);
  iso_object_say(f->report, f->h, (iso_value)(few->pairs[ahead] >> 32));
  iso_words_add(&f->report->words, " written and ");
  iso_object_say(f->report, f->h, (iso_value)(few->pairs[behind] >> 32));
  iso_words_add(&f->report->words, " not; that of line %llu shows it the other way round",
                (unsigned long long)many->op->line);
}

static void judge(forks *f) {
  for (size_t i = 1; i < f->writes.count; i++) {
    if (f->writes.items[i] >> 32 == f->writes.items[i - 1] >> 32) {
      f->report->undecided = "a key is written more than once, so that nil does not mean that a write was missed";
      return;
    }
  }
  for (size_t i = 0; i < f->reads.count; i++) {
    const group_read *read = &f->reads.items[i];
    judge_values(f, read);
    if (i > 0 && same_group(&f->reads.items[i - 1], read)) judge_pair(f, &f->reads.items[i - 1], read);
  }
}

isoproof_status iso_object_check_long_fork(const iso_object_history *h, const isoproof_object_options *options,
                                           isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  forks f = {.h = h, .report = report};
  isoproof_status status = iso_task_check(task, error);
  if (status == ISOPROOF_OK) status = collect(&f, options->group_size, error);
  if (status == ISOPROOF_OK) judge(&f);
  iso_vec_free(&f.reads);
  iso_vec_free(&f.pairs);
  iso_vec_free(&f.writes);
  return status;
}

/* ---- sequential ---- */

isoproof_status iso_object_check_sequential(const iso_object_history *h, const isoproof_object_options *options,
                                            isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  (void)options;
  for (size_t i = 0; i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    if ((i & 1023) == 0) ISO_TRY(iso_task_check(task, error));
    if (op->f != ISO_OBJECT_F_READ || op->outcome != ISOPROOF_TXN_COMMITTED) continue;
    if (op->shape != ISO_SHAPE_KEYED) {
      return iso_object_expected(h, op, "[key [what was inserted last ... first]]", error);
    }
    const iso_value *v = iso_object_values(h, op);
    uint32_t place = 0;
    while (place < op->count && v[place] == ISO_VALUE_NIL) place++;
    uint32_t seen = place;
    while (place < op->count && v[place] != ISO_VALUE_NIL) place++;
    if (place >= op->count || !iso_object_problem(report)) continue;
    iso_words_add(&report->words, "line %llu: of key ", (unsigned long long)op->line);
    iso_object_say(report, h, op->key);
    iso_words_add(&report->words, " the read shows ");
    iso_object_say(report, h, v[seen]);
    iso_words_add(&report->words, ", but not what its client had inserted before");
  }
  return ISOPROOF_OK;
}
