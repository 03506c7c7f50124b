/* symmetry.c - schedules up to swaps that cannot matter and new names: the least one stands for all. */
#include <string.h>

#include "coo/systematic/schedule.h"

/* ---- swaps ---- */

void iso_sys_normalize(iso_sys_schedule *schedule, const iso_sys_conflicts *conflicts) {
  uint8_t places[ISO_SYS_STEPS], left[ISO_SYS_STEPS];
  uint32_t next[ISO_SYS_TXNS] = {0}, count = schedule->count;
  for (uint32_t i = 0; i < count; i++) {
    left[i] = schedule->order[i];
    places[i] = (uint8_t)iso_sys_place(left[i], next[left[i]]++);
  }
  for (uint32_t made = 0; made < schedule->count; made++) {
    uint32_t best = count, before = 0;
    for (uint32_t i = 0; i < count; i++) {
      bool free = (conflicts->with[places[i]] & before) == 0;
      before |= 1U << places[i];
      if (free && (best == count || left[i] < left[best])) best = i;
    }
    schedule->order[made] = left[best];
    count--;
    memmove(left + best, left + best + 1, count - best);
    memmove(places + best, places + best + 1, count - best);
  }
}

/* ---- names ---- */

/* All orders of 0 .. count - 1, for at most three. */
static const uint8_t orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static uint32_t order_count(uint32_t count) { return count <= 1 ? 1 : count == 2 ? 2 : 6; }

uint32_t iso_sys_renamings(uint32_t txns, uint32_t rows, iso_sys_renaming out[ISO_SYS_RENAMINGS]) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < order_count(txns); t++) {
    for (uint32_t r = 0; r < order_count(rows); r++) {
      memcpy(out[count].txns, orders[t], sizeof out[count].txns);
      memcpy(out[count++].rows, orders[r], sizeof out[0].rows);
    }
  }
  return count;
}

void iso_sys_rename(const iso_sys_schedule *schedule, const iso_sys_renaming *renaming, iso_sys_schedule *out) {
  const iso_sys_family *from = &schedule->family;
  memset(out, 0, sizeof *out);
  out->family.txns = from->txns;
  out->family.rows = from->rows;
  for (uint32_t t = 0; t < from->txns; t++) {
    iso_sys_program *program = &out->family.programs[renaming->txns[t]];
    *program = from->programs[t];
    for (uint32_t i = 0; i < program->count; i++) {
      if (iso_sys_kind_has_row(program->ops[i].kind)) program->ops[i].row = renaming->rows[program->ops[i].row];
    }
  }
  for (uint32_t row = 0; row < from->rows; row++) out->family.starts[renaming->rows[row]] = from->starts[row];
  out->count = schedule->count;
  for (uint32_t i = 0; i < schedule->count; i++) out->order[i] = renaming->txns[schedule->order[i]];
}

/* ---- the least ---- */

static int total_ops(const iso_sys_family *family) {
  int total = 0;
  for (uint32_t t = 0; t < family->txns; t++) total += family->programs[t].count;
  return total;
}

/* Fewer operations come first, then fewer transactions, fewer rows, transactions of few operations. */
int iso_sys_family_compare(const iso_sys_family *a, const iso_sys_family *b) {
  int difference = total_ops(a) - total_ops(b);
  if (difference == 0) difference = a->txns - b->txns;
  if (difference == 0) difference = a->rows - b->rows;
  for (uint32_t t = 0; t < a->txns && difference == 0; t++) difference = a->programs[t].count - b->programs[t].count;
  /* Structs of bytes have no padding, and what is not used is 0. */
  if (difference == 0) difference = memcmp(a->programs, b->programs, sizeof a->programs);
  return difference != 0 ? difference : memcmp(a->starts, b->starts, sizeof a->starts);
}

int iso_sys_compare(const iso_sys_schedule *a, const iso_sys_schedule *b) {
  int difference = iso_sys_family_compare(&a->family, &b->family);
  return difference != 0 ? difference : memcmp(a->order, b->order, sizeof a->order);
}

void iso_sys_canonize(iso_sys_schedule *schedule) {
  iso_sys_renaming renamings[ISO_SYS_RENAMINGS];
  uint32_t count = iso_sys_renamings(schedule->family.txns, schedule->family.rows, renamings);
  iso_sys_schedule given = *schedule, image;
  for (uint32_t i = 0; i < count; i++) {
    iso_sys_conflicts conflicts;
    iso_sys_rename(&given, &renamings[i], &image);
    iso_sys_find_conflicts(&image.family, &conflicts);
    iso_sys_normalize(&image, &conflicts);
    if (i == 0 || iso_sys_compare(&image, schedule) < 0) *schedule = image;
  }
}
