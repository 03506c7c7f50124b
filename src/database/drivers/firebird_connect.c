/* firebird_connect.c - connecting to Firebird, by the network or to a file of this machine; what it says of itself. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/drivers/firebird.h"

/* How long a connection that is given up may take for that. */
enum { FAREWELL_MS = 3000, MOST_PARAMETERS = 1024, MOST_NAME = 1200 };

/* ---- connecting ---- */

/* The name of the database as the client library wants it: host/port:path, or a path alone.  In a URL with a host, a
 * path without a '/' is an alias of the server. */
static isoproof_status write_name(const iso_url *url, char name[MOST_NAME], isoproof_error *error) {
  const char *path = url->path;
  if (path[0] == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "%s: expected the path of a database, as in firebird://user@host:port/path/to/database.fdb, found "
                    "none",
                    url->shown);
  bool drive = isalpha((unsigned char)path[0]) && path[1] == ':';
  bool absolute = path[0] != '/' && !drive && (strchr(path, '/') != NULL || url->host == NULL) && url->authority;
  bool bracket = url->host != NULL && strchr(url->host, ':') != NULL;
  int length;
  if (url->host == NULL)
    length = snprintf(name, MOST_NAME, "%s%s", absolute ? "/" : "", path);
  else
    length = snprintf(name, MOST_NAME, "%s%s%s/%u:%s%s", bracket ? "[" : "", url->host, bracket ? "]" : "",
                      url->port != 0 ? url->port : 3050, absolute ? "/" : "", path);
  if (length > 0 && length < MOST_NAME) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_LIMIT, "%s: the path is too long", url->shown);
}

static bool add_parameter(char *buffer, size_t *used, char item, const char *value) {
  size_t length = strlen(value);
  if (length > 255 || *used + length + 2 > MOST_PARAMETERS) return false;
  buffer[(*used)++] = item;
  buffer[(*used)++] = (char)(unsigned char)length;
  for (size_t i = 0; i < length; i++) buffer[(*used)++] = value[i];
  return true;
}

/* What is not given the client library looks for in ISC_USER and ISC_PASSWORD.  Without a server nobody asks for a
 * password, but there has to be a user. */
static bool write_parameters(const iso_database *database, const iso_url *url, char *buffer, size_t *used) {
  const char *password = url->password != NULL ? url->password : database->options.password;
  const char *user = url->user != NULL || url->host != NULL ? url->user : "SYSDBA";
  uint32_t seconds = (database->options.connect_timeout_ms + 999) / 1000;
  char limit[5] = {(char)(seconds & 0x7f), 0};
  buffer[(*used)++] = isc_dpb_version1;
  bool good = add_parameter(buffer, used, isc_dpb_lc_ctype, "NONE");
  if (limit[0] != 0) good = good && add_parameter(buffer, used, isc_dpb_connect_timeout, limit);
  if (user != NULL) good = good && add_parameter(buffer, used, isc_dpb_user_name, user);
  if (password != NULL && url->host != NULL) good = good && add_parameter(buffer, used, isc_dpb_password, password);
  return good;
}

static isoproof_status attach(const iso_database *database, const iso_url *url, iso_fire_session *s,
                              isoproof_error *error) {
  char name[MOST_NAME], parameters[MOST_PARAMETERS], words[300];
  ISC_STATUS_ARRAY status;
  size_t used = 0;
  ISO_TRY(write_name(url, name, error));
  bool good = write_parameters(database, url, parameters, &used);
  isoproof_status result = ISOPROOF_OK;
  if (!good)
    result = iso_fail(error, ISOPROOF_ERR_LIMIT, "%s: user and password: expected at most 255 bytes each", url->shown);
  else if (s->fb->isc_attach_database(status, 0, name, &s->attachment, (short)used, parameters) != 0) {
    iso_fire_words(s->fb, status, words, sizeof words);
    result = iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s", url->shown, words);
  }
  explicit_bzero(parameters, sizeof parameters);
  return result;
}

static uint64_t learn_number(iso_fire_session *s) {
  static const char item[] = {isc_info_attachment_id};
  char answer[32] = "";
  if (s->fb->isc_database_info(s->status, &s->attachment, sizeof item, item, sizeof answer, answer) != 0) return 0;
  if (answer[0] != isc_info_attachment_id) return 0;
  return (uint64_t)s->fb->isc_portable_integer((const ISC_UCHAR *)answer + 3,
                                               (short)s->fb->isc_vax_integer(answer + 1, 2));
}

isoproof_status iso_fire_connect(iso_connection *connection, isoproof_error *error) {
  iso_database *database = connection->database;
  iso_fire_state *state = database->state;
  iso_fire_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->fb = &state->fb;
  connection->state = s;
  ISO_TRY(attach(database, &database->urls[connection->node], s, error));
  iso_fire_watch_add(&state->watch, s);
  connection->server_id = learn_number(s);
  return ISOPROOF_OK;
}

void iso_fire_disconnect(iso_connection *connection) {
  iso_fire_session *s = connection->state;
  iso_fire_state *state = connection->database->state;
  ISC_STATUS_ARRAY ignored;
  if (s == NULL) return;
  /* A server that is silent is not waited for. */
  if (connection->broken && s->attachment != 0) s->fb->fb_cancel_operation(ignored, &s->attachment, fb_cancel_abort);
  if (s->attachment != 0) iso_fire_limit(s, 0, FAREWELL_MS);
  if (s->txn != 0) s->fb->isc_rollback_transaction(ignored, &s->txn);
  if (s->alone != 0) s->fb->isc_rollback_transaction(ignored, &s->alone);
  if (s->aside != 0) s->fb->isc_rollback_transaction(ignored, &s->aside);
  for (size_t i = 0; i < ISO_MOST_TABLES; i++)
    for (size_t j = 0; j < ISO_FIRE_FORMS; j++)
      if (s->statements[i][j] != 0) s->fb->isc_dsql_free_statement(ignored, &s->statements[i][j], DSQL_drop);
  if (s->attachment != 0) s->fb->isc_detach_database(ignored, &s->attachment);
  iso_fire_watch_remove(&state->watch, s);
  iso_vec_free(&s->text);
  free(s);
  connection->state = NULL;
}

bool iso_fire_cancel(iso_connection *connection) {
  iso_fire_session *s = connection->state;
  ISC_STATUS_ARRAY status;
  return s != NULL && s->fb->fb_cancel_operation(status, &s->attachment, fb_cancel_raise) == 0;
}

/* ---- what it says of itself ---- */

static isoproof_status learn(iso_database *database, iso_connection *connection, iso_reply *reply,
                             isoproof_error *error) {
  static const char *const names[] = {"engine", "page_size", "page_buffers", "forced_writes", "sql_dialect"};
  ISO_TRY(iso_sql_ask(connection,
                      "SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION'), MON$PAGE_SIZE, MON$PAGE_BUFFERS, "
                      "MON$FORCED_WRITES, MON$SQL_DIALECT FROM MON$DATABASE",
                      reply, error));
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    iso_database_add_setting(database, names[i], iso_reply_cell(reply, 0, i));
  const char *engine = iso_reply_cell(reply, 0, 0);
  bool embedded = database->urls[0].host == NULL;
  snprintf(database->version, sizeof database->version, "Firebird %.40s%s", engine != NULL ? engine : "?",
           embedded ? ", embedded" : "");
  iso_database_add_claim(database, ISO_CLAIM_FIREBIRD_READ_COMMITTED);
  iso_database_add_claim(database, ISO_CLAIM_FIREBIRD_NO_RECORD_VERSION);
  database->default_isolation = database->isolation_count;
  iso_database_add_claim(database, ISO_CLAIM_FIREBIRD_SNAPSHOT);
  iso_database_add_claim(database, ISO_CLAIM_FIREBIRD_TABLE_STABILITY);
  return ISOPROOF_OK;
}

isoproof_status iso_fire_open(iso_database *database, isoproof_error *error) {
  for (size_t i = 0; i < database->nodes; i++) {
    const iso_url *url = &database->urls[i];
    char name[MOST_NAME];
    if (url->option_count > 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected no options", url->shown);
    ISO_TRY(write_name(url, name, error));
    iso_secrets_except(&database->secrets, url->user);
    iso_secrets_except(&database->secrets, url->host);
  }
  if (!iso_secrets_add(&database->secrets, getenv("ISC_PASSWORD"))) return iso_fail_memory(error);
  database->dialect = ISO_SQL_FIREBIRD;
  iso_fire_state *state = iso_alloc_zero(1, sizeof *state);
  if (state == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_fbclient_load(&state->fb, error);
  if (status != ISOPROOF_OK) {
    free(state);
    return status;
  }
  database->state = state;
  ISO_TRY(iso_fire_watch_start(&state->watch, error));
  return iso_sql_on_first_node(database, learn, error);
}

void iso_fire_close(iso_database *database) {
  iso_fire_state *state = database->state;
  if (state == NULL) return;
  iso_fire_watch_stop(&state->watch);
  iso_fbclient_unload(&state->fb);
  free(state);
}
