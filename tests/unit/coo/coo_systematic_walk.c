/* Schedules over rows and predicates: the walk against classes that are made by brute force, straight from the
 * definition of what is equivalent; canonical forms; texts; and shapes that must be among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coo/systematic/walk.h"

/* ---- every schedule, without a thought of symmetry ---- */

typedef struct node_set {
  iso_sys_schedule *nodes;
  uint32_t *parents, *table;
  size_t count, room, slots;
} node_set;

static size_t slot_of(const node_set *set, const iso_sys_schedule *node) {
  const unsigned char *bytes = (const unsigned char *)node;
  uint64_t hash = 1469598103934665603U;
  for (size_t i = 0; i < sizeof *node; i++) hash = (hash ^ bytes[i]) * 1099511628211U;
  size_t slot = (hash ^ hash >> 29) % set->slots;
  while (set->table[slot] != UINT32_MAX && memcmp(&set->nodes[set->table[slot]], node, sizeof *node) != 0)
    slot = (slot + 1) % set->slots;
  return slot;
}

static node_set new_set(size_t room) {
  node_set set = {malloc(room * sizeof(iso_sys_schedule)),
                  malloc(room * sizeof(uint32_t)),
                  malloc(2 * room * sizeof(uint32_t)),
                  0,
                  room,
                  2 * room};
  assert_true(set.nodes != NULL && set.parents != NULL && set.table != NULL);
  memset(set.table, 0xff, set.slots * sizeof *set.table);
  return set;
}

static void free_set(node_set *set) {
  free(set->nodes);
  free(set->parents);
  free(set->table);
}

static void add_node(node_set *set, const iso_sys_schedule *node) {
  size_t slot = slot_of(set, node);
  assert_true(set->table[slot] == UINT32_MAX && set->count < set->room);
  set->nodes[set->count] = *node;
  set->parents[set->count] = (uint32_t)set->count;
  set->table[slot] = (uint32_t)set->count++;
}

static uint32_t root_of(node_set *set, uint32_t node) {
  while (set->parents[node] != node) node = set->parents[node] = set->parents[set->parents[node]];
  return node;
}

static void join(node_set *set, uint32_t node, const iso_sys_schedule *other) {
  uint32_t found = set->table[slot_of(set, other)];
  assert_true(found != UINT32_MAX);
  set->parents[root_of(set, found)] = root_of(set, node);
}

/* All orders of the steps of a family. */
static void add_orders(node_set *set, const iso_sys_family *family) {
  iso_sys_schedule node = {.family = *family};
  uint32_t left[ISO_SYS_TXNS] = {0}, depth = 0;
  int chosen[ISO_SYS_STEPS + 1];
  for (uint32_t t = 0; t < family->txns; t++) {
    left[t] = family->programs[t].count + 2U;
    node.count = (uint8_t)(node.count + left[t]);
  }
  chosen[0] = -1;
  for (;;) {
    if (chosen[depth] >= 0) left[chosen[depth]]++;
    do chosen[depth]++;
    while (chosen[depth] < family->txns && left[chosen[depth]] == 0);
    if (chosen[depth] == family->txns) {
      if (depth-- == 0) return;
      continue;
    }
    left[chosen[depth]]--;
    node.order[depth] = (uint8_t)chosen[depth];
    if (depth + 1 == node.count)
      add_node(set, &node);
    else
      chosen[++depth] = -1;
  }
}

static bool next_number(uint32_t *digits, uint32_t count, uint32_t base) {
  for (uint32_t i = 0; i < count; i++) {
    if (++digits[i] < base) return true;
    digits[i] = 0;
  }
  return false;
}

/* Programs of `counts` operations each, in every way. */
static void add_families(node_set *set, const iso_sys_bounds *bounds, uint32_t txns, uint32_t rows,
                         const uint32_t *counts) {
  iso_sys_step alphabet[ISO_SYS_ALPHABET];
  uint32_t letters = iso_sys_alphabet(bounds, rows, alphabet), digits[ISO_SYS_TXNS * ISO_SYS_OPS] = {0}, total = 0;
  for (uint32_t t = 0; t < txns; t++) total += counts[t];
  do {
    uint32_t starts[ISO_SYS_ROWS] = {0};
    do {
      for (uint32_t ends = 0; ends < 1U << txns; ends++) {
        iso_sys_family family = {.txns = (uint8_t)txns, .rows = (uint8_t)rows};
        uint32_t digit = 0;
        for (uint32_t t = 0; t < txns; t++) {
          family.programs[t].count = (uint8_t)counts[t];
          family.programs[t].aborts = ends >> t & 1;
          for (uint32_t i = 0; i < counts[t]; i++) family.programs[t].ops[i] = alphabet[digits[digit++]];
        }
        for (uint32_t row = 0; row < rows; row++) family.starts[row] = (uint8_t)starts[row];
        if (iso_sys_family_is_sound(&family, bounds->unique)) add_orders(set, &family);
      }
    } while (next_number(starts, rows, ISO_SYS_STARTS));
  } while (next_number(digits, total, letters));
}

static void add_all(node_set *set, const iso_sys_bounds *bounds) {
  for (uint32_t txns = 2; txns <= bounds->transactions; txns++) {
    for (uint32_t rows = 1; rows <= bounds->rows; rows++) {
      uint32_t numbers[ISO_SYS_TXNS] = {0}, counts[ISO_SYS_TXNS];
      do {
        for (uint32_t t = 0; t < txns; t++) counts[t] = numbers[t] + 1;
        add_families(set, bounds, txns, rows, counts);
      } while (next_number(numbers, txns, bounds->operations));
    }
  }
}

/* ---- what is equivalent ---- */

static bool op_touches(iso_sys_step op, uint32_t row) { return op.kind >= ISO_SYS_KEYS || op.row == row; }
static bool op_writes(iso_sys_step op) { return op.kind >= ISO_SYS_INSERT && op.kind <= ISO_SYS_DELETE; }

static bool ops_clash(iso_sys_step a, iso_sys_step b) {
  for (uint32_t row = 0; row < ISO_SYS_ROWS; row++)
    if (op_touches(a, row) && op_touches(b, row)) return op_writes(a) || op_writes(b);
  return false;
}

/* Whether some operation of one program clashes with one of the other, which may have to be a write of the first. */
static bool programs_clash(const iso_sys_program *a, const iso_sys_program *b, bool writes_of_first) {
  for (uint32_t i = 0; i < a->count; i++)
    for (uint32_t j = 0; j < b->count; j++)
      if (ops_clash(a->ops[i], b->ops[j]) && (!writes_of_first || op_writes(a->ops[i]))) return true;
  return false;
}

/* Whether the end of a transaction must stay where it is with regard to step `step` of another one. */
static bool end_clashes(const iso_sys_program *ended, const iso_sys_program *other, uint32_t step) {
  if (step == other->count + 1U) return programs_clash(ended, other, false);
  bool snapshot = step <= 1 && programs_clash(ended, other, true);
  if (step == 0) return snapshot;
  iso_sys_program only = {.count = 1, .ops = {other->ops[step - 1]}};
  return snapshot || programs_clash(ended, &only, false);
}

static bool can_swap(const iso_sys_family *family, uint32_t t, uint32_t i, uint32_t u, uint32_t j) {
  const iso_sys_program *a = &family->programs[t], *b = &family->programs[u];
  if (t == u) return false;
  if (i == a->count + 1U) return !end_clashes(a, b, j);
  if (j == b->count + 1U) return !end_clashes(b, a, i);
  return i == 0 || j == 0 || !ops_clash(a->ops[i - 1], b->ops[j - 1]);
}

static void join_swaps(node_set *set, uint32_t number) {
  const iso_sys_schedule *node = &set->nodes[number];
  uint32_t next[ISO_SYS_TXNS] = {0};
  for (uint32_t i = 0; i + 1 < node->count; i++) {
    uint32_t t = node->order[i], u = node->order[i + 1];
    if (can_swap(&node->family, t, next[t], u, next[u])) {
      iso_sys_schedule other = *node;
      other.order[i] = (uint8_t)u;
      other.order[i + 1] = (uint8_t)t;
      join(set, number, &other);
    }
    next[t]++;
  }
}

/* Two names exchanged: all renamings are made of these. */
static void join_exchange(node_set *set, uint32_t number, uint8_t a, uint8_t b, bool rows) {
  iso_sys_schedule other = set->nodes[number];
  iso_sys_family *family = &other.family;
  if (rows) {
    for (uint32_t t = 0; t < family->txns; t++) {
      for (uint32_t i = 0; i < family->programs[t].count; i++) {
        iso_sys_step *op = &family->programs[t].ops[i];
        if (op->kind < ISO_SYS_KEYS) op->row = op->row == a ? b : op->row == b ? a : op->row;
      }
    }
    uint8_t start = family->starts[a];
    family->starts[a] = family->starts[b];
    family->starts[b] = start;
  } else {
    iso_sys_program program = family->programs[a];
    family->programs[a] = family->programs[b];
    family->programs[b] = program;
    for (uint32_t i = 0; i < other.count; i++)
      other.order[i] = other.order[i] == a ? b : other.order[i] == b ? a : other.order[i];
  }
  join(set, number, &other);
}

static size_t join_all(node_set *set) {
  size_t classes = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    join_swaps(set, i);
    for (uint8_t a = 0; a + 1 < set->nodes[i].family.txns; a++) join_exchange(set, i, a, (uint8_t)(a + 1), false);
    for (uint8_t a = 0; a + 1 < set->nodes[i].family.rows; a++) join_exchange(set, i, a, (uint8_t)(a + 1), true);
  }
  for (uint32_t i = 0; i < set->count; i++) classes += root_of(set, i) == i;
  return classes;
}

/* The walk gives one schedule of each class, and that one is its canonical form. */
static void compare(iso_sys_bounds bounds, size_t room) {
  node_set set = new_set(room);
  add_all(&set, &bounds);
  size_t classes = join_all(&set), found = 0;
  bool *met = calloc(set.count, sizeof *met);
  assert_non_null(met);
  iso_sys_walk walk = iso_sys_walk_begin(bounds);
  iso_sys_schedule schedule;
  for (; iso_sys_walk_next(&walk, &schedule); found++) {
    uint32_t number = set.table[slot_of(&set, &schedule)];
    assert_true(number != UINT32_MAX);
    uint32_t root = root_of(&set, number);
    assert_false(met[root]);
    met[root] = true;
  }
  assert_int_equal(found, classes);
  for (uint32_t i = 0; i < set.count; i += 97) {
    iso_sys_schedule form = set.nodes[i];
    iso_sys_canonize(&form);
    assert_true(root_of(&set, set.table[slot_of(&set, &form)]) == root_of(&set, i));
  }
  free(met);
  free_set(&set);
}

static void test_two_transactions(void **state) {
  (void)state;
  compare((iso_sys_bounds){2, 1, 1, 4, true}, 1 << 18);
  compare((iso_sys_bounds){2, 1, 2, 2, true}, 1 << 18);
  compare((iso_sys_bounds){2, 2, 1, 1, true}, 1 << 19);
  compare((iso_sys_bounds){2, 2, 1, 1, false}, 1 << 19);
}

static void test_three_transactions(void **state) {
  (void)state;
  compare((iso_sys_bounds){3, 1, 1, 0, true}, 1 << 20);
}

/* ---- forms ---- */

static size_t count_all(iso_sys_bounds bounds) {
  iso_sys_walk walk = iso_sys_walk_begin(bounds);
  iso_sys_schedule schedule;
  size_t count = 0;
  while (iso_sys_walk_next(&walk, &schedule)) count++;
  return count;
}

/* Numbers that the documentation gives. */
static void test_counts(void **state) {
  (void)state;
  assert_int_equal(count_all((iso_sys_bounds){2, 1, 1, 1, true}), 216);
  assert_int_equal(count_all((iso_sys_bounds){2, 2, 1, 1, true}), 13047);
  assert_int_equal(count_all((iso_sys_bounds){2, 2, 2, 1, true}), 33879);
}

static int total_ops(const iso_sys_schedule *schedule) {
  int total = 0;
  for (uint32_t t = 0; t < schedule->family.txns; t++) total += schedule->family.programs[t].count;
  return total;
}

static void test_canonical(void **state) {
  (void)state;
  iso_sys_walk walk = iso_sys_walk_begin((iso_sys_bounds){2, 2, 2, 1, true});
  iso_sys_schedule schedule;
  int size = 0;
  for (size_t i = 0; iso_sys_walk_next(&walk, &schedule); i++) {
    /* The smallest come first. */
    assert_true(total_ops(&schedule) >= size);
    size = total_ops(&schedule);
    if (i % 13 != 0) continue;
    iso_sys_schedule form = schedule;
    iso_sys_canonize(&form);
    assert_memory_equal(&form, &schedule, sizeof form);
  }
}

static void test_drawn(void **state) {
  (void)state;
  iso_sys_bounds bounds = {3, 3, 2, 4, true};
  uint64_t random = 7, again = 7;
  for (int i = 0; i < 2000; i++) {
    iso_sys_schedule schedule, same;
    iso_sys_draw(bounds, &random, &schedule);
    iso_sys_draw(bounds, &again, &same);
    assert_memory_equal(&schedule, &same, sizeof same);
    assert_true(iso_sys_family_is_sound(&schedule.family, true));
    iso_sys_canonize(&same);
    assert_memory_equal(&schedule, &same, sizeof same);
  }
}

/* ---- shapes ---- */

/* Whether a schedule of that text is met within the bounds, up to symmetry, which the text is the canonical form of. */
static bool is_met(iso_sys_bounds bounds, const iso_sys_schedule *wanted) {
  iso_sys_walk walk = iso_sys_walk_begin(bounds);
  iso_sys_schedule schedule, form = *wanted;
  iso_sys_canonize(&form);
  while (iso_sys_walk_next(&walk, &schedule))
    if (memcmp(&schedule, &form, sizeof form) == 0) return true;
  return false;
}

static const iso_sys_bounds usual = {2, 2, 2, 1, true};

/* DuckDB lost the update: both read the row, one deletes and the other updates it, both commit. */
static void test_delete_and_update(void **state) {
  (void)state;
  iso_sys_schedule schedule = {.family = {.txns = 2,
                                          .rows = 1,
                                          .programs = {{2, 0, {{ISO_SYS_READ, 0, 0}, {ISO_SYS_DELETE, 0, 0}}},
                                                       {2, 0, {{ISO_SYS_READ, 0, 0}, {ISO_SYS_UPDATE, 0, 0}}}},
                                          .starts = {ISO_SYS_MATCHING}},
                               .count = 8,
                               .order = {0, 1, 0, 1, 0, 1, 0, 1}};
  char text[ISO_SYS_TEXT_BYTES];
  iso_sys_bounds heap = usual;
  heap.unique = false;
  iso_sys_text(&schedule, text);
  assert_string_equal(text, "[x] R1x R2x D1x U2x C1 C2");
  assert_true(is_met(usual, &schedule));
  assert_true(is_met(heap, &schedule));
}

/* Firebird's table stability: the snapshot of the first one is older than the commit of the other one. */
static void test_early_begin(void **state) {
  (void)state;
  iso_sys_schedule schedule = {.family = {.txns = 2,
                                          .rows = 2,
                                          .programs = {{2, 0, {{ISO_SYS_READ, 1, 0}, {ISO_SYS_UPDATE, 0, 0}}},
                                                       {2, 0, {{ISO_SYS_READ, 0, 0}, {ISO_SYS_UPDATE, 1, 0}}}},
                                          .starts = {ISO_SYS_MATCHING, ISO_SYS_MATCHING}},
                               .count = 8,
                               .order = {0, 1, 1, 1, 1, 0, 0, 0}};
  char text[ISO_SYS_TEXT_BYTES];
  iso_sys_text(&schedule, text);
  assert_string_equal(text, "[x y] B1 R2x U2y C2 R1y U1x C1");
  assert_true(is_met(usual, &schedule));
}

/* A write skew of predicates: both look for rows, and each inserts one. */
static void test_phantoms(void **state) {
  (void)state;
  iso_sys_schedule schedule = {.family = {.txns = 2,
                                          .rows = 2,
                                          .programs = {{2, 0, {{ISO_SYS_KEYS, 0, 0}, {ISO_SYS_INSERT, 0, 0}}},
                                                       {2, 0, {{ISO_SYS_KEYS, 0, 0}, {ISO_SYS_INSERT, 1, 0}}}},
                                          .starts = {ISO_SYS_ABSENT, ISO_SYS_ABSENT}},
                               .count = 8,
                               .order = {0, 0, 1, 1, 0, 1, 0, 1}};
  char text[ISO_SYS_TEXT_BYTES];
  iso_sys_text(&schedule, text);
  assert_string_equal(text, "[] P1 P2 I1x I2y C1 C2");
  assert_true(is_met(usual, &schedule));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_transactions),
      cmocka_unit_test(test_three_transactions),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_canonical),
      cmocka_unit_test(test_drawn),
      cmocka_unit_test(test_delete_and_update),
      cmocka_unit_test(test_early_begin),
      cmocka_unit_test(test_phantoms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
