/* catalogue.c - asking for tables and their marks, and making tables with marks, in the words of each database. */
#include "database/catalogue.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/task.h"

enum { ASK_SECONDS = 30, PAUSE_NS = 1000 * 1000 };
enum { CREATE_BYTES = ISO_SQL_BYTES + ISO_MARK_BYTES + ISO_MOST_PARTITIONS * 64, FIND_BYTES = 1024 };

/* ---- what is there ---- */

/* Asks again as long as others are in the way, unless a transaction is to be begun again first. */
static iso_outcome ask(iso_connection *connection, iso_request_kind kind, const char *sql, const char *table,
                       iso_reply *reply) {
  iso_driver_request request = {.kind = kind, .sql = sql, .table = table};
  double limit = iso_now() + ASK_SECONDS;
  for (;;) {
    bool inside = connection->txn == ISO_TXN_ACTIVE;
    iso_outcome outcome = iso_do(connection, &request, reply);
    if (outcome != ISO_OUTCOME_ABORT || inside || iso_now() > limit) return outcome;
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  }
}

/* Kind, name, text with the mark, whether something of somebody else hangs on it.  A table that is the partition of
 * another one, or that has partitions which are not of its run, is not ours to remove. */
static const char *const finds[ISO_DIALECTS] = {
    [ISO_SQL_SQLITE] = "SELECT type, name, sql, 'no' FROM sqlite_master WHERE name = '%s' COLLATE NOCASE",
    [ISO_SQL_POSTGRES] =
        "SELECT CASE WHEN c.relkind IN ('r', 'p') THEN 'table' WHEN c.relkind IN ('v', 'm') THEN 'view' WHEN "
        "c.relkind = 'S' THEN 'sequence' ELSE 'relation' END, c.relname, obj_description(c.oid, 'pg_class'), CASE WHEN "
        "c.relispartition OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid AND "
        "COALESCE(substring(obj_description(i.inhrelid, 'pg_class') from '^isoproof table .* (of run [0-9a-f]+) '), "
        "'') "
        "<> COALESCE(substring(obj_description(c.oid, 'pg_class') from '^isoproof table .* (of run [0-9a-f]+) '), "
        "'none')) THEN 'yes' ELSE 'no' END FROM pg_class c WHERE c.oid = to_regclass('%s')",
    [ISO_SQL_MARIADB] = "SELECT CASE TABLE_TYPE WHEN 'BASE TABLE' THEN 'table' ELSE LOWER(TABLE_TYPE) END, TABLE_NAME, "
                        "TABLE_COMMENT, 'no' FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND "
                        "TABLE_NAME = '%s'",
    [ISO_SQL_DUCKDB] =
        "SELECT kind, name, mark, 'no' FROM (SELECT 'table' AS kind, table_name AS name, comment AS mark, schema_name, "
        "database_name FROM duckdb_tables() UNION ALL SELECT 'view', view_name, NULL, schema_name, database_name FROM "
        "duckdb_views()) WHERE lower(name) = lower('%s') AND schema_name = current_schema() AND database_name = "
        "current_database()",
    [ISO_SQL_FIREBIRD] = "SELECT CASE WHEN RDB$VIEW_BLR IS NULL THEN 'table' ELSE 'view' END, "
                         "LOWER(TRIM(RDB$RELATION_NAME)), CAST(SUBSTRING(RDB$DESCRIPTION FROM 1 FOR 300) AS "
                         "VARCHAR(300)), 'no' FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = UPPER('%s')",
};

static isoproof_status cannot_look(const iso_connection *connection, const char *table, const iso_reply *reply,
                                   isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot look for table %s: %s %s", connection->database->urls[0].shown,
                  table, reply->code, reply->message);
}

/* Without a catalogue that every database shares, the names of the columns tell. */
static isoproof_status find_by_columns(iso_connection *connection, const char *table, iso_reply *reply,
                                       iso_relation *found, isoproof_error *error) {
  enum { MOST_COLUMNS = 64 };
  const char *columns[MOST_COLUMNS];
  char sql[ISO_SQL_BYTES];
  size_t count = 0;
  snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE 1 = 0", table);
  iso_outcome outcome = ask(connection, ISO_DESCRIBE, sql, table, reply);
  if (outcome == ISO_OUTCOME_REJECTED) return ISOPROOF_OK;
  if (outcome != ISO_OUTCOME_OK) return cannot_look(connection, table, reply, error);
  found->exists = true;
  snprintf(found->kind, sizeof found->kind, "table");
  while (count < MOST_COLUMNS && iso_reply_cell(reply, count, 0) != NULL) {
    columns[count] = iso_reply_cell(reply, count, 0);
    count++;
  }
  found->ours = iso_mark_fits_columns(columns, count, table, &found->mark);
  return ISOPROOF_OK;
}

isoproof_status iso_catalogue_find(iso_connection *connection, const char *table, iso_reply *reply, iso_relation *found,
                                   isoproof_error *error) {
  iso_sql_dialect dialect = connection->database->dialect;
  char sql[FIND_BYTES] = "";
  bool none = dialect == ISO_SQL_NONE;
  *found = (iso_relation){.exists = false};
  if (dialect == ISO_SQL_PORTABLE) return find_by_columns(connection, table, reply, found, error);
  if (!none) snprintf(sql, sizeof sql, finds[dialect], table);
  if (ask(connection, none ? ISO_FIND_TABLE : ISO_EXECUTE, sql, table, reply) != ISO_OUTCOME_OK)
    return cannot_look(connection, table, reply, error);
  const char *kind = iso_reply_cell(reply, 0, 0), *name = iso_reply_cell(reply, 0, 1);
  const char *mark = iso_reply_cell(reply, 0, 2), *shared = iso_reply_cell(reply, 0, 3);
  if (kind == NULL || name == NULL) return ISOPROOF_OK;
  found->exists = true;
  snprintf(found->kind, sizeof found->kind, "%s", kind);
  found->ours = strcmp(kind, "table") == 0 && shared != NULL && strcmp(shared, "no") == 0 && mark != NULL &&
                iso_mark_fits(mark, name, &found->mark);
  return ISOPROOF_OK;
}

/* The first that is answered counts: not everybody may look into InnoDB.  VACUUM FULL and CLUSTER of PostgreSQL, and
 * OPTIMIZE TABLE of MariaDB, change what this tells as TRUNCATE does: nothing in the catalogues tells them apart for
 * sure, and so whoever does that to a table of a run says so (iso_database_learn_tables), or it is interference. */
static const char *const states[ISO_DIALECTS][2] = {
    [ISO_SQL_POSTGRES] = {("SELECT CAST(c.oid AS text) || '/' || COALESCE(pg_relation_filenode(c.oid), 0) FROM "
                           "pg_class c WHERE c.oid = to_regclass('%s')")},
    [ISO_SQL_MARIADB] = {("SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES WHERE NAME = CONCAT(DATABASE(), "
                          "'/', '%s')"),
                         ("SELECT CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND "
                          "TABLE_NAME = '%s'")},
};

/* The nodes of a Galera cluster number tables each for itself, and anew after a state transfer. */
static bool is_galera(iso_connection *connection, iso_reply *reply) {
  if (iso_execute(connection, "SHOW VARIABLES LIKE 'wsrep_on'", reply) != ISO_OUTCOME_OK) return false;
  const char *value = iso_reply_cell(reply, 0, 1);
  return value != NULL && strcasecmp(value, "ON") == 0;
}

void iso_catalogue_state(iso_connection *connection, const char *table, iso_reply *reply, char state[ISO_STATE_BYTES]) {
  iso_sql_dialect dialect = connection->database->dialect;
  state[0] = 0;
  if (connection->database->product != NULL && !connection->database->product->states) return;
  if (dialect == ISO_SQL_MARIADB && is_galera(connection, reply)) return;
  for (size_t i = 0; i < 2 && states[dialect][i] != NULL && state[0] == 0; i++) {
    char sql[ISO_SQL_BYTES];
    snprintf(sql, sizeof sql, states[dialect][i], table);
    if (iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) continue;
    const char *found = iso_reply_cell(reply, 0, 0);
    if (found != NULL) snprintf(state, ISO_STATE_BYTES, "%zu:%.*s", i, ISO_STATE_BYTES - 4, found);
  }
}

static const char *const lists[ISO_DIALECTS] = {
    [ISO_SQL_SQLITE] = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%/* isoproof table %'",
    [ISO_SQL_POSTGRES] =
        ("SELECT c.relname, d.description FROM pg_description d JOIN pg_class c ON c.oid = d.objoid JOIN pg_namespace "
         "n ON n.oid = "
         "c.relnamespace WHERE d.classoid = CAST('pg_class' AS regclass) AND d.objsubid = 0 AND d.description LIKE "
         "'isoproof table %' AND n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition "
         "ORDER BY 1"),
    [ISO_SQL_MARIADB] = ("SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                         "DATABASE() AND TABLE_TYPE = 'BASE "
                         "TABLE' AND TABLE_COMMENT LIKE 'isoproof table %' ORDER BY 1"),
    [ISO_SQL_DUCKDB] =
        ("SELECT table_name, comment FROM duckdb_tables() WHERE comment LIKE 'isoproof table %' AND schema_name = "
         "current_schema() AND database_name = current_database() ORDER BY 1"),
    [ISO_SQL_FIREBIRD] = ("SELECT LOWER(TRIM(RDB$RELATION_NAME)), CAST(SUBSTRING(RDB$DESCRIPTION FROM 1 FOR 300) AS "
                          "VARCHAR(300)) FROM RDB$RELATIONS WHERE RDB$DESCRIPTION STARTING WITH 'isoproof table "
                          "' AND RDB$VIEW_BLR IS NULL AND RDB$RELATION_NAME = UPPER(RDB$RELATION_NAME) ORDER BY 1"),
};

static bool is_plain(const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)name[i]) && name[i] != '_') return false;
  return length > 0 && length < ISO_TABLE_BYTES;
}

isoproof_status iso_catalogue_list(iso_connection *connection, iso_reply *reply, iso_table_names *names,
                                   isoproof_error *error) {
  const iso_database *database = connection->database;
  bool portable = database->dialect == ISO_SQL_PORTABLE || database->dialect == ISO_SQL_NONE;
  iso_request_kind kind = portable ? ISO_LIST_TABLES : ISO_EXECUTE;
  iso_outcome outcome = ask(connection, kind, lists[database->dialect], NULL, reply);
  if (outcome != ISO_OUTCOME_OK)
    return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s %s", database->urls[0].shown, reply->code, reply->message);
  for (size_t i = 0; iso_reply_cell(reply, i, 0) != NULL; i++) {
    const char *name = iso_reply_cell(reply, i, 0);
    iso_table_name made = {.marked = !portable};
    if (!is_plain(name) || (portable && strncasecmp(name, "isoproof_", 9) != 0)) continue;
    if (!portable && !iso_mark_fits(iso_reply_cell(reply, i, 1), name, &made.mark)) continue;
    snprintf(made.text, sizeof made.text, "%s", name);
    if (!iso_vec_push(&names->list, made)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* Name, text with the mark.  Tables with partitions are looked at one by one. */
static const char *const many[ISO_DIALECTS][2] = {
    [ISO_SQL_SQLITE] = {"SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name IN (", "'%s'"},
    [ISO_SQL_POSTGRES] = {("SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c WHERE c.relkind = 'r' "
                           "AND NOT c.relispartition AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = "
                           "c.oid) AND c.oid IN ("),
                          "to_regclass('%s')"},
    [ISO_SQL_MARIADB] = {("SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                          "DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME IN ("),
                         "'%s'"},
    [ISO_SQL_DUCKDB] = {("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = current_schema() AND "
                         "database_name = current_database() AND table_name IN ("),
                        "'%s'"},
};

bool iso_catalogue_ours(iso_connection *connection, const iso_table_name *names, size_t count, uint64_t run,
                        iso_reply *reply, bool *ours) {
  iso_sql_dialect dialect = connection->database->dialect;
  char sql[FIND_BYTES + ISO_TABLES_AT_ONCE * (ISO_TABLE_BYTES + 32)];
  memset(ours, 0, count * sizeof *ours);
  if (many[dialect][0] == NULL || count > ISO_TABLES_AT_ONCE) return false;
  size_t used = (size_t)snprintf(sql, sizeof sql, "%s", many[dialect][0]);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) used += (size_t)snprintf(sql + used, sizeof sql - used, ", ");
    used += (size_t)snprintf(sql + used, sizeof sql - used, many[dialect][1], names[i].text);
  }
  snprintf(sql + used, sizeof sql - used, ")");
  if (ask(connection, ISO_EXECUTE, sql, NULL, reply) != ISO_OUTCOME_OK) return false;
  for (size_t row = 0; iso_reply_cell(reply, row, 0) != NULL; row++) {
    const char *name = iso_reply_cell(reply, row, 0), *text = iso_reply_cell(reply, row, 1);
    iso_mark mark;
    if (!iso_mark_fits(text, name, &mark) || mark.run != run) continue;
    /* Only PostgreSQL writes names in other letters than it was given. */
    for (size_t i = 0; i < count; i++)
      ours[i] |= dialect == ISO_SQL_POSTGRES ? strcasecmp(name, names[i].text) == 0 : strcmp(name, names[i].text) == 0;
  }
  return true;
}

/* ---- making ---- */

/* Table, columns, mark. */
static const char *const creates[ISO_DIALECTS] = {
    [ISO_SQL_SQLITE] = "CREATE TABLE %s (%s /* %s */)",
    [ISO_SQL_POSTGRES] = "CREATE TABLE %s (%s)",
    [ISO_SQL_MARIADB] = "CREATE TABLE %s (%s) ENGINE=InnoDB COMMENT='%s'",
    [ISO_SQL_DUCKDB] = "CREATE TABLE %s (%s)",
    [ISO_SQL_FIREBIRD] = "CREATE TABLE %s (%s)",
    [ISO_SQL_PORTABLE] = "CREATE TABLE %s (%s, %s)",
};

/* With a primary key, and without: lists are for the former only. */
static const char *const columns_of[ISO_DIALECTS][2] = {
    [ISO_SQL_SQLITE] = {"k INTEGER PRIMARY KEY, v INTEGER, l TEXT", "k INTEGER NOT NULL, v INTEGER"},
    [ISO_SQL_POSTGRES] = {"k BIGINT PRIMARY KEY, v BIGINT, l TEXT", "k BIGINT NOT NULL, v BIGINT"},
    [ISO_SQL_MARIADB] = {"k BIGINT PRIMARY KEY, v BIGINT, l LONGTEXT", "k BIGINT NOT NULL, v BIGINT"},
    [ISO_SQL_DUCKDB] = {"k BIGINT PRIMARY KEY, v BIGINT, l VARCHAR", "k BIGINT NOT NULL, v BIGINT"},
    [ISO_SQL_FIREBIRD] = {"k BIGINT NOT NULL PRIMARY KEY, v BIGINT, l BLOB SUB_TYPE TEXT CHARACTER SET ASCII",
                          "k BIGINT NOT NULL, v BIGINT"},
    [ISO_SQL_PORTABLE] = {"k BIGINT NOT NULL PRIMARY KEY, v BIGINT, l VARCHAR(1000)", "k BIGINT NOT NULL, v BIGINT"},
};

bool iso_sql_partitions(iso_sql_dialect dialect) { return dialect == ISO_SQL_POSTGRES || dialect == ISO_SQL_MARIADB; }
bool iso_catalogue_transactional(iso_sql_dialect dialect) {
  return dialect == ISO_SQL_POSTGRES || dialect == ISO_SQL_SQLITE || dialect == ISO_SQL_DUCKDB ||
         dialect == ISO_SQL_FIREBIRD;
}

static void mark_text(iso_sql_dialect dialect, const iso_mark *mark, char text[ISO_MARK_BYTES]) {
  if (dialect != ISO_SQL_PORTABLE) {
    iso_mark_write(mark, text);
    return;
  }
  char columns[ISO_MARK_COLUMNS][ISO_MARK_COLUMN_BYTES];
  size_t used = 0;
  iso_mark_write_columns(mark, columns);
  for (size_t i = 0; i < ISO_MARK_COLUMNS; i++)
    used += (size_t)snprintf(text + used, ISO_MARK_BYTES - used, "%s%s INTEGER", i > 0 ? ", " : "", columns[i]);
}

/* A range of one key for each partition but the last. */
static void create_text(const iso_database *database, const char *table, const char *mark, char sql[CREATE_BYTES]) {
  uint32_t partitions = database->options.partitions;
  const char *columns = columns_of[database->dialect][database->options.layout != ISO_LAYOUT_KEYED];
  size_t used = (size_t)snprintf(sql, CREATE_BYTES, creates[database->dialect], table, columns, mark);
  if (partitions <= 1) return;
  used += (size_t)snprintf(sql + used, CREATE_BYTES - used, " PARTITION BY RANGE (k)");
  if (database->dialect != ISO_SQL_MARIADB) return;
  for (uint32_t i = 0; i + 1 < partitions; i++)
    used += (size_t)snprintf(sql + used, CREATE_BYTES - used, "%sPARTITION p%u VALUES LESS THAN (%u)",
                             i == 0 ? " (" : ", ", i, i + 1);
  snprintf(sql + used, CREATE_BYTES - used, ", PARTITION p%u VALUES LESS THAN MAXVALUE)", partitions - 1);
}

static bool comment(iso_connection *connection, const char *table, const iso_mark *mark, iso_reply *reply) {
  char sql[CREATE_BYTES], text[ISO_MARK_BYTES];
  iso_mark_write(mark, text);
  snprintf(sql, sizeof sql, "COMMENT ON TABLE %s IS '%s'", table, text);
  return iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
}

/* The partitions of PostgreSQL are tables, made one by one.  Each carries the mark of the table that it belongs to,
 * goes with that, and is never taken for a table of ours by itself. */
static bool make_partitions(iso_connection *connection, const char *table, const iso_mark *mark, iso_reply *reply) {
  uint32_t partitions = connection->database->options.partitions;
  for (uint32_t i = 0; partitions > 1 && i < partitions; i++) {
    char sql[ISO_SQL_BYTES], name[ISO_PARTITION_BYTES], low[16] = "MINVALUE", high[16] = "MAXVALUE";
    if (i > 0) snprintf(low, sizeof low, "%u", i);
    if (i + 1 < partitions) snprintf(high, sizeof high, "%u", i + 1);
    iso_sql_partition_name(table, i, name);
    snprintf(sql, sizeof sql, "CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%s) TO (%s)", name, table, low, high);
    if (iso_execute(connection, sql, reply) != ISO_OUTCOME_OK || !comment(connection, name, mark, reply)) return false;
  }
  return true;
}

/* The index of keys that are not the primary key. */
static bool make_index(iso_connection *connection, const char *table, iso_reply *reply) {
  const iso_database *database = connection->database;
  iso_layout layout = database->options.layout;
  char sql[ISO_SQL_BYTES], index[ISO_PARTITION_BYTES];
  if (layout == ISO_LAYOUT_KEYED || layout == ISO_LAYOUT_HEAP) return true;
  iso_sql_index_name(database->dialect, table, index);
  /* Where the server finds a name by itself it is one that is free. */
  if (database->dialect == ISO_SQL_POSTGRES) index[0] = 0;
  snprintf(sql, sizeof sql, "CREATE INDEX %s%sON %s%s (k)", index, index[0] != 0 ? " " : "", table,
           layout == ISO_LAYOUT_HASHED ? " USING hash" : "");
  return iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
}

bool iso_catalogue_create(iso_connection *connection, const char *table, const iso_mark *mark, iso_reply *reply) {
  const iso_database *database = connection->database;
  char sql[CREATE_BYTES], text[ISO_MARK_BYTES];
  mark_text(database->dialect, mark, text);
  if (database->dialect == ISO_SQL_NONE) {
    iso_driver_request make = {.kind = ISO_MAKE_TABLE, .table = table, .sql = text};
    return iso_do(connection, &make, reply) == ISO_OUTCOME_OK;
  }
  create_text(database, table, text, sql);
  if (iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) return false;
  bool comments = database->dialect == ISO_SQL_POSTGRES || database->dialect == ISO_SQL_DUCKDB ||
                  database->dialect == ISO_SQL_FIREBIRD;
  if (comments && !comment(connection, table, mark, reply)) return false;
  if (database->dialect == ISO_SQL_POSTGRES && !make_partitions(connection, table, mark, reply)) return false;
  return make_index(connection, table, reply);
}

/* ---- the server's clock and locks ---- */

void iso_catalogue_clock(iso_connection *connection, iso_reply *reply, int64_t *now, bool *folds) {
  static const char *const clocks[ISO_DIALECTS] = {
      [ISO_SQL_POSTGRES] = "SELECT CAST(EXTRACT(EPOCH FROM now()) AS BIGINT), 1",
      [ISO_SQL_MARIADB] = "SELECT UNIX_TIMESTAMP(), @@lower_case_table_names",
  };
  const char *sql = clocks[connection->database->dialect];
  *now = (int64_t)time(NULL);
  *folds = connection->database->dialect == ISO_SQL_POSTGRES || connection->database->dialect == ISO_SQL_FIREBIRD;
  if (sql == NULL || iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) return;
  const char *seconds = iso_reply_cell(reply, 0, 0), *small = iso_reply_cell(reply, 0, 1);
  if (seconds != NULL) *now = strtoll(seconds, NULL, 10);
  *folds = small != NULL && strcmp(small, "1") == 0;
}

bool iso_catalogue_has_locks(const iso_database *database) {
  if (database->product != NULL && !database->product->locks) return false;
  return database->dialect == ISO_SQL_POSTGRES || database->dialect == ISO_SQL_MARIADB;
}

void iso_catalogue_hold(iso_connection *connection, uint64_t run, iso_reply *reply) {
  char sql[ISO_SQL_BYTES];
  if (connection->database->dialect == ISO_SQL_POSTGRES)
    snprintf(sql, sizeof sql, "SELECT pg_try_advisory_lock(%" PRId64 ")", (int64_t)run);
  else
    snprintf(sql, sizeof sql, "SELECT GET_LOCK('isoproof %016" PRIx64 "', 0)", run);
  iso_execute(connection, sql, reply);
}

bool iso_catalogue_is_free(iso_connection *connection, uint64_t run, iso_reply *reply) {
  char sql[ISO_SQL_BYTES];
  bool postgres = connection->database->dialect == ISO_SQL_POSTGRES;
  if (!iso_catalogue_has_locks(connection->database)) return false;
  /* A lock of MariaDB is one of its node alone. */
  if (!postgres && is_galera(connection, reply)) return false;
  if (postgres)
    snprintf(sql, sizeof sql,
             "SELECT CASE WHEN pg_try_advisory_lock(%" PRId64 ") THEN CASE WHEN pg_advisory_unlock(%" PRId64
             ") THEN 'free' ELSE 'held' END ELSE 'held' END",
             (int64_t)run, (int64_t)run);
  else
    snprintf(sql, sizeof sql, "SELECT CASE IS_FREE_LOCK('isoproof %016" PRIx64 "') WHEN 1 THEN 'free' ELSE 'held' END",
             run);
  if (iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) return false;
  const char *answer = iso_reply_cell(reply, 0, 0);
  return answer != NULL && strcmp(answer, "free") == 0;
}
