/* provoke_ranges.c - workloads in rounds on ranges of rows and on fresh tables: predicate write skew, phantoms, first
 * inserts. */
#include "workload/generator.h"

/* ---- first-insert ---- */

/* How a round reads its table. */
enum { BY_KEY, COUNT_KEY, ROWS_OF_KEY, COUNT_ALL, ALL_ROWS, WAYS };

/* In a table that lets two rows have one key, all insert the same; else each has a key of its own, and a range stands
 * for the key. */
static void read_table(iso_generator_session *session, uint32_t way) {
  bool keyless = session->generator->keyless;
  uint64_t last = keyless ? 1 : session->generator->options.sessions;
  iso_program *program = &session->program;
  switch (way) {
  case COUNT_ALL:
  case ALL_ROWS:
    iso_program_rows(program, way == COUNT_ALL ? ISO_STEP_COUNT : ISO_STEP_READ_RANGE, ISO_RANGE_ALL, 0, 0);
    return;
  case BY_KEY:
    if (keyless) {
      iso_program_row(program, ISO_STEP_READ, 1);
      return;
    }
    break;
  default:
    break;
  }
  iso_program_rows(program, way == COUNT_KEY ? ISO_STEP_COUNT : ISO_STEP_READ_RANGE, ISO_RANGE_KEYS, 1, last);
}

isoproof_status iso_next_first_insert(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_random round = iso_round_random(session);
  uint32_t sessions = session->generator->options.sessions, role = iso_round_role(session, &round);
  /* Mostly two, as every further one makes it likelier that somebody is turned down. */
  uint32_t several = sessions > 2 && iso_random_below(&round, 4) == 0 ? 2 + iso_random_below(&round, sessions - 1) : 2;
  if (role >= several) return ISOPROOF_OK;
  session->program.in_round = true;
  read_table(session, iso_random_below(&round, WAYS));
  iso_program_row(&session->program, ISO_STEP_INSERT, session->generator->keyless ? 1 : (uint64_t)session->number + 1);
  return ISOPROOF_OK;
}

/* ---- range-skew ---- */

/* Two rounds have a stretch of keys for themselves, as many halves as there are keys, and a row for each session in
 * each.  A session reads one half and writes into another: a row of its own in the first round, in the second
 * somebody's of the first. */
isoproof_status iso_next_range_skew(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_random round = iso_round_random(session);
  uint32_t sessions = session->generator->options.sessions, halves = session->generator->options.keys;
  uint32_t role = iso_round_role(session, &round), way = iso_random_below(&round, 2);
  uint64_t stretch = (session->round - 1) / 2 * halves * sessions;
  uint64_t from = stretch + (uint64_t)(role % halves) * sessions,
           to = stretch + (uint64_t)((role + 1) % halves) * sessions;
  iso_program_rows(&session->program, way == 0 ? ISO_STEP_COUNT : ISO_STEP_READ_RANGE, ISO_RANGE_KEYS, from,
                   from + sessions - 1);
  if ((session->round - 1) % 2 == 0) {
    iso_program_row(&session->program, ISO_STEP_INSERT, to + session->number);
    return ISOPROOF_OK;
  }
  bool removes = iso_random_below(&session->random, 2) == 0;
  iso_program_row(&session->program, removes ? ISO_STEP_DELETE : ISO_STEP_UPDATE,
                  to + iso_random_below(&session->random, sessions));
  return ISOPROOF_OK;
}

/* ---- phantom ---- */

static void read_again(iso_generator_session *session, uint64_t first, uint64_t last) {
  uint32_t times = 2 + iso_random_below(&session->random, 2);
  for (uint32_t i = 0; i < times; i++) {
    iso_program_step_kind kind = iso_random_below(&session->random, 3) == 0 ? ISO_STEP_COUNT : ISO_STEP_READ_RANGE;
    iso_program_rows(&session->program, kind, ISO_RANGE_KEYS, first, last);
  }
}

/* Some rounds have a range for themselves, with a row for each session in each of these rounds. */
isoproof_status iso_next_phantom(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  iso_random round = iso_round_random(session);
  uint32_t sessions = session->generator->options.sessions, role = iso_round_role(session, &round);
  uint64_t rounds = session->generator->options.writes_per_key, turn = (session->round - 1) % rounds;
  uint64_t first = (session->round - 1) / rounds * rounds * sessions, last = first + rounds * sessions - 1;
  if (role < (sessions + 1) / 2) {
    read_again(session, first, last);
    return ISOPROOF_OK;
  }
  uint32_t shape = iso_random_below(&session->random, 4);
  if (shape > 0) iso_program_row(&session->program, ISO_STEP_INSERT, first + turn * sessions + session->number);
  if (shape < 2)
    iso_program_row(&session->program, ISO_STEP_DELETE,
                    first + iso_random_below64(&session->random, (turn + 1) * sessions));
  return ISOPROOF_OK;
}
