/* postgres_connect.c - connecting to PostgreSQL, what the server says of itself. */
#include <stdio.h>
#include <string.h>

#include "database/drivers/postgres.h"

/* Notices of the server are not for our standard error. */
static void ignore(void *user, const char *message) { (void)user, (void)message; }

/* The statement that the URL wants to be the first of every connection. */
static isoproof_status send_init(const iso_pg_session *s, const iso_url *url, const char *sql, isoproof_error *error) {
  if (sql == NULL) return ISOPROOF_OK;
  PGresult *result = s->pq->exec(s->handle, sql);
  ExecStatusType status = s->pq->resultStatus(result);
  s->pq->clear(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s: %s", url->shown, sql, s->pq->errorMessage(s->handle));
}

/* A path that the planner is kept from costs so much in its eyes that every statement would be compiled first, which
 * takes far longer than to run it.  Versions before 11 cannot, and do not know the setting. */
static isoproof_status compile_nothing(const iso_database *database, const iso_pg_session *s, const iso_url *url,
                                       isoproof_error *error) {
  if (database->options.access == ISO_ACCESS_AUTO) return ISOPROOF_OK;
  return send_init(s, url, "SELECT set_config('jit', 'off', false) FROM pg_settings WHERE name = 'jit'", error);
}

/* The password may be one that libpq found by itself. */
static isoproof_status cannot(const iso_pg_session *s, const iso_url *url, isoproof_error *error) {
  PGconn *handle = s->handle;
  isoproof_status status = iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s", url->shown,
                                    handle != NULL ? s->pq->errorMessage(handle) : "out of memory");
  iso_secrets found = {0};
  iso_secrets_add(&found, handle != NULL ? s->pq->pass(handle) : NULL);
  iso_secrets_except(&found, handle != NULL ? s->pq->user(handle) : NULL);
  iso_secrets_except(&found, handle != NULL ? s->pq->db(handle) : NULL);
  if (error != NULL) iso_secrets_clean(&found, error->message, sizeof error->message);
  iso_secrets_free(&found);
  return status;
}

isoproof_status iso_pg_connect(iso_connection *connection, isoproof_error *error) {
  const iso_database *database = connection->database;
  const iso_url *url = &database->urls[connection->node];
  const iso_pg_state *state = database->state;
  const iso_pg_node *node = &state->nodes[connection->node];
  iso_pg_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->pq = &state->pq;
  connection->state = s;
  iso_pg_parameters parameters;
  iso_pg_given(database, node, &parameters);
  if (node->timeout[0] != 0) iso_pg_add(&parameters, "connect_timeout", node->timeout);
  /* Of two values libpq takes the last. */
  iso_pg_add(&parameters, "options", node->settings);
  if (iso_pg_node_value(node, "client_encoding") == NULL) iso_pg_add(&parameters, "client_encoding", "UTF8");
  if (iso_pg_node_value(node, "fallback_application_name") == NULL)
    iso_pg_add(&parameters, "fallback_application_name", "isoproof");
  s->handle = s->pq->connectdbParams(parameters.names, parameters.values, 0);
  if (s->pq->status(s->handle) != CONNECTION_OK) return cannot(s, url, error);
  s->pq->setNoticeProcessor(s->handle, ignore, NULL);
  s->cancel = s->pq->getCancel(s->handle);
  connection->server_id = (uint64_t)s->pq->backendPID(s->handle);
  /* Before version 14 the server does not tell by itself. */
  if (s->pq->parameterStatus(s->handle, "in_hot_standby") == NULL && database->nodes > 1) {
    PGresult *result = s->pq->exec(s->handle, "SELECT pg_is_in_recovery()");
    s->standby = s->pq->ntuples(result) > 0 && strcmp(s->pq->getvalue(result, 0, 0), "t") == 0;
    s->pq->clear(result);
  }
  ISO_TRY(compile_nothing(database, s, url, error));
  return send_init(s, url, node->init, error);
}

bool iso_pg_read_only(const iso_connection *connection) {
  const iso_pg_session *s = connection->state;
  if (s->handle == NULL) return false;
  const char *told = s->pq->parameterStatus(s->handle, "in_hot_standby");
  return told != NULL ? strcmp(told, "on") == 0 : s->standby;
}

void iso_pg_disconnect(iso_connection *connection) {
  iso_pg_session *s = connection->state;
  if (s == NULL) return;
  s->pq->freeCancel(s->cancel);
  s->pq->finish(s->handle);
  free(s);
  connection->state = NULL;
}

bool iso_pg_cancel(iso_connection *connection) {
  const iso_pg_session *s = connection->state;
  char words[256];
  return s != NULL && s->cancel != NULL && s->pq->cancel(s->cancel, words, sizeof words) != 0;
}

/* ---- what the server says of itself ---- */

/* A standby refuses serializable. */
static void add_isolations(iso_database *database, const char *initial, bool standby) {
  iso_claim claims[ISO_PRODUCT_LEVELS];
  size_t count = iso_product_claims(database->product, claims);
  for (size_t i = 0; i < count; i++)
    if (!standby || claims[i] != ISO_CLAIM_POSTGRES_SERIALIZABLE) iso_database_add_claim(database, claims[i]);
  for (size_t i = 0; i < database->isolation_count; i++)
    if (strcmp(database->isolations[i].name, database->product->initial) == 0) database->default_isolation = i;
  for (size_t i = 0; i < database->isolation_count; i++)
    if (strcmp(database->isolations[i].name, initial) == 0) database->default_isolation = i;
}

/* "PostgreSQL 15.18 (Debian ...) on x86_64...", or without what is between parentheses. */
static void take_version(iso_database *database, const char *version, bool standby) {
  const char *end = strstr(version, " ("), *on = strstr(version, " on ");
  if (database->product->number != NULL) {
    iso_product_version(database->product, version, database->version, sizeof database->version);
    return;
  }
  if (end == NULL || (on != NULL && on < end)) end = on;
  size_t length = end != NULL ? (size_t)(end - version) : strcspn(version, ",");
  snprintf(database->version, sizeof database->version, "%.*s%s", (int)(length < 100 ? length : 100), version,
           standby ? ", standby" : "");
}

/* Which product it is says what may be asked next. */
static isoproof_status learn_version(iso_database *database, iso_connection *connection, iso_reply *reply,
                                     bool *standby, isoproof_error *error) {
  char version[512];
  ISO_TRY(iso_sql_ask(connection, "SELECT version()", reply, error));
  const char *told = iso_reply_cell(reply, 0, 0);
  snprintf(version, sizeof version, "%s", told != NULL ? told : "");
  database->product = iso_product_of(ISO_SQL_POSTGRES, version);
  database->can.blocked &= database->product->blocked;
  database->can.rounds &= database->product->rounds;
  *standby = false;
  if (database->product->standbys) {
    ISO_TRY(iso_sql_ask(connection, "SELECT pg_is_in_recovery()", reply, error));
    const char *recovery = iso_reply_cell(reply, 0, 0);
    *standby = recovery != NULL && strcmp(recovery, "t") == 0;
  }
  take_version(database, version, *standby);
  return ISOPROOF_OK;
}

static isoproof_status learn(iso_database *database, iso_connection *connection, iso_reply *reply,
                             isoproof_error *error) {
  bool standby;
  ISO_TRY(learn_version(database, connection, reply, &standby, error));
  ISO_TRY(iso_sql_ask(
      connection,
      "SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'default_transaction_isolation', "
      "'fsync', 'synchronous_commit', 'full_page_writes', 'wal_level', 'deadlock_timeout', 'max_connections', "
      "'statement_timeout', 'lock_timeout', 'shared_buffers') ORDER BY name",
      reply, error));
  const char *initial = database->product->initial;
  char kept[ISO_SETTING_BYTES];
  for (size_t i = 0; iso_reply_cell(reply, i, 0) != NULL; i++) {
    const char *name = iso_reply_cell(reply, i, 0), *value = iso_reply_cell(reply, i, 1);
    iso_database_add_setting(database, name, value);
    if (strcmp(name, "default_transaction_isolation") != 0 || value == NULL) continue;
    snprintf(kept, sizeof kept, "%s", value);
    initial = kept;
  }
  add_isolations(database, initial, standby);
  return ISOPROOF_OK;
}

isoproof_status iso_pg_open(iso_database *database, isoproof_error *error) {
  database->dialect = ISO_SQL_POSTGRES;
  iso_pg_state *state = iso_alloc_zero(1, sizeof *state + database->nodes * sizeof *state->nodes);
  if (state == NULL) return iso_fail_memory(error);
  database->state = state;
  ISO_TRY(iso_pq_load(&state->pq, error));
  for (size_t i = 0; i < database->nodes; i++) ISO_TRY(iso_pg_node_read(database, i, error));
  return iso_sql_on_first_node(database, learn, error);
}

void iso_pg_close(iso_database *database) {
  iso_pg_state *state = database->state;
  if (state == NULL) return;
  for (size_t i = 0; i < database->nodes; i++) iso_pg_node_free(&state->pq, &state->nodes[i]);
  iso_pq_unload(&state->pq);
  free(state);
}

/* ---- several nodes ---- */

static isoproof_status log_position(iso_database *database, char *position, size_t size, isoproof_error *error) {
  iso_connection *connection;
  ISO_TRY(iso_connect_writable(database, &connection, error));
  iso_reply reply = {0};
  isoproof_status status = iso_sql_ask(connection, "SELECT pg_current_wal_lsn()", &reply, error);
  const char *found = iso_reply_cell(&reply, 0, 0);
  snprintf(position, size, "%s", found != NULL ? found : "");
  iso_reply_free(&reply);
  iso_disconnect(connection);
  return status;
}

isoproof_status iso_pg_settled(iso_connection *connection, bool *settled, isoproof_error *error) {
  iso_reply reply = {0};
  *settled = !connection->database->product->standbys;
  if (*settled) return ISOPROOF_OK;
  isoproof_status status = iso_sql_ask(connection, "SELECT pg_is_in_recovery()", &reply, error);
  const char *recovery = iso_reply_cell(&reply, 0, 0);
  *settled = recovery == NULL || strcmp(recovery, "t") != 0;
  if (status == ISOPROOF_OK && !*settled) {
    char position[32], sql[128];
    status = log_position(connection->database, position, sizeof position, error);
    snprintf(sql, sizeof sql, "SELECT pg_last_wal_replay_lsn() >= '%s'", position);
    if (status == ISOPROOF_OK) status = iso_sql_ask(connection, sql, &reply, error);
    const char *there = status == ISOPROOF_OK ? iso_reply_cell(&reply, 0, 0) : NULL;
    *settled = there != NULL && strcmp(there, "t") == 0;
  }
  iso_reply_free(&reply);
  return status;
}
