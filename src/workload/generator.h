/* generator.h - the next transaction of every session of a workload.
 *
 * A generator owns its sessions and their programs until iso_generator_free; a program is valid until the next call for
 * its session.  Different sessions may be used by different threads at once; what they share are counters of writes,
 * where keys rotate.
 */
#ifndef ISO_WORKLOAD_GENERATOR_H
#define ISO_WORKLOAD_GENERATOR_H

#include <isoproof/workload.h>
#include <stdatomic.h>

#include "workload/op_mix.h"
#include "workload/program.h"

enum {
  ISO_AMOUNT_BITS = ISOPROOF_BANK_BALANCE_BITS,   /* low bits of the values of a bank: the amount */
  ISO_FIRST_AMOUNT = ISOPROOF_BANK_FIRST_BALANCE, /* of an account that nobody wrote */
  ISO_MOST_ACCOUNTS = 10000,
  ISO_MOST_RUN_SESSIONS = 10000,
  ISO_MOST_INITIAL = 10000, /* rows that are there before the first transaction */
  ISO_MOST_JITTER_US = 1000000,
  ISO_FINAL_CHUNK = 100 /* keys that a final transaction reads */
};

typedef struct iso_generator iso_generator;

/* A session of a workload; the functions of workloads draw from it and write its program. */
typedef struct iso_generator_session {
  iso_generator *generator;
  uint32_t number;
  iso_random random;
  iso_op_mix *mix;     /* where the workload has operations in a mix */
  uint64_t next_value; /* how many values it has used */
  uint64_t txns;       /* how many it may have, UINT64_MAX no limit */
  uint64_t round;      /* of workloads in rounds: the next one, from 1 */
  iso_program program;
} iso_generator_session;

/* What makes a workload: writes the next program of a session. */
typedef isoproof_status (*iso_generator_next_fn)(iso_generator_session *session, isoproof_error *error);

struct iso_generator {
  isoproof_workload_options options;
  iso_key_source source;
  iso_generator_next_fn next;
  iso_generator_session *sessions; /* one more than asked for: the last one does the final reads */
  _Atomic uint64_t *writes;        /* where keys rotate, by position of the distribution: how many were given out */
  uint64_t final_keys;             /* known once the final reads have begun */
  uint32_t initial_rows;           /* rows with keys from 0 that are there before the first transaction */
  bool amounts;                    /* values hold amounts */
  bool keyless;                    /* set by whoever runs it: the tables allow two rows of one key */
  /* Set by whoever runs it together with others: writes of keys that rotate are dealt out among them. */
  uint32_t client, clients;
  uint64_t others_generations; /* of keys that rotate, up to where others came */
};

/* NULL for the options of the mixed workload.  ISOPROOF_ERR_USAGE names the option that makes no sense. */
isoproof_status iso_generator_new(const isoproof_workload_options *options, iso_generator **generator,
                                  isoproof_error *error);
void iso_generator_free(iso_generator *generator);

/* The next program of a session (below options.sessions); NULL when it has had its share.  Workloads in rounds: that of
 * the next round, or of the one that iso_generator_enter names; a program without steps sits the round out. */
isoproof_status iso_generator_next(iso_generator *generator, uint32_t session, const iso_program **program,
                                   isoproof_error *error);
/* How a session uses up the fresh values of a program that is about to run: the first of them. */
uint64_t iso_generator_take(iso_generator *generator, uint32_t session, const iso_program *program);
/* The value of a label of a program whose values were taken. */
int64_t iso_generator_value(const iso_generator *generator, uint32_t session, uint64_t taken, uint32_t label);

/* From which round on the session takes part. */
void iso_generator_enter(iso_generator *generator, uint32_t session, uint64_t round);
/* The value of row `number` below generator->initial_rows before the first transaction. */
int64_t iso_generator_initial_value(const iso_generator *generator, uint32_t number);
/* Which session wrote a value of a workload without amounts. */
uint32_t iso_generator_writer(const iso_generator *generator, int64_t value);

/* How often keys have rotated. */
uint64_t iso_generator_generations(const iso_generator *generator);

/* The final reads, once no session runs any more: programs of session number options.sessions; `at` starts as 0; NULL
 * when there are no more. */
isoproof_status iso_generator_final(iso_generator *generator, uint64_t *at, const iso_program **program,
                                    isoproof_error *error);

/* ---- for the functions of workloads ---- */

uint32_t iso_generator_draw(iso_generator_session *session);
/* Appends of list-append and rows of predicate: the key of the next write at a position, and that of reads now. */
uint64_t iso_generator_rotate(iso_generator *generator, uint32_t position);
uint64_t iso_generator_current(const iso_generator *generator, uint32_t position);

/* mix_programs.c */
isoproof_status iso_next_general(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_lists(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_mixed(iso_generator_session *session, isoproof_error *error);
/* stress.c */
isoproof_status iso_next_lost_update(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_write_skew(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_bank(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_predicate(iso_generator_session *session, isoproof_error *error);
/* rounds.c: what all sessions of a round draw alike. */
iso_random iso_round_random(const iso_generator_session *session);
/* 0 for one session of the round, 1 for the next, and so on: who does what. */
uint32_t iso_round_role(const iso_generator_session *session, iso_random *round);
/* Marks the program as one of a round, and draws its jitter. */
void iso_round_begin(iso_generator_session *session);
/* provoke_rows.c, provoke_ranges.c */
isoproof_status iso_next_first_insert(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_delete_update(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_upsert(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_counter_by_read(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_mini(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_range_skew(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_phantom(iso_generator_session *session, isoproof_error *error);
/* tpcc.c, rubis.c, twitter.c */
isoproof_status iso_next_tpcc(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_rubis(iso_generator_session *session, isoproof_error *error);
isoproof_status iso_next_twitter(iso_generator_session *session, isoproof_error *error);

#endif
