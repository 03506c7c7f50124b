/* share.c - a run that several clients share: which sessions are whose, and where clients wait for each other. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/abi.h"
#include "run/join.h"
#include "run/run.h"

/* ---- the share ---- */

static isoproof_status check(const isoproof_run_handle *run, isoproof_error *error) {
  const isoproof_run_share *share = &run->share;
  if (share->count == 0 || share->number >= share->count)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "share: expected a number below %u, found %u", share->count,
                    share->number);
  if (share->count == 1) return ISOPROOF_OK;
  if (share->run == 0 || share->meet == NULL)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "share: expected a number of the run and a way to meet, found none");
  if (run->workload->sessions < share->count)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "sessions: expected one for each of the %u machines at least, found %u",
                    share->count, run->workload->sessions);
  if (run->options->script_count > 0)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "scripts cannot be run by several machines at once");
  if (isoproof_workload_meets(run->workload->kind))
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "the workload %s has all sessions meet again and again, which those of several machines cannot",
                    isoproof_workload_at(run->workload->kind));
  return ISOPROOF_OK;
}

isoproof_status iso_share_take(isoproof_run_handle *run, isoproof_error *error) {
  run->share = (isoproof_run_share){.struct_size = sizeof run->share, .count = 1};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_run_share, &run->share, run->options->share, error));
  ISO_TRY(check(run, error));
  bool shared = run->share.count > 1;
  /* No daemon sets that clock: two of them run apart by no more than their oscillators do. */
  run->clock = shared ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
  run->generator->client = run->share.number;
  run->generator->clients = run->share.count;
  atomic_store(&run->next_name, (int64_t)run->workload->sessions + run->share.number);
  return ISOPROOF_OK;
}

uint32_t iso_share_sessions(const isoproof_run_handle *run) {
  return (run->workload->sessions - run->share.number - 1) / run->share.count + 1;
}

/* The one behind the last is that of the final reads, the same for all. */
uint32_t iso_share_session(const isoproof_run_handle *run, uint32_t own) {
  return own < run->session_count ? run->share.number + own * run->share.count : run->workload->sessions;
}

int64_t iso_share_next_name(isoproof_run_handle *run) { return atomic_fetch_add(&run->next_name, run->share.count); }

/* ---- together ---- */

isoproof_status iso_share_meet(isoproof_run_handle *run, isoproof_run_point point, uint64_t *most,
                               isoproof_error *error) {
  uint64_t nothing = 0;
  if (run->share.count == 1) return ISOPROOF_OK;
  return run->share.meet(point, most != NULL ? most : &nothing, run->share.user, error);
}

isoproof_status iso_share_tables(isoproof_run_handle *run, isoproof_error *error) {
  if (run->share.count == 1) return iso_database_setup(run->database, error);
  if (!iso_database_capabilities(run->database).joins)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "the driver %s has a database that only one process can use, or tables that are not isoproof's: "
                    "several machines cannot share it",
                    iso_driver_name(iso_database_driver(run->database)));
  if (iso_share_is_first(run)) {
    ISO_TRY(iso_database_setup(run->database, error));
    return iso_share_meet(run, ISOPROOF_POINT_TABLES, NULL, error);
  }
  ISO_TRY(iso_share_meet(run, ISOPROOF_POINT_TABLES, NULL, error));
  return iso_database_join(run->database, error);
}

void iso_share_start_clock(isoproof_run_handle *run) {
  char base[32], number[16], count[16];
  clock_gettime(run->clock, &run->base);
  if (run->share.count == 1) return;
  snprintf(base, sizeof base, "%" PRId64, (int64_t)run->base.tv_sec * 1000000000 + run->base.tv_nsec);
  snprintf(number, sizeof number, "%u", run->share.number);
  snprintf(count, sizeof count, "%u", run->share.count);
  iso_jsonl_fact facts[] = {{ISO_JOIN_BASE, base, strlen(ISO_JOIN_BASE), strlen(base)},
                            {ISO_JOIN_NUMBER, number, strlen(ISO_JOIN_NUMBER), strlen(number)},
                            {ISO_JOIN_COUNT, count, strlen(ISO_JOIN_COUNT), strlen(count)}};
  iso_session_log_header(&run->log, facts, sizeof facts / sizeof *facts);
}
