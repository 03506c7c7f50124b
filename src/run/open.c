/* open.c - the database of a run: tables and statements as the options and the workload want them. */
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/* Of the run in its values.  2^41 of them are left, or with amounts beside them 2^30. */
enum { TAG_BITS = 22, AMOUNT_TAG_BITS = 63 - 30 - ISO_AMOUNT_BITS };

const char *isoproof_layout_at(size_t number) { return iso_layout_name((iso_layout)number); }
const char *isoproof_access_at(size_t number) { return iso_access_name((iso_access)number); }
const char *isoproof_round_trips_at(size_t number) {
  static const char *const names[ISO_TRIPS] = {
#define ISO_X(name, id, text) id,
      ISO_ROUND_TRIPS_LIST(ISO_X)
#undef ISO_X
  };
  return number < ISO_TRIPS ? names[number] : NULL;
}
const char *isoproof_statements_at(size_t number) { return iso_sending_name((iso_sending)number); }

/* Whether it writes keys without asking whether they are there. */
static bool writes_blindly(isoproof_workload_kind kind) {
  return isoproof_workload_needs(kind) != ISOPROOF_NEED_ROWS || kind == ISOPROOF_WORKLOAD_UPSERT;
}

/* What the layout and the tables keep the workload from. */
static isoproof_status check_tables(const isoproof_run_handle *run, iso_capabilities can, isoproof_error *error) {
  isoproof_workload_kind kind = run->workload->kind;
  if (isoproof_workload_needs(kind) == ISOPROOF_NEED_ROWS && run->options->tables > 1)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "tables: the workload %s reads many rows in one statement: expected 1, "
                    "found %u",
                    isoproof_workload_at(kind), run->options->tables);
  if (can.keyless && writes_blindly(kind))
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "the workload %s writes keys whether they are there or not, which needs the layout %s",
                    isoproof_workload_at(kind), iso_layout_name(ISO_LAYOUT_KEYED));
  if (kind == ISOPROOF_WORKLOAD_FIRST_INSERT && !can.rounds)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "the workload %s needs tables that are made while it runs, which the driver %s does not have",
                    isoproof_workload_at(kind), iso_driver_name(iso_database_driver(run->database)));
  return ISOPROOF_OK;
}

static isoproof_status check_needs(const isoproof_run_handle *run, isoproof_error *error) {
  isoproof_workload_kind kind = run->workload->kind;
  isoproof_workload_need needs = isoproof_workload_needs(kind);
  iso_capabilities can = iso_database_capabilities(run->database);
  if ((needs != ISOPROOF_NEED_LISTS || can.lists) && (needs != ISOPROOF_NEED_ROWS || can.predicates))
    return check_tables(run, can, error);
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "the workload %s needs %s, which the driver %s does not have",
                  isoproof_workload_at(kind), needs == ISOPROOF_NEED_LISTS ? "lists" : "ranges of rows",
                  iso_driver_name(iso_database_driver(run->database)));
}

/* ---- how tables and statements are ---- */

static isoproof_status unknown_name(isoproof_error *error, const char *what, const char *name,
                                    const char *(*name_at)(size_t)) {
  char names[256] = "";
  for (size_t i = 0; name_at(i) != NULL; i++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", name_at(i));
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected one of %s, found '%.40s'", what, names, name);
}

/* First inserts are about indexes; the others are about rows that keys tell apart. */
static isoproof_status choose(const isoproof_run_handle *run, iso_database_options *how, isoproof_error *error) {
  const isoproof_run_options *options = run->options;
  bool first_insert = run->workload->kind == ISOPROOF_WORKLOAD_FIRST_INSERT;
  how->layout = first_insert ? ISO_LAYOUT_INDEXED : ISO_LAYOUT_KEYED;
  if (options->layout != NULL && !iso_layout_find(options->layout, &how->layout))
    return unknown_name(error, "layout", options->layout, isoproof_layout_at);
  how->access = first_insert && how->layout != ISO_LAYOUT_HEAP ? ISO_ACCESS_INDEX : ISO_ACCESS_AUTO;
  if (options->access != NULL && !iso_access_find(options->access, &how->access))
    return unknown_name(error, "access", options->access, isoproof_access_at);
  how->statements = ISO_SENDING_PREPARED;
  if (options->statements != NULL && !iso_sending_find(options->statements, &how->statements))
    return unknown_name(error, "statements", options->statements, isoproof_statements_at);
  return ISOPROOF_OK;
}

static isoproof_status choose_round_trips(isoproof_run_handle *run, isoproof_error *error) {
  const char *name = run->options->round_trips;
  run->round_trips = isoproof_workload_meets(run->workload->kind) ? ISO_TRIPS_BOTH : ISO_TRIPS_SINGLE;
  for (size_t i = 0; name != NULL && isoproof_round_trips_at(i) != NULL; i++) {
    run->round_trips = (iso_round_trips)i;
    if (strcmp(name, isoproof_round_trips_at(i)) == 0) return ISOPROOF_OK;
  }
  return name == NULL ? ISOPROOF_OK : unknown_name(error, "round_trips", name, isoproof_round_trips_at);
}

/* What nobody asked for may be missing. */
static isoproof_status open_as_chosen(isoproof_run_handle *run, iso_database_options *how, isoproof_error *error) {
  const isoproof_run_options *options = run->options;
  isoproof_status status = iso_database_open(options->urls, options->url_count, how, &run->database, error);
  if (status == ISOPROOF_ERR_UNSUPPORTED && options->access == NULL && how->access != ISO_ACCESS_AUTO) {
    how->access = ISO_ACCESS_AUTO;
    status = iso_database_open(options->urls, options->url_count, how, &run->database, error);
  }
  if (status == ISOPROOF_ERR_UNSUPPORTED && options->layout == NULL && how->layout != ISO_LAYOUT_KEYED) {
    how->layout = ISO_LAYOUT_KEYED;
    status = iso_database_open(options->urls, options->url_count, how, &run->database, error);
  }
  return status;
}

isoproof_status iso_run_open_database(isoproof_run_handle *run, isoproof_error *error) {
  const isoproof_run_options *options = run->options;
  iso_database_options how = {.table = options->table,
                              .tables = options->tables,
                              .statement_timeout_ms = (uint32_t)(options->statement_timeout * 1000),
                              .lock_timeout_ms = (uint32_t)(options->lock_timeout * 1000),
                              .seed = run->workload->seed,
                              .tag_bits = run->generator->amounts ? AMOUNT_TAG_BITS : TAG_BITS,
                              .keep_tables = options->keep_tables,
                              .notice = options->notice,
                              .notice_user = options->notice_user,
                              .password = options->password,
                              .run = run->share.run,
                              .joins = !iso_share_is_first(run)};
  ISO_TRY(choose(run, &how, error));
  ISO_TRY(choose_round_trips(run, error));
  ISO_TRY(open_as_chosen(run, &how, error));
  run->layout = how.layout;
  run->access = how.access;
  run->statements = how.statements;
  run->generator->keyless = iso_database_capabilities(run->database).keyless;
  ISO_TRY(iso_database_find_isolation(run->database, options->isolation, &run->isolation, error));
  if (options->script_count > 0) {
    ISO_TRY(iso_script_load(options, run->database, run->workload->sessions, &run->script, error));
    return iso_script_prepare(run, error);
  }
  ISO_TRY(check_needs(run, error));
  return iso_share_tables(run, error);
}
