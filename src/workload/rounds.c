/* rounds.c - what the sessions of a round have in common: one stream of draws, roles, and moments to wait. */
#include "workload/generator.h"

/* Streams of sessions begin at 1000; those of rounds, and of the scales of their jitter, are far from them. */
static const uint64_t round_streams = UINT64_C(1) << 40, scale_streams = UINT64_C(1) << 41;

/* Scales of the jitter in microseconds, and out of ten rounds how many take each: a race is won by statements that
 * arrive together (0, 10), as far apart as they take (150), or as far apart as a commit takes (2000). */
static const struct { uint32_t most_us, weight; } scales[] = {{0, 2}, {10, 3}, {150, 4}, {2000, 1}};

iso_random iso_round_random(const iso_generator_session *session) {
  iso_random random;
  iso_random_seed(&random, session->generator->options.seed, round_streams + session->round);
  return random;
}

uint32_t iso_round_role(const iso_generator_session *session, iso_random *round) {
  uint32_t sessions = session->generator->options.sessions;
  return (session->number + iso_random_below(round, sessions)) % sessions;
}

static double draw_scale(iso_random *round) {
  uint32_t turn = iso_random_below(round, 10), i = 0;
  while (turn >= scales[i].weight) turn -= scales[i++].weight;
  return scales[i].most_us;
}

void iso_round_begin(iso_generator_session *session) {
  double most_us = session->generator->options.jitter;
  iso_random round;
  iso_random_seed(&round, session->generator->options.seed, scale_streams + session->round);
  double scale = draw_scale(&round);
  if (most_us < 0) most_us = scale;
  session->program.meets = true;
  session->program.batched = iso_random_below(&round, 2) == 0;
  session->program.round = session->round;
  session->program.jitter_ns = (uint64_t)(most_us * 1000 * iso_random_double(&session->random));
}
