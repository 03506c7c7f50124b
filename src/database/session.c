/* session.c - what holds for a whole session: whether its node takes writes, and settings of the session. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "database/driver_table.h"

bool iso_connection_read_only(const iso_connection *connection) {
  const iso_driver *driver = connection->database->driver;
  return driver->read_only != NULL && connection->state != NULL && driver->read_only(connection);
}

isoproof_status iso_connect_writable(iso_database *database, iso_connection **connection, isoproof_error *error) {
  ISO_TRY(iso_connect(database, 0, connection, error));
  if (!iso_connection_read_only(*connection)) return ISOPROOF_OK;
  for (size_t i = 1; i < database->nodes; i++) {
    iso_connection *other;
    if (iso_connect(database, i, &other, NULL) != ISOPROOF_OK) continue;
    if (!iso_connection_read_only(other)) {
      iso_disconnect(*connection);
      *connection = other;
      return ISOPROOF_OK;
    }
    iso_disconnect(other);
  }
  return ISOPROOF_OK;
}

/* ---- settings ---- */

static bool is_name(const char *name) {
  for (const char *at = name; *at != 0; at++)
    if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.') return false;
  return name[0] != 0;
}

/* 'it''s'; false when it does not fit or could end the text in another way. */
static bool quote(const char *value, char *out, size_t size) {
  size_t used = 0;
  out[used++] = '\'';
  for (const char *at = value; *at != 0; at++) {
    if (used + 4 > size || *at == '\\' || (unsigned char)*at < ' ') return false;
    if (*at == '\'') out[used++] = '\'';
    out[used++] = *at;
  }
  memcpy(out + used, "'", 2);
  return true;
}

static bool is_number(const char *value) {
  size_t sign = value[0] == '-';
  return value[sign] != 0 && strspn(value + sign, "0123456789.") == strlen(value + sign);
}

iso_outcome iso_set(iso_connection *connection, const char *name, const char *value, iso_reply *reply) {
  static const char *const forms[ISO_DIALECTS] = {[ISO_SQL_SQLITE] = "PRAGMA %s = %s",
                                                  [ISO_SQL_POSTGRES] = "SET %s = %s",
                                                  [ISO_SQL_MARIADB] = "SET SESSION %s = %s"};
  char sql[ISO_SQL_BYTES], quoted[ISO_SQL_BYTES / 2];
  const iso_database *database = connection->database;
  const char *form = database->can.sql ? forms[database->dialect] : NULL;
  bool fits = form != NULL && is_name(name) && strlen(name) < 100 && quote(value, quoted, sizeof quoted);
  if (fits) {
    snprintf(sql, sizeof sql, form, name, is_number(value) ? value : quoted);
    return iso_execute(connection, sql, reply);
  }
  reply->outcome = ISO_OUTCOME_REJECTED;
  reply->error_class = ISO_CLASS_CLIENT;
  reply->code[0] = 0;
  snprintf(reply->message, sizeof reply->message, "%s",
           form == NULL ? "the driver has no settings of sessions" : "no name of a setting, or no value for one");
  return reply->outcome;
}
