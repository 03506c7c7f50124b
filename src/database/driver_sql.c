/* driver_sql.c - the statements behind the requests, and the names of the tables they work on. */
#include "database/driver_sql.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/driver_table.h"

/* ---- texts: T is the table, H a hint about its index, K the key in a condition, ? a parameter, Z the number 0 as it
 * is stored ---- */

#define READ "SELECT v FROM T H WHERE K = ?"
#define READ_LIST "SELECT l FROM T H WHERE K = ?"
#define INSERT "INSERT INTO T (k, v) VALUES (?, ?)"
#define UPDATE "UPDATE T H SET v = ? WHERE K = ?"
#define DELETE "DELETE FROM T H WHERE K = ?"
#define RANGE_OF_KEY "SELECT k, v FROM T H WHERE K = ?"
#define RANGE_OF_KEYS "SELECT k, v FROM T H WHERE K BETWEEN ? AND ? ORDER BY k"
#define RANGE_OF_VALUES "SELECT k, v FROM T WHERE v BETWEEN ? AND ? ORDER BY k"
#define RANGE_OF_ALL "SELECT k, v FROM T H ORDER BY k"
/* A row that holds a list only is no row here, nor in a range. */
#define COUNT_KEY "SELECT COUNT(v) FROM T H WHERE K = ?"
#define COUNT_KEYS "SELECT COUNT(v) FROM T H WHERE K BETWEEN ? AND ?"
#define COUNT_VALUES "SELECT COUNT(v) FROM T WHERE v BETWEEN ? AND ?"
#define COUNT_ALL "SELECT COUNT(v) FROM T"
#define COMMON                                                                                                         \
  [ISO_SQL_READ] = READ, [ISO_SQL_READ_LIST] = READ_LIST, [ISO_SQL_INSERT] = INSERT, [ISO_SQL_UPDATE] = UPDATE,        \
  [ISO_SQL_RANGE_OF_KEY] = RANGE_OF_KEY, [ISO_SQL_RANGE_OF_KEYS] = RANGE_OF_KEYS,                                      \
  [ISO_SQL_RANGE_OF_VALUES] = RANGE_OF_VALUES, [ISO_SQL_RANGE_OF_ALL] = RANGE_OF_ALL, [ISO_SQL_COUNT_KEY] = COUNT_KEY, \
  [ISO_SQL_COUNT_KEYS] = COUNT_KEYS, [ISO_SQL_COUNT_VALUES] = COUNT_VALUES

#define ON_CONFLICT " ON CONFLICT (k) DO UPDATE SET "
#define ON_DUPLICATE " ON DUPLICATE KEY UPDATE "

#define APPEND "INSERT INTO T (k, l) VALUES (?, ?)"
#define WRITE_ON_CONFLICT INSERT ON_CONFLICT "v = excluded.v"
#define ADD_ON_CONFLICT INSERT ON_CONFLICT "v = COALESCE(T.v, Z) + excluded.v - Z"
#define APPEND_ON_CONFLICT                                                                                             \
  APPEND ON_CONFLICT "l = CASE WHEN T.l IS NULL OR T.l = '' THEN excluded.l ELSE T.l || ',' || excluded.l END"
#define WRITE_ON_DUPLICATE INSERT ON_DUPLICATE "v = VALUES(v)"
#define ADD_ON_DUPLICATE INSERT ON_DUPLICATE "v = COALESCE(v, Z) + VALUES(v) - Z"
#define APPEND_ON_DUPLICATE APPEND ON_DUPLICATE "l = IF(l IS NULL OR l = '', VALUES(l), CONCAT(l, ',', VALUES(l)))"

static const char *const texts[ISO_DIALECTS][ISO_SQL_STATEMENTS] = {
    [ISO_SQL_SQLITE] =
        {COMMON, [ISO_SQL_DELETE] = DELETE, [ISO_SQL_COUNT_ALL] = COUNT_ALL, [ISO_SQL_WRITE] = (WRITE_ON_CONFLICT),
         [ISO_SQL_INCREMENT] = (ADD_ON_CONFLICT), [ISO_SQL_APPEND] = (APPEND_ON_CONFLICT)},
    /* The whole table is counted in the order of keys, so that there is a use for the index. */
    [ISO_SQL_POSTGRES] = {COMMON, [ISO_SQL_DELETE] = DELETE,
                          [ISO_SQL_COUNT_ALL] = "SELECT COUNT(v) FROM (SELECT v FROM T ORDER BY k) AS every",
                          [ISO_SQL_WRITE] = (WRITE_ON_CONFLICT), [ISO_SQL_INCREMENT] = (ADD_ON_CONFLICT),
                          [ISO_SQL_APPEND] = (APPEND_ON_CONFLICT)},
    /* There are no hints in a DELETE. */
    [ISO_SQL_MARIADB] = {COMMON, [ISO_SQL_DELETE] = "DELETE FROM T WHERE K = ?",
                         [ISO_SQL_COUNT_ALL] = "SELECT COUNT(v) FROM T H", [ISO_SQL_WRITE] = (WRITE_ON_DUPLICATE),
                         [ISO_SQL_INCREMENT] = (ADD_ON_DUPLICATE), [ISO_SQL_APPEND] = (APPEND_ON_DUPLICATE)},
    [ISO_SQL_DUCKDB] =
        {COMMON, [ISO_SQL_DELETE] = DELETE, [ISO_SQL_COUNT_ALL] = COUNT_ALL, [ISO_SQL_WRITE] = (WRITE_ON_CONFLICT),
         [ISO_SQL_INCREMENT] = (ADD_ON_CONFLICT), [ISO_SQL_APPEND] = (APPEND_ON_CONFLICT)},
    [ISO_SQL_PORTABLE] = {COMMON, [ISO_SQL_DELETE] = DELETE, [ISO_SQL_COUNT_ALL] = COUNT_ALL,
                          [ISO_SQL_ADD] = "UPDATE T SET v = COALESCE(v, Z) + ? - Z WHERE k = ?"},
};

void iso_sql_index_name(iso_sql_dialect dialect, const char *table, char name[ISO_PARTITION_BYTES]) {
  if (dialect == ISO_SQL_MARIADB)
    snprintf(name, ISO_PARTITION_BYTES, "by_key");
  else
    snprintf(name, ISO_PARTITION_BYTES, "%.*s_k", ISO_TABLE_BYTES, table);
}

/* The word after the name of a table that leads to its index, or away from it.  The rows of SQLite that have k as their
 * primary key are in no other place than its index. */
static void hint_of(const iso_sql_form *form, const char *table, char hint[ISO_SQL_BYTES]) {
  char index[ISO_PARTITION_BYTES];
  bool keyed = form->layout == ISO_LAYOUT_KEYED, has_index = keyed || form->layout == ISO_LAYOUT_INDEXED;
  bool by_index = form->access == ISO_ACCESS_INDEX, by_rows = form->access == ISO_ACCESS_SEQUENTIAL;
  iso_sql_index_name(form->dialect, table, index);
  hint[0] = 0;
  if (form->dialect == ISO_SQL_MARIADB && has_index && (by_index || by_rows))
    snprintf(hint, ISO_SQL_BYTES, "%s INDEX (%s)", by_index ? "FORCE" : "IGNORE", keyed ? "PRIMARY" : index);
  if (form->dialect == ISO_SQL_SQLITE && by_index && !keyed) snprintf(hint, ISO_SQL_BYTES, "INDEXED BY %s", index);
  if (form->dialect == ISO_SQL_SQLITE && by_rows) snprintf(hint, ISO_SQL_BYTES, "NOT INDEXED");
}

/* The key in a condition: an expression where no index may serve, whatever the hint. */
static const char *key_of(const iso_sql_form *form) {
  if (form->access != ISO_ACCESS_SEQUENTIAL) return "k";
  return form->dialect == ISO_SQL_SQLITE ? "+k" : form->dialect == ISO_SQL_MARIADB ? "k + 0" : "k";
}

/* A number as every dialect takes it: the smallest has no literal of its own. */
static int write_number(char *out, size_t room, int64_t number, bool text) {
  if (text) return snprintf(out, room, "'%" PRId64 "'", number);
  if (number == INT64_MIN) return snprintf(out, room, "(-%" PRId64 " - 1)", INT64_MAX);
  return snprintf(out, room, "%" PRId64, number);
}

const char *iso_sql_write(const iso_sql_form *form, iso_sql sql, const char *table, const int64_t *numbers,
                          char buffer[ISO_SQL_BYTES]) {
  const char *text = texts[form->dialect][sql];
  if (text == NULL) return NULL;
  char hint[ISO_SQL_BYTES];
  size_t used = 0;
  unsigned parameter = 0;
  hint_of(form, table, hint);
  for (char before = ' '; *text != 0; before = *text++) {
    bool alone = (before == ' ' || before == '(') && !isalnum((unsigned char)text[1]);
    size_t room = ISO_SQL_BYTES - used;
    int wrote;
    if (alone && *text == 'H' && hint[0] == 0) {
      used--; /* the blank before it */
      continue;
    }
    if (alone && (*text == 'T' || *text == 'H' || *text == 'K'))
      wrote = snprintf(buffer + used, room, "%s", *text == 'T' ? table : *text == 'H' ? hint : key_of(form));
    else if (alone && *text == 'Z')
      wrote = snprintf(buffer + used, room, "%" PRId64, form->zero);
    else if (*text == '?' && numbers != NULL)
      wrote = write_number(buffer + used, room, numbers[parameter], parameter == 1 && iso_sql_takes_text(sql));
    else if (*text == '?' && form->dialect == ISO_SQL_POSTGRES)
      wrote = snprintf(buffer + used, room, "$%u", parameter + 1);
    else
      wrote = snprintf(buffer + used, room, "%c", *text);
    if (wrote < 0 || (size_t)wrote >= room) return NULL;
    used += (size_t)wrote;
    parameter += *text == '?';
  }
  buffer[used] = 0;
  return buffer;
}

iso_sql_form iso_sql_form_of(const iso_database *database, iso_sql_dialect dialect) {
  return (iso_sql_form){dialect, database->options.layout, database->options.access, database->tag.tag};
}

const char *iso_sql_text(iso_sql_dialect dialect, iso_sql sql, const char *table, int64_t zero,
                         char buffer[ISO_SQL_BYTES]) {
  return iso_sql_write(&(iso_sql_form){.dialect = dialect, .zero = zero}, sql, table, NULL, buffer);
}

/* ---- which statement, which numbers, which tables ---- */

static iso_sql range_of(const iso_driver_request *request) {
  bool counts = request->kind == ISO_COUNT;
  if (request->key == INT64_MIN && request->high == INT64_MAX) return counts ? ISO_SQL_COUNT_ALL : ISO_SQL_RANGE_OF_ALL;
  if (request->by_value) return counts ? ISO_SQL_COUNT_VALUES : ISO_SQL_RANGE_OF_VALUES;
  /* A hash index knows of equality alone. */
  if (request->key == request->high) return counts ? ISO_SQL_COUNT_KEY : ISO_SQL_RANGE_OF_KEY;
  return counts ? ISO_SQL_COUNT_KEYS : ISO_SQL_RANGE_OF_KEYS;
}

iso_sql iso_sql_of(const iso_driver_request *request) {
  switch (request->kind) {
  case ISO_READ:
    return ISO_SQL_READ;
  case ISO_WRITE:
    return ISO_SQL_WRITE;
  case ISO_INCREMENT:
    return ISO_SQL_INCREMENT;
  case ISO_READ_LIST:
    return ISO_SQL_READ_LIST;
  case ISO_APPEND:
    return ISO_SQL_APPEND;
  case ISO_INSERT:
    return ISO_SQL_INSERT;
  case ISO_DELETE:
    return ISO_SQL_DELETE;
  case ISO_UPDATE:
    return ISO_SQL_UPDATE;
  case ISO_READ_RANGE:
  case ISO_COUNT:
    return range_of(request);
  default:
    return ISO_SQL_STATEMENTS;
  }
}

unsigned iso_sql_parameters(iso_sql sql) {
  switch (sql) {
  case ISO_SQL_RANGE_OF_ALL:
  case ISO_SQL_COUNT_ALL:
    return 0;
  case ISO_SQL_READ:
  case ISO_SQL_READ_LIST:
  case ISO_SQL_DELETE:
  case ISO_SQL_RANGE_OF_KEY:
  case ISO_SQL_COUNT_KEY:
    return 1;
  default:
    return 2;
  }
}

bool iso_sql_takes_text(iso_sql sql) { return sql == ISO_SQL_APPEND; }

unsigned iso_sql_numbers(iso_sql sql, const iso_driver_request *request, int64_t numbers[2]) {
  bool value_first = sql == ISO_SQL_UPDATE || sql == ISO_SQL_ADD;
  bool range = request->kind == ISO_READ_RANGE || request->kind == ISO_COUNT;
  numbers[value_first] = request->key;
  numbers[!value_first] = range ? request->high : request->value;
  return iso_sql_parameters(sql);
}

uint32_t iso_sql_table(const iso_database *database, int64_t key) {
  return (uint32_t)((uint64_t)key % database->options.tables);
}

uint32_t iso_sql_round_place(uint64_t round) { return ISO_MOST_TABLES + (uint32_t)(round % ISO_ROUND_PLACES); }

void iso_sql_tables(const iso_database *database, const iso_driver_request *request, uint32_t *first, uint32_t *end) {
  bool all = request->round == 0 && (request->kind == ISO_READ_RANGE || request->kind == ISO_COUNT);
  *first = all ? 0 : request->round > 0 ? iso_sql_round_place(request->round) : iso_sql_table(database, request->key);
  *end = all ? database->options.tables : *first + 1;
}

void iso_sql_table_name(const iso_database *database, uint32_t number, char name[ISO_TABLE_BYTES]) {
  if (database->options.tables == 1)
    snprintf(name, ISO_TABLE_BYTES, "%.*s", ISO_TABLE_BYTES - 4, database->table);
  else
    snprintf(name, ISO_TABLE_BYTES, "%.*s%u", ISO_TABLE_BYTES - 4, database->table, number % 1000);
}

void iso_sql_round_name(const iso_database *database, uint64_t round, char name[ISO_TABLE_BYTES]) {
  snprintf(name, ISO_TABLE_BYTES, "%.*s_r%u", ISO_TABLE_BYTES - 12, database->table,
           (unsigned)(round % (ISO_MOST_ROUND + 1)));
}

void iso_sql_place_name(const iso_database *database, const iso_driver_request *request, uint32_t place,
                        char name[ISO_TABLE_BYTES]) {
  if (request->round > 0)
    iso_sql_round_name(database, request->round, name);
  else
    iso_sql_table_name(database, place, name);
}

void iso_sql_partition_name(const char *table, uint32_t number, char name[ISO_PARTITION_BYTES]) {
  snprintf(name, ISO_PARTITION_BYTES, "%.*s_p%u", ISO_TABLE_BYTES, table, number % 1000);
}

/* Skips blanks and comments. */
static const char *skip_blank(const char *sql) {
  for (;;) {
    while (isspace((unsigned char)*sql) || *sql == ';' || *sql == '(') sql++;
    if (strncmp(sql, "--", 2) == 0 || *sql == '#') {
      sql += strcspn(sql, "\n");
    } else if (strncmp(sql, "/*", 2) == 0) {
      const char *end = strstr(sql + 2, "*/");
      if (end == NULL) return sql;
      sql = end + 2;
    } else {
      return sql;
    }
  }
}

bool iso_sql_controls_transactions(const char *sql) {
  static const char *const words[] = {"BEGIN",    "START", "COMMIT", "END",
                                      "ROLLBACK", "ABORT", "XA",     "PREPARE TRANSACTION"};
  sql = skip_blank(sql);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i]);
    if (strncasecmp(sql, words[i], length) != 0 || isalnum((unsigned char)sql[length]) || sql[length] == '_') continue;
    /* ROLLBACK TO a savepoint ends nothing. */
    const char *rest = skip_blank(sql + length);
    return strcmp(words[i], "ROLLBACK") != 0 || strncasecmp(rest, "TO", 2) != 0;
  }
  return false;
}

/* ---- asking ---- */

isoproof_status iso_sql_ask(iso_connection *connection, const char *sql, iso_reply *reply, isoproof_error *error) {
  if (iso_execute(connection, sql, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s %s", connection->database->urls[connection->node].shown, reply->code,
                  reply->message);
}

isoproof_status iso_sql_on_first_node(iso_database *database, iso_sql_task task, isoproof_error *error) {
  iso_connection *connection;
  ISO_TRY(iso_connect_writable(database, &connection, error));
  iso_reply reply = {0};
  isoproof_status status = task(database, connection, &reply, error);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  return status;
}
