/* driver_sql.c - the statements behind the requests, and the names of the tables they work on. */
#include "database/driver_sql.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/driver_table.h"

/* ---- texts: T is the table, ? a parameter, Z the number 0 as it is stored ---- */

#define READ "SELECT v FROM T WHERE k = ?"
#define READ_LIST "SELECT l FROM T WHERE k = ?"
#define INSERT "INSERT INTO T (k, v) VALUES (?, ?)"
#define DELETE "DELETE FROM T WHERE k = ?"
#define RANGE_OF_KEYS "SELECT k, v FROM T WHERE k BETWEEN ? AND ? ORDER BY k"
#define RANGE_OF_VALUES "SELECT k, v FROM T WHERE v BETWEEN ? AND ? ORDER BY k"
#define COMMON                                                                                                         \
  [ISO_SQL_READ] = READ, [ISO_SQL_READ_LIST] = READ_LIST, [ISO_SQL_INSERT] = INSERT, [ISO_SQL_DELETE] = DELETE,        \
  [ISO_SQL_RANGE_OF_KEYS] = RANGE_OF_KEYS, [ISO_SQL_RANGE_OF_VALUES] = RANGE_OF_VALUES

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
    [ISO_SQL_SQLITE] = {COMMON, [ISO_SQL_WRITE] = (WRITE_ON_CONFLICT), [ISO_SQL_INCREMENT] = (ADD_ON_CONFLICT),
                        [ISO_SQL_APPEND] = (APPEND_ON_CONFLICT)},
    [ISO_SQL_POSTGRES] = {COMMON, [ISO_SQL_WRITE] = (WRITE_ON_CONFLICT), [ISO_SQL_INCREMENT] = (ADD_ON_CONFLICT),
                          [ISO_SQL_APPEND] = (APPEND_ON_CONFLICT)},
    [ISO_SQL_MARIADB] = {COMMON, [ISO_SQL_WRITE] = (WRITE_ON_DUPLICATE), [ISO_SQL_INCREMENT] = (ADD_ON_DUPLICATE),
                         [ISO_SQL_APPEND] = (APPEND_ON_DUPLICATE)},
    [ISO_SQL_PORTABLE] = {COMMON, [ISO_SQL_UPDATE] = "UPDATE T SET v = ? WHERE k = ?",
                          [ISO_SQL_ADD] = "UPDATE T SET v = COALESCE(v, Z) + ? - Z WHERE k = ?"},
};

const char *iso_sql_text(iso_sql_dialect dialect, iso_sql sql, const char *table, int64_t zero,
                         char buffer[ISO_SQL_BYTES]) {
  const char *text = texts[dialect][sql];
  if (text == NULL) return NULL;
  size_t used = 0;
  unsigned parameter = 0;
  for (char before = ' '; *text != 0; before = *text++) {
    bool alone = (before == ' ' || before == '(') && !isalnum((unsigned char)text[1]);
    size_t room = ISO_SQL_BYTES - used;
    int wrote;
    if (alone && *text == 'T')
      wrote = snprintf(buffer + used, room, "%s", table);
    else if (alone && *text == 'Z')
      wrote = snprintf(buffer + used, room, "%" PRId64, zero);
    else if (*text == '?' && dialect == ISO_SQL_POSTGRES)
      wrote = snprintf(buffer + used, room, "$%u", ++parameter);
    else
      wrote = snprintf(buffer + used, room, "%c", *text);
    if (wrote < 0 || (size_t)wrote >= room) return NULL;
    used += (size_t)wrote;
  }
  return buffer;
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
  case ISO_READ_RANGE:
    return request->by_value ? ISO_SQL_RANGE_OF_VALUES : ISO_SQL_RANGE_OF_KEYS;
  default:
    return ISO_SQL_STATEMENTS;
  }
}

unsigned iso_sql_parameters(iso_sql sql) {
  return sql == ISO_SQL_READ || sql == ISO_SQL_READ_LIST || sql == ISO_SQL_DELETE ? 1 : 2;
}

uint32_t iso_sql_table(const iso_database *database, int64_t key) {
  return (uint32_t)((uint64_t)key % database->options.tables);
}

void iso_sql_tables(const iso_database *database, const iso_driver_request *request, uint32_t *first, uint32_t *end) {
  bool all = request->kind == ISO_READ_RANGE;
  *first = all ? 0 : iso_sql_table(database, request->key);
  *end = all ? database->options.tables : *first + 1;
}

void iso_sql_table_name(const iso_database *database, uint32_t number, char name[ISO_TABLE_BYTES]) {
  if (database->options.tables == 1)
    snprintf(name, ISO_TABLE_BYTES, "%.*s", ISO_TABLE_BYTES - 4, database->table);
  else
    snprintf(name, ISO_TABLE_BYTES, "%.*s%u", ISO_TABLE_BYTES - 4, database->table, number % 1000);
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
