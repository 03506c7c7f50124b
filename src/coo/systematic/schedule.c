/* schedule.c - steps, which of them can be swapped, and schedules as text. */
#include "coo/systematic/schedule.h"

#include <stdio.h>
#include <string.h>

static const struct {
  char letter;
  const char *name;
  bool row, writes, predicate;
} kinds[ISO_SYS_KINDS] = {
#define ISO_X(name, letter, text, row, writes, predicate) {letter, text, row, writes, predicate},
    ISO_SYS_KIND_LIST(ISO_X)
#undef ISO_X
};

bool iso_sys_kind_has_row(iso_sys_kind kind) { return kinds[kind].row; }
bool iso_sys_kind_writes(iso_sys_kind kind) { return kinds[kind].writes; }
bool iso_sys_kind_is_predicate(iso_sys_kind kind) { return kinds[kind].predicate; }
const char *iso_sys_kind_name(iso_sys_kind kind) { return kinds[kind].name; }

uint32_t iso_sys_steps_of(const iso_sys_family *family, uint32_t txn) { return family->programs[txn].count + 2U; }

iso_sys_step iso_sys_step_at(const iso_sys_family *family, uint32_t txn, uint32_t step) {
  const iso_sys_program *program = &family->programs[txn];
  if (step == 0) return (iso_sys_step){.kind = ISO_SYS_BEGIN};
  if (step <= program->count) return program->ops[step - 1];
  return (iso_sys_step){.kind = program->aborts ? ISO_SYS_ABORT : ISO_SYS_COMMIT};
}

bool iso_sys_touches(iso_sys_step step, uint32_t row) {
  return kinds[step.kind].predicate || (kinds[step.kind].row && step.row == row);
}

/* ---- what can be swapped ---- */

static bool ops_conflict(const iso_sys_family *family, iso_sys_step a, iso_sys_step b) {
  if (!kinds[a.kind].writes && !kinds[b.kind].writes) return false;
  for (uint32_t row = 0; row < family->rows; row++)
    if (iso_sys_touches(a, row) && iso_sys_touches(b, row)) return true;
  return false;
}

/* Whether an operation of one transaction conflicts with the step of another one. */
static bool txn_conflicts(const iso_sys_family *family, uint32_t txn, iso_sys_step step) {
  const iso_sys_program *program = &family->programs[txn];
  for (uint32_t i = 0; i < program->count; i++)
    if (ops_conflict(family, program->ops[i], step)) return true;
  return false;
}

/* Whether a transaction writes what another one touches: then it matters which of its ends and snapshots comes first.
 */
static bool writes_for(const iso_sys_family *family, uint32_t writer, uint32_t reader) {
  const iso_sys_program *program = &family->programs[writer];
  for (uint32_t i = 0; i < program->count; i++)
    if (kinds[program->ops[i].kind].writes && txn_conflicts(family, reader, program->ops[i])) return true;
  return false;
}

static bool txns_conflict(const iso_sys_family *family, uint32_t a, uint32_t b) {
  return writes_for(family, a, b) || writes_for(family, b, a);
}

/* Whether the end of one transaction and a step of another one cannot be swapped: it sets locks free, and makes
 * visible what the step, or the snapshot that a begin or a first operation takes, may see. */
static bool end_conflicts(const iso_sys_family *family, uint32_t ended, uint32_t txn, uint32_t step) {
  uint32_t last = iso_sys_steps_of(family, txn) - 1;
  if (step == last) return txns_conflict(family, ended, txn);
  if (step <= 1 && writes_for(family, ended, txn)) return true;
  return step > 0 && txn_conflicts(family, ended, iso_sys_step_at(family, txn, step));
}

static bool steps_conflict(const iso_sys_family *family, uint32_t t, uint32_t i, uint32_t u, uint32_t j) {
  if (i == iso_sys_steps_of(family, t) - 1) return end_conflicts(family, t, u, j);
  if (j == iso_sys_steps_of(family, u) - 1) return end_conflicts(family, u, t, i);
  return i > 0 && j > 0 && ops_conflict(family, iso_sys_step_at(family, t, i), iso_sys_step_at(family, u, j));
}

void iso_sys_find_conflicts(const iso_sys_family *family, iso_sys_conflicts *conflicts) {
  memset(conflicts, 0, sizeof *conflicts);
  for (uint32_t t = 0; t < family->txns; t++) {
    for (uint32_t i = 0; i < iso_sys_steps_of(family, t); i++) {
      uint32_t *with = &conflicts->with[iso_sys_place(t, i)];
      for (uint32_t u = 0; u < family->txns; u++)
        for (uint32_t j = 0; j < iso_sys_steps_of(family, u); j++)
          if (t == u || steps_conflict(family, t, i, u, j)) *with |= 1U << iso_sys_place(u, j);
    }
  }
}

/* ---- what can matter at all ---- */

/* Whether some transaction but `except` has an operation of a kind on a row. */
static bool has_op(const iso_sys_family *family, uint32_t except, iso_sys_kind kind, uint32_t row) {
  for (uint32_t t = 0; t < family->txns; t++) {
    for (uint32_t i = 0; t != except && i < family->programs[t].count; i++) {
      iso_sys_step op = family->programs[t].ops[i];
      if (op.kind == kind && op.row == row) return true;
    }
  }
  return false;
}

/* Whether a write may find the row as it needs it: absent for an insert, there for the others. */
static bool write_is_possible(const iso_sys_family *family, uint32_t txn, uint32_t number, bool unique) {
  const iso_sys_program *program = &family->programs[txn];
  iso_sys_step op = program->ops[number];
  bool inserts = op.kind == ISO_SYS_INSERT;
  if (inserts && !unique && has_op(family, txn, ISO_SYS_INSERT, op.row)) return false;
  for (uint32_t i = number; i-- > 0;) {
    iso_sys_step before = program->ops[i];
    if (before.row == op.row && kinds[before.kind].writes) return inserts == (before.kind == ISO_SYS_DELETE);
  }
  if (inserts == (family->starts[op.row] == ISO_SYS_ABSENT)) return true;
  return (unique || !inserts) && has_op(family, txn, inserts ? ISO_SYS_DELETE : ISO_SYS_INSERT, op.row);
}

static bool programs_are_sound(const iso_sys_family *family, bool unique) {
  bool commits = false;
  for (uint32_t t = 0; t < family->txns; t++) {
    const iso_sys_program *program = &family->programs[t];
    commits = commits || !program->aborts;
    /* What is read after the last write of a transaction that takes it all back does not matter. */
    if (program->aborts && !kinds[program->ops[program->count - 1].kind].writes) return false;
    for (uint32_t i = 0; i < program->count; i++)
      if (kinds[program->ops[i].kind].writes && !write_is_possible(family, t, i, unique)) return false;
  }
  return commits;
}

/* Each row is written by one transaction and touched by another one. */
static bool rows_are_sound(const iso_sys_family *family) {
  for (uint32_t row = 0; row < family->rows; row++) {
    uint32_t touching = 0;
    bool written = false;
    for (uint32_t t = 0; t < family->txns; t++) {
      bool touches = false;
      for (uint32_t i = 0; i < family->programs[t].count; i++) {
        iso_sys_step op = family->programs[t].ops[i];
        bool here = iso_sys_touches(op, row);
        touches = touches || here;
        written = written || (here && kinds[op.kind].writes);
      }
      touching += touches;
    }
    if (touching < 2 || !written) return false;
  }
  return true;
}

/* Whether conflicts lead from each transaction to every other one. */
static bool is_connected(const iso_sys_family *family) {
  uint32_t reached = 1, before;
  do {
    before = reached;
    for (uint32_t t = 0; t < family->txns; t++)
      for (uint32_t u = 0; u < family->txns; u++)
        if ((reached >> t & 1) != 0 && t != u && txns_conflict(family, t, u)) reached |= 1U << u;
  } while (reached != before);
  return reached == (1U << family->txns) - 1;
}

/* Values that a predicate does not match matter where there is a predicate on values. */
static bool values_are_sound(const iso_sys_family *family) {
  bool others = false, predicate = false;
  for (uint32_t row = 0; row < family->rows; row++) others = others || family->starts[row] == ISO_SYS_OTHER;
  for (uint32_t t = 0; t < family->txns; t++) {
    for (uint32_t i = 0; i < family->programs[t].count; i++) {
      others = others || family->programs[t].ops[i].other;
      predicate = predicate || family->programs[t].ops[i].kind == ISO_SYS_VALUES;
    }
  }
  return predicate || !others;
}

bool iso_sys_family_is_sound(const iso_sys_family *family, bool unique) {
  return values_are_sound(family) && programs_are_sound(family, unique) && rows_are_sound(family) &&
         is_connected(family);
}

uint32_t iso_sys_reused_keys(const iso_sys_family *family) {
  uint32_t reused = 0;
  for (uint32_t row = 0; row < family->rows; row++) {
    uint32_t inserts = 0, deletes = 0;
    for (uint32_t t = 0; t < family->txns; t++) {
      for (uint32_t i = 0; i < family->programs[t].count; i++) {
        iso_sys_step op = family->programs[t].ops[i];
        inserts += op.row == row && op.kind == ISO_SYS_INSERT;
        deletes += op.row == row && op.kind == ISO_SYS_DELETE;
      }
    }
    reused += deletes > 0 && inserts > (family->starts[row] == ISO_SYS_ABSENT);
  }
  return reused;
}

/* ---- as text, and as it is carried out ---- */

bool iso_sys_begins_early(const iso_sys_schedule *schedule, const iso_sys_conflicts *conflicts, uint32_t txn,
                          uint32_t *place) {
  uint32_t next[ISO_SYS_TXNS] = {0};
  *place = 0;
  for (uint32_t i = 0; i < schedule->count; i++) {
    uint32_t t = schedule->order[i], step = next[t]++;
    if (t == txn && step == 1) return false;
    if (t == txn || (conflicts->with[iso_sys_place(txn, 0)] >> iso_sys_place(t, step) & 1) == 0) continue;
    if (next[txn] > 0) return true;
    *place = i + 1;
  }
  return false;
}

uint32_t iso_sys_acts(const iso_sys_schedule *schedule, iso_sys_act out[ISO_SYS_STEPS]) {
  uint32_t next[ISO_SYS_TXNS] = {0}, count = 0, early[ISO_SYS_TXNS];
  iso_sys_conflicts conflicts;
  iso_sys_find_conflicts(&schedule->family, &conflicts);
  for (uint32_t t = 0; t < schedule->family.txns; t++)
    if (!iso_sys_begins_early(schedule, &conflicts, t, &early[t])) early[t] = UINT32_MAX;
  for (uint32_t i = 0; i < schedule->count; i++) {
    for (uint8_t t = 0; t < schedule->family.txns; t++)
      if (early[t] == i) out[count++] = (iso_sys_act){t, 0};
    uint8_t txn = schedule->order[i];
    uint32_t step = next[txn]++;
    if (step > 0) out[count++] = (iso_sys_act){txn, (uint8_t)step};
  }
  return count;
}

static char row_name(uint32_t row) { return (char)('x' + row); }

void iso_sys_text(const iso_sys_schedule *schedule, char out[ISO_SYS_TEXT_BYTES]) {
  const iso_sys_family *family = &schedule->family;
  iso_sys_act acts[ISO_SYS_STEPS];
  uint32_t count = iso_sys_acts(schedule, acts);
  char *at = out;
  *at++ = '[';
  for (uint32_t row = 0; row < family->rows; row++) {
    if (family->starts[row] == ISO_SYS_ABSENT) continue;
    if (at[-1] != '[') *at++ = ' ';
    *at++ = row_name(row);
    if (family->starts[row] == ISO_SYS_OTHER) *at++ = '-';
  }
  *at++ = ']';
  for (uint32_t i = 0; i < count; i++) {
    iso_sys_step step = iso_sys_step_at(family, acts[i].txn, acts[i].step);
    *at++ = ' ';
    *at++ = kinds[step.kind].letter;
    *at++ = (char)('1' + acts[i].txn);
    if (kinds[step.kind].row) *at++ = row_name(step.row);
    if (step.other) *at++ = '-';
  }
  *at = '\0';
}
