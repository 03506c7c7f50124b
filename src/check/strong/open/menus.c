/* Literals for the versions that reads can have seen, and for the rows of counts. */
#include "check/strong/open/menus.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/open/count_clauses.h"

void iso_menus_free(iso_menus *m) {
  free(m->menus);
  iso_vec_free(&m->choices);
  iso_vec_free(&m->literals);
  free(m->stated);
  free(m->part);
  iso_vec_free(&m->clause);
  memset(m, 0, sizeof *m);
}

isoproof_status iso_menus_make(const iso_open_reads *open, iso_refiner *refiner, iso_possible *possible, bool sessions,
                               iso_menus *m, isoproof_error *error) {
  *m = (iso_menus){.open = open, .e = refiner->e, .refiner = refiner, .possible = possible, .sessions = sessions};
  bool has_part = open->doubt->optional != NULL;
  uint32_t txns = open->view->h->txns;
  m->menus = iso_alloc_zero(open->reads.count, sizeof *m->menus);
  m->stated = iso_alloc_zero(open->counts.count, 1);
  if (has_part) m->part = iso_alloc(txns, sizeof *m->part);
  for (uint32_t txn = 0; m->part != NULL && txn < txns; txn++) m->part[txn] = ISO_NO_PART;
  if (m->menus != NULL && m->stated != NULL && (m->part != NULL) == has_part) return ISOPROOF_OK;
  iso_menus_free(m);
  return iso_fail_memory(error);
}

/* ---- who takes part ---- */

static isoproof_status imply(iso_menus *m, iso_lit a, iso_lit b, isoproof_error *error) {
  iso_lit both[2] = {iso_lit_not(a), b};
  return iso_solver_clause(m->refiner->solver, both, 2, error);
}

/* Orders an optional transaction and a later one of its session, which is certain or has a literal as well, where both
 * take part. */
static isoproof_status order_part(iso_menus *m, uint32_t earlier, uint32_t later, isoproof_error *error) {
  iso_event_edge edge = {iso_event_commit(m->e, earlier), iso_event_begin(m->e, later)};
  bool optional = iso_is_optional(m->open->doubt, later);
  iso_lit clause[3];
  ISO_TRY(iso_refiner_edge(m->refiner, edge, &clause[0], error));
  clause[1] = iso_lit_not(m->part[earlier]);
  clause[2] = optional ? iso_lit_not(m->part[later]) : clause[1];
  return iso_solver_clause(m->refiner->solver, clause, optional ? 3 : 2, error);
}

/* Who takes part comes before the next certain one of its session, and is in order with the optional ones around it. */
static isoproof_status order_session(iso_menus *m, uint32_t txn, isoproof_error *error) {
  const iso_doubt *doubt = m->open->doubt;
  const iso_view *v = m->open->view;
  uint32_t session = v->h->txn_session[txn];
  for (uint32_t t = txn + 1; t < v->h->session_first_txn[session + 1]; t++) {
    if (!v->counts[t] || (iso_is_optional(doubt, t) && m->part[t] == ISO_NO_PART)) continue;
    ISO_TRY(order_part(m, txn, t, error));
    if (!iso_is_optional(doubt, t)) break;
  }
  for (uint32_t t = txn; t-- > v->h->session_first_txn[session];) {
    if (!v->counts[t] || (iso_is_optional(doubt, t) && m->part[t] == ISO_NO_PART)) continue;
    if (!iso_is_optional(doubt, t)) break; /* known */
    ISO_TRY(order_part(m, t, txn, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_menus_part(iso_menus *m, uint32_t txn, iso_lit *literal, isoproof_error *error) {
  if (m->part[txn] == ISO_NO_PART) {
    ISO_TRY(iso_solver_var(m->refiner->solver, &m->part[txn], error));
    iso_solver_phase(m->refiner->solver, iso_lit_not(m->part[txn]));
    if (m->sessions) ISO_TRY(order_session(m, txn, error));
  }
  *literal = m->part[txn];
  return ISOPROOF_OK;
}

bool iso_menus_takes_part(const iso_menus *m, uint32_t txn) {
  if (!iso_is_optional(m->open->doubt, txn)) return true;
  return m->part[txn] != ISO_NO_PART && iso_solver_value(m->refiner->solver, m->part[txn]);
}

/* ---- versions ---- */

/* Who reads a version comes after whoever wrote it, who takes part. */
static isoproof_status order_choice(iso_menus *m, const iso_open_read *read, uint32_t version, iso_lit chosen,
                                    isoproof_error *error) {
  if (version == 0) return ISOPROOF_OK;
  uint32_t writer = m->open->slot_txn[version - 1];
  if (iso_is_optional(m->open->doubt, writer)) {
    iso_lit part;
    ISO_TRY(iso_menus_part(m, writer, &part, error));
    ISO_TRY(imply(m, chosen, part, error));
  }
  iso_event_edge edge = {iso_event_commit(m->e, writer), iso_event_begin(m->e, read->txn)};
  const iso_event_clocks *clocks = m->refiner->clocks;
  if (clocks != NULL && iso_reaches(m->e, clocks, edge.from, edge.to)) return ISOPROOF_OK;
  iso_lit after;
  ISO_TRY(iso_refiner_edge(m->refiner, edge, &after, error));
  return imply(m, chosen, after, error);
}

/* One of the literals is true, if the transaction takes part. */
static isoproof_status choose_one(iso_menus *m, const iso_menu *menu, uint32_t txn, isoproof_error *error) {
  m->clause.count = 0;
  for (uint32_t i = menu->first; i < menu->first + menu->count; i++) {
    if (!iso_vec_push(&m->clause, m->literals.items[i])) return iso_fail_memory(error);
  }
  if (iso_is_optional(m->open->doubt, txn)) {
    iso_lit part;
    ISO_TRY(iso_menus_part(m, txn, &part, error));
    if (!iso_vec_push(&m->clause, iso_lit_not(part))) return iso_fail_memory(error);
  }
  return iso_solver_clause(m->refiner->solver, m->clause.items, m->clause.count, error);
}

isoproof_status iso_menus_list(iso_menus *m, uint32_t number, isoproof_error *error) {
  const iso_open_read *read = &m->open->reads.items[number];
  iso_menu *menu = &m->menus[number];
  if (menu->count > 0) return ISOPROOF_OK;
  ISO_TRY(iso_possible_find(m->possible, read, error));
  menu->first = (uint32_t)m->choices.count;
  menu->count = (uint32_t)m->possible->versions.count;
  m->listed++;
  for (uint32_t i = 0; i < menu->count; i++) {
    uint32_t version = m->possible->versions.items[i];
    iso_lit literal;
    ISO_TRY(iso_solver_var(m->refiner->solver, &literal, error));
    if (!iso_vec_push(&m->choices, version) || !iso_vec_push(&m->literals, literal)) return iso_fail_memory(error);
    ISO_TRY(order_choice(m, read, version, literal, error));
  }
  return choose_one(m, menu, read->txn, error);
}

/* ---- choices ---- */

uint32_t iso_menus_likely(const iso_menus *m, uint32_t number) {
  const iso_menu *menu = &m->menus[number];
  int64_t best = INT64_MAX;
  uint32_t chosen = menu->first;
  for (uint32_t i = menu->first; i < menu->first + menu->count; i++) {
    int64_t far =
        iso_open_distance(m->open, m->e, m->refiner->s, m->open->reads.items[number].txn, m->choices.items[i]);
    if (far < best) best = far, chosen = i;
  }
  return chosen;
}

uint32_t iso_menus_true(const iso_menus *m, uint32_t number) {
  const iso_menu *menu = &m->menus[number];
  for (uint32_t i = menu->first; i < menu->first + menu->count; i++) {
    if (iso_solver_value(m->refiner->solver, m->literals.items[i])) return i;
  }
  return menu->first;
}

uint32_t iso_menus_of(const iso_menus *m, uint32_t number, uint32_t version) {
  const iso_menu *menu = &m->menus[number];
  for (uint32_t i = menu->first; i < menu->first + menu->count; i++) {
    if (m->choices.items[i] == version) return i;
  }
  return UINT32_MAX;
}

void iso_menus_prefer(iso_menus *m, uint32_t choice) {
  iso_solver_phase(m->refiner->solver, m->literals.items[choice]);
}

/* ---- counts ---- */

typedef struct {
  iso_menus *m;
  const iso_open_count *count;
  iso_lit *rows; /* of those that can be either way */
  size_t either;
  int64_t missing; /* of them */
} stating;

static bool matches(const stating *s, uint32_t key, uint32_t version) {
  return iso_open_matches(s->m->open, s->count->statement, key, version);
}

/* A row: it always matches, it never does, or a literal says whether it does, as its true choices do. */
static isoproof_status state_row(stating *s, uint32_t read, uint32_t now, isoproof_error *error) {
  iso_menus *m = s->m;
  iso_solver *solver = m->refiner->solver;
  uint32_t key = m->open->reads.items[read].key, matching = 0;
  ISO_TRY(iso_menus_list(m, read, error));
  const iso_menu *menu = &m->menus[read];
  uint32_t end = menu->first + menu->count;
  for (uint32_t i = menu->first; i < end; i++) matching += matches(s, key, m->choices.items[i]);
  if (matching == menu->count) s->missing--;
  if (matching == menu->count || matching == 0) return ISOPROOF_OK;
  iso_lit row;
  ISO_TRY(iso_solver_var(solver, &row, error));
  for (uint32_t i = menu->first; i < end; i++) {
    bool does = matches(s, key, m->choices.items[i]);
    iso_lit both[2] = {iso_lit_not(m->literals.items[i]), does ? row : iso_lit_not(row)};
    ISO_TRY(iso_solver_clause(solver, both, 2, error));
  }
  iso_solver_phase(solver, matches(s, key, now) ? row : iso_lit_not(row));
  uint32_t preferred = iso_menus_of(m, read, now);
  iso_menus_prefer(m, preferred != UINT32_MAX ? preferred : iso_menus_likely(m, read));
  s->rows[s->either++] = row;
  return ISOPROOF_OK;
}

isoproof_status iso_menus_state(iso_menus *m, uint32_t number, const uint32_t *now, isoproof_error *error) {
  const iso_open_count *count = &m->open->counts.items[number];
  stating s = {.m = m, .count = count, .missing = count->missing};
  if (m->stated[number]) return ISOPROOF_OK;
  m->stated[number] = 1;
  s.rows = iso_alloc(count->reads, sizeof *s.rows);
  isoproof_status status = s.rows != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t i = 0; i < count->reads && status == ISOPROOF_OK; i++) {
    status = state_row(&s, count->first + i, now[i], error);
  }
  iso_lit part = 0, *only_if = iso_is_optional(m->open->doubt, count->txn) ? &part : NULL;
  if (status == ISOPROOF_OK && only_if != NULL) status = iso_menus_part(m, count->txn, &part, error);
  if (status == ISOPROOF_OK) {
    status = iso_count_clauses(m->refiner->solver, s.rows, s.either, s.missing, only_if, error);
  }
  free(s.rows);
  return status;
}
