/* part.c - what is left of a schedule without some of its operations: the way to tell what contains something smaller.
 */
#include <string.h>

#include "coo/systematic/schedule.h"

/* Numbers for those transactions and rows that stay. */
typedef struct staying {
  uint32_t first[ISO_SYS_TXNS]; /* bit of the first operation in the mask */
  bool txns[ISO_SYS_TXNS], rows[ISO_SYS_ROWS];
  uint8_t new_txn[ISO_SYS_TXNS], new_row[ISO_SYS_ROWS];
  bool values; /* a predicate on values */
} staying;

static void find_staying(const iso_sys_family *family, uint32_t mask, staying *s) {
  uint32_t bit = 0;
  memset(s, 0, sizeof *s);
  for (uint32_t t = 0; t < family->txns; t++) {
    s->first[t] = bit;
    for (uint32_t i = 0; i < family->programs[t].count; i++, bit++) {
      iso_sys_step op = family->programs[t].ops[i];
      if ((mask >> bit & 1) == 0) continue;
      s->txns[t] = true;
      s->values = s->values || op.kind == ISO_SYS_VALUES;
      if (iso_sys_kind_has_row((iso_sys_kind)op.kind)) s->rows[op.row] = true;
    }
  }
}

static void take_family(const iso_sys_family *from, uint32_t mask, staying *s, iso_sys_family *to) {
  for (uint32_t row = 0; row < from->rows; row++) {
    if (!s->rows[row]) continue;
    s->new_row[row] = to->rows;
    /* What a predicate on values matches or not matters only to one. */
    bool other = from->starts[row] == ISO_SYS_OTHER && !s->values;
    to->starts[to->rows++] = other ? (uint8_t)ISO_SYS_MATCHING : from->starts[row];
  }
  for (uint32_t t = 0; t < from->txns; t++) {
    if (!s->txns[t]) continue;
    s->new_txn[t] = to->txns;
    iso_sys_program *program = &to->programs[to->txns++];
    program->aborts = from->programs[t].aborts;
    for (uint32_t i = 0; i < from->programs[t].count; i++) {
      iso_sys_step op = from->programs[t].ops[i];
      if ((mask >> (s->first[t] + i) & 1) == 0) continue;
      op.other = op.other && s->values;
      if (iso_sys_kind_has_row((iso_sys_kind)op.kind)) op.row = s->new_row[op.row];
      program->ops[program->count++] = op;
    }
  }
}

bool iso_sys_part(const iso_sys_schedule *schedule, uint32_t mask, iso_sys_schedule *out) {
  const iso_sys_family *family = &schedule->family;
  uint32_t next[ISO_SYS_TXNS] = {0};
  staying s;
  memset(out, 0, sizeof *out);
  find_staying(family, mask, &s);
  take_family(family, mask, &s, &out->family);
  for (uint32_t i = 0; i < schedule->count; i++) {
    uint32_t t = schedule->order[i], step = next[t]++;
    bool operation = step > 0 && step <= family->programs[t].count;
    if (!s.txns[t] || (operation && (mask >> (s.first[t] + step - 1) & 1) == 0)) continue;
    out->order[out->count++] = s.new_txn[t];
  }
  if (out->family.txns < 2 || out->family.rows == 0) return false;
  iso_sys_canonize(out);
  return true;
}
