/* generator.c - sessions of a workload, their values, and keys that rotate. */
#include "workload/generator.h"

#include <string.h>

#include "base/abi.h"

static const iso_generator_next_fn functions[ISOPROOF_WORKLOADS] = {
    [ISOPROOF_WORKLOAD_MIXED] = iso_next_mixed,
    [ISOPROOF_WORKLOAD_GENERAL] = iso_next_general,
    [ISOPROOF_WORKLOAD_LIST_APPEND] = iso_next_lists,
    [ISOPROOF_WORKLOAD_RMW] = iso_next_general,
    [ISOPROOF_WORKLOAD_LOST_UPDATE] = iso_next_lost_update,
    [ISOPROOF_WORKLOAD_WRITE_SKEW] = iso_next_write_skew,
    [ISOPROOF_WORKLOAD_BANK] = iso_next_bank,
    [ISOPROOF_WORKLOAD_TPCC] = iso_next_tpcc,
    [ISOPROOF_WORKLOAD_RUBIS] = iso_next_rubis,
    [ISOPROOF_WORKLOAD_TWITTER] = iso_next_twitter,
    [ISOPROOF_WORKLOAD_PREDICATE] = iso_next_predicate,
    [ISOPROOF_WORKLOAD_FIRST_INSERT] = iso_next_first_insert,
    [ISOPROOF_WORKLOAD_DELETE_UPDATE] = iso_next_delete_update,
    [ISOPROOF_WORKLOAD_UPSERT] = iso_next_upsert,
    [ISOPROOF_WORKLOAD_RANGE_SKEW] = iso_next_range_skew,
    [ISOPROOF_WORKLOAD_PHANTOM] = iso_next_phantom,
    [ISOPROOF_WORKLOAD_COUNTER_BY_READ] = iso_next_counter_by_read,
    [ISOPROOF_WORKLOAD_MINI] = iso_next_mini,
};

/* ---- making ---- */

/* What the list of workloads says without words. */
static const struct {
  bool is_mix;  /* its transactions are operations in a mix: there is a least number of them */
  bool rotates; /* keys rotate: there is a number of writes per key */
  bool meets;   /* it runs in rounds */
} shapes[ISOPROOF_WORKLOADS] = {
#define ISOPROOF_X(name, id, needs, keys, least, most, reads, rmw, writes, meet, text)                                 \
  {(least) > 0, (writes) > 0, (meet) > 0},
    ISOPROOF_WORKLOAD_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

static bool starts_with_rows(isoproof_workload_kind kind) {
  return kind == ISOPROOF_WORKLOAD_DELETE_UPDATE || kind == ISOPROOF_WORKLOAD_COUNTER_BY_READ;
}

static isoproof_status check_options(const isoproof_workload_options *options, isoproof_error *error) {
  if ((unsigned)options->kind >= ISOPROOF_WORKLOADS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "kind: %u is no workload", (unsigned)options->kind);
  if (options->sessions == 0 || options->sessions > ISO_MOST_RUN_SESSIONS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "sessions: expected 1 to %d, found %u", ISO_MOST_RUN_SESSIONS,
                    options->sessions);
  if (options->kind == ISOPROOF_WORKLOAD_BANK && (options->keys < 2 || options->keys > ISO_MOST_ACCOUNTS))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "keys: expected 2 to %d accounts of a bank, found %u", ISO_MOST_ACCOUNTS,
                    options->keys);
  if (!(options->abort_share >= 0 && options->abort_share <= 1))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "abort_share: expected a number from 0 to 1, found %g",
                    options->abort_share);
  if (shapes[options->kind].rotates && (options->writes_per_key == 0 || options->writes_per_key > 1000000))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "writes_per_key: expected 1 to 1000000, found %u",
                    options->writes_per_key);
  if (starts_with_rows(options->kind) && options->keys > ISO_MOST_INITIAL)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "keys: expected 1 to %d rows of %s, found %u", ISO_MOST_INITIAL,
                    isoproof_workload_at(options->kind), options->keys);
  if (!(options->jitter <= ISO_MOST_JITTER_US))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "jitter: expected at most %d microseconds, found %g", ISO_MOST_JITTER_US,
                    options->jitter);
  return ISOPROOF_OK;
}

static isoproof_status make_session(iso_generator *generator, uint32_t number, isoproof_error *error) {
  const isoproof_workload_options *options = &generator->options;
  iso_generator_session *session = &generator->sessions[number];
  session->generator = generator;
  session->number = number;
  session->txns = UINT64_MAX;
  session->round = 1;
  if (options->txns > 0)
    session->txns = options->txns / options->sessions + (number < options->txns % options->sessions);
  iso_random_seed(&session->random, options->seed, UINT64_C(1000) + number);
  if (!shapes[options->kind].is_mix) return ISOPROOF_OK;
  iso_op_mix_options mix = {.seed = iso_random_next(&session->random),
                            .ops_min = options->ops_min,
                            .ops_max = options->ops_max,
                            .read_share = options->read_share,
                            .rmw_share = options->rmw_share,
                            .long_share = options->long_share,
                            .long_ops = options->long_ops,
                            .source = generator->source};
  return iso_op_mix_new(&mix, &session->mix, error);
}

static isoproof_status make(iso_generator *generator, isoproof_error *error) {
  const isoproof_workload_options *options = &generator->options;
  ISO_TRY(iso_keys_init(&generator->source, options->distribution, options->keys, options->skew, options->hot_share,
                        options->hot_keys_share, error));
  generator->sessions = iso_alloc_zero((size_t)options->sessions + 1, sizeof *generator->sessions);
  if (generator->sessions == NULL) return iso_fail_memory(error);
  if (shapes[options->kind].rotates) {
    generator->writes = iso_alloc_zero(options->keys, sizeof *generator->writes);
    if (generator->writes == NULL) return iso_fail_memory(error);
  }
  for (uint32_t i = 0; i <= options->sessions; i++) ISO_TRY(make_session(generator, i, error));
  if (starts_with_rows(options->kind)) {
    /* Their values are the first ones of the first session. */
    generator->initial_rows = options->keys;
    generator->sessions[0].next_value = options->keys;
  }
  return ISOPROOF_OK;
}

/* The kind decides the defaults of the others, so that it is read first. */
static isoproof_status read_options(const isoproof_workload_options *given, isoproof_workload_options *options,
                                    isoproof_error *error) {
  *options = (isoproof_workload_options){.kind = ISOPROOF_WORKLOAD_MIXED};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_workload_options, options, given, error));
  isoproof_workload_defaults(options->kind, options);
  ISO_TRY(ISO_OPTIONS_READ(isoproof_workload_options, options, given, error));
  return check_options(options, error);
}

isoproof_status iso_generator_new(const isoproof_workload_options *given, iso_generator **generator,
                                  isoproof_error *error) {
  *generator = NULL;
  isoproof_workload_options options;
  ISO_TRY(read_options(given, &options, error));
  iso_generator *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->options = options;
  made->next = functions[options.kind];
  made->clients = 1;
  made->amounts = options.kind == ISOPROOF_WORKLOAD_BANK;
  isoproof_status status = make(made, error);
  if (status != ISOPROOF_OK) {
    iso_generator_free(made);
    return status;
  }
  *generator = made;
  return ISOPROOF_OK;
}

void iso_generator_free(iso_generator *generator) {
  if (generator == NULL) return;
  for (uint32_t i = 0; generator->sessions != NULL && i <= generator->options.sessions; i++) {
    iso_op_mix_free(generator->sessions[i].mix);
    iso_program_free(&generator->sessions[i].program);
  }
  free(generator->sessions);
  free((void *)generator->writes);
  free(generator);
}

/* ---- programs and values ---- */

isoproof_status iso_generator_next(iso_generator *generator, uint32_t number, const iso_program **program,
                                   isoproof_error *error) {
  iso_generator_session *session = &generator->sessions[number];
  *program = NULL;
  if (session->txns == 0) return ISOPROOF_OK;
  iso_program_clear(&session->program);
  if (shapes[generator->options.kind].meets) iso_round_begin(session);
  ISO_TRY(generator->next(session, error));
  session->round++;
  if (session->txns != UINT64_MAX && session->program.steps.count > 0) session->txns--;
  if (generator->options.abort_share > 0)
    session->program.rollback = iso_random_chance(&session->random, generator->options.abort_share);
  if (session->program.out_of_memory) return iso_fail_memory(error);
  *program = &session->program;
  return ISOPROOF_OK;
}

uint64_t iso_generator_take(iso_generator *generator, uint32_t number, const iso_program *program) {
  iso_generator_session *session = &generator->sessions[number];
  uint64_t first = session->next_value;
  session->next_value += program->labels;
  return first;
}

/* Every session has its own residue of the integers: no two ever give out the same value. */
int64_t iso_generator_value(const iso_generator *generator, uint32_t session, uint64_t taken, uint32_t label) {
  uint64_t stripes = generator->options.sessions;
  return (int64_t)((taken + label) * stripes + session + 1);
}

void iso_generator_enter(iso_generator *generator, uint32_t session, uint64_t round) {
  generator->sessions[session].round = round;
}

int64_t iso_generator_initial_value(const iso_generator *generator, uint32_t number) {
  return iso_generator_value(generator, 0, number, 0);
}

uint32_t iso_generator_writer(const iso_generator *generator, int64_t value) {
  return (uint32_t)((uint64_t)(value - 1) % generator->options.sessions);
}

/* ---- keys ---- */

uint32_t iso_generator_draw(iso_generator_session *session) {
  return iso_keys_draw(&session->generator->source, &session->random);
}

/* Lists: positions are columns, generations rows of a table of keys.  Predicate: a generation is a range of keys. */
static uint64_t key_of(const iso_generator *generator, uint32_t position, uint64_t own_write) {
  uint64_t each = generator->options.writes_per_key, keys = generator->options.keys;
  uint64_t write = own_write * generator->clients + generator->client;
  uint64_t range = write / each * keys + position;
  return generator->options.kind == ISOPROOF_WORKLOAD_PREDICATE ? range * each + write % each : range;
}

uint64_t iso_generator_rotate(iso_generator *generator, uint32_t position) {
  return key_of(generator, position, atomic_fetch_add_explicit(&generator->writes[position], 1, memory_order_relaxed));
}

uint64_t iso_generator_current(const iso_generator *generator, uint32_t position) {
  return key_of(generator, position, atomic_load_explicit(&generator->writes[position], memory_order_relaxed));
}

/* ---- the end ---- */

/* Adds the read of the `at`-th key (lists: any that was in use; predicate: range); false when there are no more. */
static bool add_final(iso_generator *generator, iso_program *program, uint64_t at) {
  const isoproof_workload_options *options = &generator->options;
  if (at >= generator->final_keys) return false;
  uint64_t each = options->writes_per_key;
  if (options->kind == ISOPROOF_WORKLOAD_LIST_APPEND)
    iso_program_row(program, ISO_STEP_READ_LIST, at);
  else if (shapes[options->kind].rotates)
    iso_program_rows(program, ISO_STEP_READ_RANGE, ISO_RANGE_KEYS, at * each, (at + 1) * each - 1);
  else
    iso_program_read(program, ISO_FIELD_NONE, at);
  return true;
}

uint64_t iso_generator_generations(const iso_generator *generator) {
  const isoproof_workload_options *options = &generator->options;
  uint64_t last = generator->others_generations;
  for (uint32_t i = 0; shapes[options->kind].rotates && i < options->keys; i++) {
    uint64_t writes = atomic_load_explicit(&generator->writes[i], memory_order_relaxed) * generator->clients;
    if (writes / options->writes_per_key > last) last = writes / options->writes_per_key;
  }
  return last;
}

/* How many lists, or ranges of rows, have been in use. */
static uint64_t count_keys(const iso_generator *generator) {
  return (iso_generator_generations(generator) + 1) * generator->options.keys;
}

/* Whether its keys are numbers below that of its keys, or rotate by writes: what can be read in the end. */
static bool has_numbered_keys(isoproof_workload_kind kind) {
  switch (kind) {
  case ISOPROOF_WORKLOAD_TPCC:
  case ISOPROOF_WORKLOAD_RUBIS:
  case ISOPROOF_WORKLOAD_TWITTER:
  case ISOPROOF_WORKLOAD_FIRST_INSERT: /* rows that move on with the rounds */
  case ISOPROOF_WORKLOAD_RANGE_SKEW:
  case ISOPROOF_WORKLOAD_PHANTOM:
    return false;
  default:
    return true;
  }
}

isoproof_status iso_generator_final(iso_generator *generator, uint64_t *at, const iso_program **program,
                                    isoproof_error *error) {
  *program = NULL;
  if (!generator->options.final_reads || !has_numbered_keys(generator->options.kind)) return ISOPROOF_OK;
  iso_program *made = &generator->sessions[generator->options.sessions].program;
  iso_program_clear(made);
  if (*at == 0) generator->final_keys = count_keys(generator);
  for (uint32_t i = 0; i < ISO_FINAL_CHUNK && add_final(generator, made, *at); i++) (*at)++;
  if (made->out_of_memory) return iso_fail_memory(error);
  if (made->steps.count > 0) *program = made;
  return ISOPROOF_OK;
}
