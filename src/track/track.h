/* track.h - finds out what the SQL statements of a script read and wrote.
 *
 * A tracker knows the tables of a script and its statements, as templates with :variables.  It says which columns the
 * tables need (isoproof_version, isoproof_previous), turns a statement into one that also tells the versions of the
 * rows that it read and wrote, and makes operations of a history (docs/format-jsonl.md, "Rows") out of the answers.
 * What is recorded is true: a statement that is not understood completely is sent as it is and not recorded, a table
 * that something writes in a way that is not understood is not tracked at all, and both are said.
 *
 * How it is used, in this order:
 *
 *   iso_tracker_make
 *   iso_tracker_setup        for every statement of the setup section (CREATE TABLE, INSERT, ...), in order
 *   iso_tracker_add          for every statement of a transaction, once: a template, and its number
 *   iso_tracker_missing      (with --instrument) tables that statements name and the setup does not make: for each, ask
 *                            iso_tracker_catalogue_sql, and hand the answer to iso_tracker_catalogue
 *   iso_tracker_decide       which tables are tracked, and how every statement is; the words of --explain-script
 *   ... now the setup is executed, as it is ...
 *   iso_tracker_instrument   statements to execute once, after the setup: the columns
 *   iso_tracker_initial_sql  per tracked table: ask, and hand the answer to iso_tracker_initial; the rows at the start
 *                            are in iso_tracker_initial_rows then (iso_session_log_initial_contents writes them)
 *   iso_track_session_make   one per session (a thread of its own each), for as long as the run goes on
 *     iso_track_session_sql  to execute on every new connection of the session; NULL: nothing
 *     iso_track_begin
 *     iso_track_prepare      per execution of a statement: what to send; then iso_track_answer, or iso_track_failed
 *     iso_track_end          the operations of the transaction
 *   iso_tracker_names        rows by their names ("accounts[id=7]"), for the history (iso_session_log_row_names)
 *   iso_tracker_restore      statements that take the columns away again (with --instrument)
 *
 * A tracker must outlive its sessions.  After iso_tracker_initial it is shared by threads without further ado.  What a
 * pointer out of a session shows lives until the next call on it; out of a tracker, as long as the tracker.
 */
#ifndef ISO_TRACK_TRACK_H
#define ISO_TRACK_TRACK_H

#include "database/driver.h"
#include "database/value_tag.h"
#include "format/jsonl.h"

typedef enum iso_track_dialect { ISO_TRACK_POSTGRES, ISO_TRACK_SQLITE, ISO_TRACK_MARIADB } iso_track_dialect;

/* How much of a statement is recorded: C name, name, meaning. */
#define ISO_TRACK_EXTENT_LIST(X)                                                                                       \
  X(WHOLE, "tracked", "every row that it read and wrote, and what it asked for")                                       \
  X(ROWS, "rows only", "the rows that it returned or wrote, but not that no other row matched")                        \
  X(PARTLY, "partly", "the rows of some of its tables")                                                                \
  X(NOT, "not tracked", "nothing")                                                                                     \
  X(NOTHING, "no rows", "it reads and writes no row of a table: there is nothing to record")

typedef enum iso_track_extent {
#define ISO_X(name, id, text) ISO_TRACK_##name,
  ISO_TRACK_EXTENT_LIST(ISO_X)
#undef ISO_X
      ISO_TRACK_EXTENTS
} iso_track_extent;

const char *iso_track_extent_name(iso_track_extent extent);

/* ---- a script ---- */

typedef struct iso_tracker iso_tracker;

/* For a run with so many sessions, numbered from 0.  Versions carry the tag of the run in the database
 * (database/value_tag.h); in the history they are small numbers. */
isoproof_status iso_tracker_make(iso_track_dialect dialect, const iso_value_tag *tag, uint32_t sessions,
                                 iso_tracker **tracker, isoproof_error *error);
void iso_tracker_free(iso_tracker *tracker); /* accepts NULL */

/* One statement of the setup, without its semicolon or with it.  Nothing that it says is an error: what is not
 * understood makes tables untracked. */
isoproof_status iso_tracker_setup(iso_tracker *tracker, const char *sql, isoproof_error *error);
/* One statement that transactions execute, with :name and :'name' where values are put in (:'name' is quoted as a
 * string of the dialect); *statement is its number, from 0.  ISOPROOF_ERR_USAGE: it is not one statement. */
isoproof_status iso_tracker_add(iso_tracker *tracker, const char *sql, uint32_t *statement, isoproof_error *error);
/* The names of its variables, in the order of their first appearance, each once, without colon and quotes. */
size_t iso_tracker_variables(const iso_tracker *tracker, uint32_t statement);
const char *iso_tracker_variable(const iso_tracker *tracker, uint32_t statement, size_t number);

/* Tables that statements name and the setup does not make; NULL after the last.  Without their catalogue they are not
 * tracked. */
const char *iso_tracker_missing(iso_tracker *tracker, size_t number);
/* A query of columns, types and keys of that table; NULL: memory is out. */
const char *iso_tracker_catalogue_sql(iso_tracker *tracker, size_t number);
isoproof_status iso_tracker_catalogue(iso_tracker *tracker, size_t number, const iso_reply *reply,
                                      isoproof_error *error);

/* Everything is known: decides.  Nothing can be added any more. */
isoproof_status iso_tracker_decide(iso_tracker *tracker, isoproof_error *error);

iso_track_extent iso_tracker_extent(const iso_tracker *tracker, uint32_t statement);
/* One sentence: what is recorded of the statement, or why it is not. */
const char *iso_tracker_explain(const iso_tracker *tracker, uint32_t statement);
/* The statement as it is sent, with its variables still in it and N for the version; the original where nothing is
 * added. */
const char *iso_tracker_sent(const iso_tracker *tracker, uint32_t statement);

typedef struct iso_track_table {
  const char *name; /* as the script writes it */
  bool tracked;
  const char *why; /* the rest of a sentence: what is added to it, or (it is not tracked, because) why */
  /* Tracked: the keys of its rows in the history.  A fact rows.FIRST.LAST with its name in the header lets witnesses
   * say "of accounts where balance < 100". */
  int64_t first_key, last_key;
} iso_track_table;

size_t iso_tracker_tables(const iso_tracker *tracker);
iso_track_table iso_tracker_table(const iso_tracker *tracker, size_t number);

/* Statements to execute, in order; NULL after the last.  Both sets may be executed again when they failed half way:
 * iso_tracker_restore does not mind what is not there, but for SQLite, which has no IF EXISTS: there an error of a
 * column that is not there means nothing. */
const char *iso_tracker_instrument(const iso_tracker *tracker, size_t number);
const char *iso_tracker_restore(const iso_tracker *tracker, size_t number);

/* The rows of each tracked table at the start, to be asked when nobody writes; NULL after the last. */
const char *iso_tracker_initial_sql(const iso_tracker *tracker, size_t number);
isoproof_status iso_tracker_initial(iso_tracker *tracker, size_t number, const iso_reply *reply, isoproof_error *error);
/* All of them, for the line "initial_rows" of the history. */
const iso_jsonl_row *iso_tracker_initial_rows(const iso_tracker *tracker, size_t *count);

/* The names from number `first` on that there are by now, in the order in which rows were first met: *count of them,
 * to be freed with free(); the texts live as long as the tracker.  NULL: memory is out.  By any thread. */
iso_jsonl_row_name *iso_tracker_names(iso_tracker *tracker, size_t first, size_t *count);

/* ---- a session ---- */

typedef struct iso_track_session iso_track_session;

isoproof_status iso_track_session_make(iso_tracker *tracker, uint32_t session, iso_track_session **made,
                                       isoproof_error *error);
void iso_track_session_free(iso_track_session *session); /* accepts NULL */
/* To be executed on every connection of the session before its first transaction; NULL: nothing. */
const char *iso_track_session_sql(const iso_tracker *tracker);

/* What to send for one execution: `before` and `after` (NULL where there is none) are statements of their own that
 * touch no table, on the same connection, right before and right behind. */
typedef struct iso_track_request {
  const char *before, *sql, *after;
  uint32_t added; /* how many columns of the answer to `sql`, the last ones, are not the user's */
} iso_track_request;

/* A transaction begins: forgets the operations of the one before. */
void iso_track_begin(iso_track_session *session);
/* `values` are those of iso_tracker_variables, as text to be put into the statement (of :'name': the text itself). */
isoproof_status iso_track_prepare(iso_track_session *session, uint32_t statement, const char *const *values,
                                  iso_track_request *request, isoproof_error *error);
/* The server answered to what was prepared last; `after` is NULL where there was nothing to send after it.
 * ISOPROOF_ERR_INTERFERENCE: somebody else writes the tables.  ISOPROOF_ERR_UNSUPPORTED: a value that cannot be told
 * exactly (the sentence says which), so that the run cannot be judged. */
isoproof_status iso_track_answer(iso_track_session *session, const iso_reply *reply, const iso_reply *after,
                                 isoproof_error *error);
/* It failed, and was undone (alone or with its transaction): nothing of it is recorded. */
void iso_track_failed(iso_track_session *session);
/* The operations of the transaction so far, in their order, for iso_jsonl_txn.  What ROLLBACK TO SAVEPOINT took back is
 * not there.  Their `statement` is the number of iso_tracker_add + 1: the run says in facts statement.N of the header
 * what these are, such as "transfer, statement 2: UPDATE accounts SET ...". */
const iso_jsonl_op *iso_track_end(iso_track_session *session, size_t *count);

#endif
