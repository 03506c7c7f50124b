/* coo_options.c - which options of `isoproof coo` mean something together: nothing is ignored in silence. */
#include "cli/commands/coo.h"

enum { ANY = COO_EXPLAIN | COO_LIST | COO_RUN | COO_SAVED | COO_WALK | COO_WALK_RUN, WALKS = COO_WALK | COO_WALK_RUN };

/* In which modes an option means something. */
static const int modes[COO_OPTIONS] = {[COO_SCHEDULE] = COO_EXPLAIN | COO_RUN,
                                       [COO_SCHEDULES] = COO_EXPLAIN | COO_RUN,
                                       [COO_GENERATE] = COO_LIST | COO_RUN,
                                       [COO_SYSTEMATIC] = WALKS,
                                       [COO_OPERATIONS] = WALKS,
                                       [COO_ROWS] = WALKS,
                                       [COO_PREDICATES] = WALKS,
                                       [COO_FIRST] = WALKS,
                                       [COO_LAYOUT] = WALKS,
                                       [COO_JOBS] = COO_WALK_RUN,
                                       [COO_STRICT] = COO_WALK_RUN,
                                       [COO_RECORD] = COO_WALK_RUN,
                                       [COO_TRANSACTIONS] = COO_LIST | COO_RUN | WALKS,
                                       [COO_OBJECTS] = COO_LIST | COO_RUN,
                                       [COO_LIMIT] = COO_LIST | COO_RUN | WALKS,
                                       [COO_SEED] = COO_LIST | COO_RUN | WALKS,
                                       [COO_SQL] = COO_LIST | COO_WALK,
                                       [COO_COUNT] = COO_LIST | COO_WALK,
                                       [COO_DB] = COO_RUN | COO_WALK_RUN,
                                       [COO_DATABASE + DATABASE_PASSWORD] = COO_RUN | COO_WALK_RUN,
                                       [COO_DATABASE + DATABASE_PASSWORD_FILE] = COO_RUN | COO_WALK_RUN,
                                       [COO_CLUSTER] = COO_RUN | COO_WALK_RUN,
                                       [COO_SERVER] = COO_RUN | COO_WALK_RUN,
                                       [COO_LEVEL] = COO_RUN | COO_WALK_RUN,
                                       [COO_EXPECT] = COO_RUN | COO_WALK_RUN,
                                       [COO_CASE] = COO_RUN,
                                       [COO_SUITE] = COO_RUN,
                                       [COO_PREDICATE] = COO_RUN,
                                       [COO_DISTRIBUTED] = COO_RUN,
                                       [COO_RACE] = COO_RUN,
                                       [COO_REPEAT] = COO_RUN,
                                       [COO_SETTLE] = COO_RUN | COO_WALK_RUN,
                                       [COO_TIMEOUT] = COO_RUN | COO_WALK_RUN,
                                       [COO_FROM] = COO_SAVED,
                                       [COO_AGAINST] = COO_RUN | COO_SAVED,
                                       [COO_AGAINST_SERVER] = COO_RUN | COO_SAVED,
                                       [COO_COMPARE] = COO_RUN | COO_SAVED,
                                       [COO_AS] = COO_RUN | COO_SAVED | COO_WALK_RUN,
                                       [COO_JSON] = ANY};

/* Two options that cannot both be meant. */
static const struct {
  int first, second;
} rivals[] = {{COO_DB, COO_CLUSTER},          {COO_SCHEDULE, COO_GENERATE},   {COO_SCHEDULE, COO_TRANSACTIONS},
              {COO_SCHEDULE, COO_OBJECTS},    {COO_SCHEDULE, COO_CASE},       {COO_SCHEDULE, COO_SUITE},
              {COO_SCHEDULE, COO_PREDICATE},  {COO_SCHEDULE, COO_COMPARE},    {COO_SCHEDULES, COO_GENERATE},
              {COO_SCHEDULES, COO_OBJECTS},   {COO_SCHEDULES, COO_CASE},      {COO_SCHEDULES, COO_TRANSACTIONS},
              {COO_SCHEDULES, COO_SUITE},     {COO_SCHEDULES, COO_PREDICATE}, {COO_SCHEDULES, COO_COMPARE},
              {COO_GENERATE, COO_CASE},       {COO_TRANSACTIONS, COO_CASE},   {COO_OBJECTS, COO_CASE},
              {COO_GENERATE, COO_SUITE},      {COO_TRANSACTIONS, COO_SUITE},  {COO_OBJECTS, COO_SUITE},
              {COO_SYSTEMATIC, COO_GENERATE}, {COO_SYSTEMATIC, COO_SCHEDULE}, {COO_SYSTEMATIC, COO_SCHEDULES},
              {COO_SYSTEMATIC, COO_FROM},     {COO_FIRST, COO_SEED},          {COO_COUNT, COO_SQL},
              {COO_COUNT, COO_LIMIT},         {COO_COUNT, COO_SEED},          {COO_JSON, COO_AS},
              {COO_AGAINST, COO_COMPARE}};

/* An option that only completes another one. */
static bool needs(const options *parsed, int number, bool there, const char *what) {
  if (!coo_is_given(parsed, (size_t)number) || there) return true;
  message("coo: --%s goes with %s", parsed->table[number].name, what);
  return false;
}

bool coo_is_given(const options *parsed, size_t number) {
  const option_value *value = &parsed->values[number];
  return parsed->table[number].type == OPTION_FLAG ? value->on : value->given;
}

bool coo_is_generated(const options *parsed) {
  return coo_is_given(parsed, COO_GENERATE) || coo_is_given(parsed, COO_SYSTEMATIC) ||
         coo_is_given(parsed, COO_TRANSACTIONS) || coo_is_given(parsed, COO_OBJECTS);
}

void coo_limits(const options *parsed, size_t *txns, size_t *objects) {
  const option_value *v = parsed->values;
  *txns = v[COO_TRANSACTIONS].given ? v[COO_TRANSACTIONS].integer : 3;
  *objects = v[COO_OBJECTS].given ? v[COO_OBJECTS].integer : 3;
}

static const char *name_of_mode(coo_mode mode) {
  return mode == COO_EXPLAIN ? "a schedule without --db or --cluster"
         : mode == COO_LIST  ? "a list of cases without --db or --cluster"
         : mode == COO_RUN   ? "--db or --cluster"
         : mode == COO_WALK  ? "--systematic without --db or --cluster"
         : mode == COO_SAVED ? "--from"
                             : "--systematic";
}

bool coo_options_agree(const options *parsed, coo_mode mode) {
  const option_value *v = parsed->values;
  for (size_t i = 0; i < COUNT_OF(rivals); i++) {
    if (!coo_is_given(parsed, (size_t)rivals[i].first) || !coo_is_given(parsed, (size_t)rivals[i].second)) continue;
    message("coo: --%s and --%s exclude each other", parsed->table[rivals[i].first].name,
            parsed->table[rivals[i].second].name);
    return false;
  }
  for (size_t i = 0; i < COO_OPTIONS; i++) {
    if (!coo_is_given(parsed, i) || (modes[i] & (int)mode) != 0) continue;
    message("coo: --%s means nothing with %s", parsed->table[i].name, name_of_mode(mode));
    return false;
  }
  bool hermitage = v[COO_SUITE].given && v[COO_SUITE].choice == ISOPROOF_SUITE_HERMITAGE;
  if (!needs(parsed, COO_LIMIT, coo_is_generated(parsed), "--generate, --systematic, --transactions or --objects") ||
      !needs(parsed, COO_SEED, coo_is_generated(parsed), "--generate, --systematic, --transactions or --objects") ||
      !needs(parsed, COO_PREDICATE, !hermitage, "the cases, not with hermitage, which has its own predicates") ||
      !needs(parsed, COO_COMPARE, !hermitage, "the cases: nothing is published of hermitage's tests"))
    return false;
  bool walks = (mode & WALKS) != 0;
  if (!needs(parsed, COO_SEED, !walks || v[COO_LIMIT].given, "--limit, which says how many are drawn")) return false;
  bool steps = parsed->common[COMMON_VERBOSE].on && (mode == COO_RUN || mode == COO_SAVED || mode == COO_WALK_RUN);
  if (!steps || (!v[COO_JSON].on && (!v[COO_AS].given || v[COO_AS].choice == 0))) return true;
  message("coo: --verbose and --%s exclude each other: it has every step already", v[COO_JSON].on ? "json" : "as");
  return false;
}
