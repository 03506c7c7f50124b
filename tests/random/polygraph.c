/* Random polygraphs: a hidden serial order, the known dependencies, and a choice for every two writers of a key that
 * are close. */
#include "tests/random/polygraph.h"

#include <string.h>

#include "solver/solver_internal.h"

static uint64_t draw(uint64_t *state, uint64_t bound) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (*state * UINT64_C(2685821657736338717) >> 16) % bound;
}

/* One version of a key: who wrote it and who read it. */
typedef struct {
  uint32_t at, writer; /* place in the hidden order, and number */
  ISO_VEC(uint32_t) readers;
} version;

typedef struct {
  ISO_VEC(version) versions;
} history_of_key;

/* Numbers the transactions session by session, and makes the sessions chains. */
static bool number_txns(const polygraph_spec *spec, uint64_t *random, polygraph *p) {
  uint32_t *session = iso_alloc(spec->txns, sizeof *session), number = 0;
  p->hidden = iso_alloc(spec->txns, sizeof *p->hidden);
  bool fine = session != NULL && p->hidden != NULL;
  for (uint32_t i = 0; fine && i < spec->txns; i++) session[i] = (uint32_t)draw(random, spec->sessions);
  for (uint32_t s = 0; fine && s < spec->sessions; s++) {
    bool first = true;
    for (uint32_t i = 0; fine && i < spec->txns; i++) {
      if (session[i] != s) continue;
      if (!first) fine = iso_vec_push(&p->fixed, ((polygraph_edge){number - 1, number}));
      p->hidden[i] = number++;
      first = false;
    }
  }
  free(session);
  return fine;
}

static bool run_txn(const polygraph_spec *spec, uint64_t *random, polygraph *p, history_of_key *keys, uint32_t at) {
  uint32_t txn = p->hidden[at];
  for (uint32_t op = 0; op < spec->ops; op++) {
    history_of_key *key = &keys[draw(random, spec->keys)];
    version *last = key->versions.count > 0 ? &key->versions.items[key->versions.count - 1] : NULL;
    if (last != NULL && last->writer == txn) continue;
    if (draw(random, 2) == 0) {
      if (!iso_vec_push(&key->versions, ((version){.at = at, .writer = txn}))) return false;
    } else if (last != NULL) {
      if (key->versions.count > 1 && draw(random, 1000) < spec->stale) last--;
      if (last->writer == txn) continue;
      if (!iso_vec_push(&last->readers, txn)) return false;
      if (!iso_vec_push(&p->fixed, ((polygraph_edge){last->writer, txn}))) return false;
    }
  }
  return true;
}

static bool add_choice(polygraph *p, polygraph_edge either, polygraph_edge other) {
  return iso_vec_push(&p->choices, ((polygraph_choice){either, other}));
}

/* The readers of a version come before another writer, or that writer before the version. */
static bool add_readers(polygraph *p, const version *v, uint32_t other) {
  for (size_t i = 0; i < v->readers.count; i++) {
    uint32_t reader = v->readers.items[i];
    if (reader == other) continue;
    if (!add_choice(p, (polygraph_edge){other, v->writer}, (polygraph_edge){reader, other})) return false;
  }
  return true;
}

static bool add_known(polygraph *p, const version *early, const version *late) {
  if (!iso_vec_push(&p->fixed, ((polygraph_edge){early->writer, late->writer}))) return false;
  for (size_t i = 0; i < early->readers.count; i++) {
    if (early->readers.items[i] == late->writer) continue;
    if (!iso_vec_push(&p->fixed, ((polygraph_edge){early->readers.items[i], late->writer}))) return false;
  }
  return true;
}

static bool add_pairs(const polygraph_spec *spec, polygraph *p, const history_of_key *key) {
  for (size_t i = 0; i < key->versions.count; i++) {
    const version *early = &key->versions.items[i];
    for (size_t k = i + 1; k < key->versions.count; k++) {
      const version *late = &key->versions.items[k];
      if (late->at - early->at > spec->window) {
        if (!add_known(p, early, late)) return false;
        break;
      }
      if (late->writer == early->writer) continue;
      polygraph_edge order = {early->writer, late->writer}, reverse = {late->writer, early->writer};
      if (!add_choice(p, order, reverse)) return false;
      if (!add_readers(p, early, late->writer) || !add_readers(p, late, early->writer)) return false;
    }
  }
  return true;
}

/* Two transactions that both read one version of a key of its own and both write the key. */
static bool lose_update(const polygraph_spec *spec, uint64_t *random, polygraph *p) {
  uint32_t at = (uint32_t)draw(random, spec->txns - 2);
  uint32_t writer = p->hidden[at], a = p->hidden[at + 1], b = p->hidden[at + 2];
  polygraph_edge wa = {writer, a}, wb = {writer, b}, aw = {a, writer}, bw = {b, writer}, ab = {a, b}, ba = {b, a};
  return iso_vec_push(&p->fixed, wa) && iso_vec_push(&p->fixed, wb) && add_choice(p, ab, ba) && add_choice(p, aw, ba) &&
         add_choice(p, bw, ab);
}

bool polygraph_make(const polygraph_spec *spec, polygraph *p) {
  uint64_t random = spec->seed * 2 + 1;
  memset(p, 0, sizeof *p);
  p->txns = spec->txns;
  history_of_key *keys = iso_alloc_zero(spec->keys, sizeof *keys);
  bool fine = keys != NULL && number_txns(spec, &random, p);
  for (uint32_t at = 0; fine && at < spec->txns; at++) fine = run_txn(spec, &random, p, keys, at);
  for (uint32_t key = 0; keys != NULL && key < spec->keys; key++) {
    if (fine) fine = add_pairs(spec, p, &keys[key]);
    for (size_t i = 0; i < keys[key].versions.count; i++) iso_vec_free(&keys[key].versions.items[i].readers);
    iso_vec_free(&keys[key].versions);
  }
  for (uint32_t i = 0; fine && i < spec->contradictions; i++) fine = lose_update(spec, &random, p);
  free(keys);
  if (!fine) polygraph_free(p);
  return fine;
}

void polygraph_free(polygraph *p) {
  iso_vec_free(&p->fixed);
  iso_vec_free(&p->choices);
  free(p->hidden);
  p->hidden = NULL;
}

static isoproof_status give(const polygraph *p, bool hint, iso_solver *solver, isoproof_error *error) {
  if (hint) ISO_TRY(iso_solver_hint(solver, p->hidden, p->txns, error));
  for (size_t i = 0; i < p->fixed.count; i++) {
    ISO_TRY(iso_solver_fixed_edge(solver, p->fixed.items[i].from, p->fixed.items[i].to, error));
  }
  for (size_t i = 0; i < p->choices.count; i++) {
    iso_lit clause[2];
    const polygraph_choice *c = &p->choices.items[i];
    ISO_TRY(iso_solver_edge(solver, c->either.from, c->either.to, &clause[0], error));
    ISO_TRY(iso_solver_edge(solver, c->other.from, c->other.to, &clause[1], error));
    ISO_TRY(iso_solver_clause(solver, clause, 2, error));
  }
  return ISOPROOF_OK;
}

isoproof_status polygraph_solver(const polygraph *p, bool hint, iso_solver **solver, isoproof_error *error) {
  ISO_TRY(iso_solver_new(p->txns, solver, error));
  isoproof_status status = give(p, hint, *solver, error);
  if (status != ISOPROOF_OK) iso_solver_free(*solver);
  return status;
}

static bool respects(const iso_solver *solver, polygraph_edge edge) {
  return iso_solver_before(solver, edge.from, edge.to);
}

bool polygraph_solved(const polygraph *p, iso_solver *solver) {
  for (size_t i = 0; i < p->fixed.count; i++) {
    if (!respects(solver, p->fixed.items[i])) return false;
  }
  for (size_t i = 0; i < p->choices.count; i++) {
    const polygraph_choice *c = &p->choices.items[i];
    if (!respects(solver, c->either) && !respects(solver, c->other)) return false;
  }
  return true;
}
