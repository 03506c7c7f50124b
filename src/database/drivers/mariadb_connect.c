/* mariadb_connect.c - connecting to MariaDB and MySQL, what the server says of itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/drivers/mariadb.h"

/* How long a server that does not keep its own timeout is waited for. */
enum { GRACE_MS = 1000 };

static unsigned seconds_of(uint32_t milliseconds) { return (milliseconds + 999) / 1000; }

/* ---- connecting ---- */

static const iso_mysql *my_of(const iso_database *database) { return &((const iso_maria_server *)database->state)->my; }

static isoproof_status connect_handle(const iso_database *database, size_t node, MYSQL **handle,
                                      isoproof_error *error) {
  const iso_url *url = &database->urls[node];
  const iso_database_options *options = &database->options;
  const iso_mysql *my = my_of(database);
  *handle = my->mysql_init(NULL);
  if (*handle == NULL) return iso_fail_memory(error);
  unsigned connect = seconds_of(options->connect_timeout_ms),
           answer = seconds_of(options->statement_timeout_ms + GRACE_MS);
  my->mysql_optionsv(*handle, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
  if (options->statement_timeout_ms > 0) {
    my->mysql_optionsv(*handle, MYSQL_OPT_READ_TIMEOUT, &answer);
    my->mysql_optionsv(*handle, MYSQL_OPT_WRITE_TIMEOUT, &answer);
  }
  my->mysql_optionsv(*handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  iso_maria_set_options(my, url, *handle);
  const char *socket = iso_url_option(url, "socket"), *password = url->password;
  if (password == NULL) password = iso_url_option(url, "password");
  if (password == NULL) password = options->password;
  if (password == NULL && iso_maria_alone(url)) password = "";
  /* What is NULL or 0 is found by the client library: in option files, in the environment, or as its default. */
  const char *host = socket != NULL ? "localhost" : url->host;
  if (my->mysql_real_connect(*handle, host, url->user, password, url->path[0] != 0 ? url->path : NULL, url->port,
                             socket, CLIENT_FOUND_ROWS) == NULL)
    return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s", url->shown, my->mysql_error(*handle));
  if (iso_maria_wants_tls(url) && my->mysql_get_ssl_cipher(*handle) == NULL)
    return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: the URL asks for TLS, which the server does not have",
                    url->shown);
  return (*handle)->db != NULL && (*handle)->db[0] != 0 ? ISOPROOF_OK : iso_maria_no_database(url, error);
}

static isoproof_status send_statement(const iso_maria_session *s, const iso_url *url, const char *sql,
                                      isoproof_error *error) {
  if (s->my->mysql_query(s->handle, sql) == 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s: %s", url->shown, sql, s->my->mysql_error(s->handle));
}

static const iso_product *product_of(const iso_maria_session *s) {
  const char *version = s->my->mysql_get_server_info(s->handle);
  return iso_product_of(ISO_SQL_MARIADB, version != NULL ? version : "");
}

/* MariaDB counts in seconds, the others in milliseconds. */
static void limit_text(const iso_product *product, uint32_t milliseconds, char *sql, size_t size) {
  if (product->id == ISO_PRODUCT_MARIADB)
    snprintf(sql, size, "SET SESSION max_statement_time = %.3f", milliseconds / 1000.0);
  else
    snprintf(sql, size, "SET SESSION max_execution_time = %" PRIu32, milliseconds);
}

static isoproof_status set_session(const iso_database *database, size_t node, const iso_maria_session *s,
                                   isoproof_error *error) {
  const iso_url *url = &database->urls[node];
  const iso_database_options *options = &database->options;
  char sql[96];
  ISO_TRY(send_statement(s, url, "SET SESSION autocommit = 1", error));
  if (options->lock_timeout_ms > 0) {
    snprintf(sql, sizeof sql, "SET SESSION innodb_lock_wait_timeout = %u", seconds_of(options->lock_timeout_ms));
    ISO_TRY(send_statement(s, url, sql, error));
  }
  if (options->statement_timeout_ms > 0) {
    limit_text(product_of(s), options->statement_timeout_ms, sql, sizeof sql);
    ISO_TRY(send_statement(s, url, sql, error));
  }
  const char *init = iso_url_option(url, "init");
  return init != NULL ? send_statement(s, url, init, error) : ISOPROOF_OK;
}

isoproof_status iso_maria_connect(iso_connection *connection, isoproof_error *error) {
  iso_maria_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->my = my_of(connection->database);
  connection->state = s;
  ISO_TRY(connect_handle(connection->database, connection->node, &s->handle, error));
  ISO_TRY(set_session(connection->database, connection->node, s, error));
  connection->server_id = s->my->mysql_thread_id(s->handle);
  return ISOPROOF_OK;
}

void iso_maria_disconnect(iso_connection *connection) {
  iso_maria_session *s = connection->state;
  if (s == NULL) return;
  for (size_t i = 0; i < ISO_MOST_PLACES; i++)
    for (size_t j = 0; j < ISO_SQL_STATEMENTS; j++)
      if (s->statements[i][j] != NULL) s->my->mysql_stmt_close(s->statements[i][j]);
  if (s->handle != NULL) s->my->mysql_close(s->handle);
  iso_vec_free(&s->text);
  free(s);
  connection->state = NULL;
}

bool iso_maria_cancel(iso_connection *connection) {
  const iso_mysql *my = my_of(connection->database);
  MYSQL *handle = NULL;
  char sql[64];
  snprintf(sql, sizeof sql, "KILL QUERY %" PRIu64, connection->server_id);
  bool done = connect_handle(connection->database, connection->node, &handle, NULL) == ISOPROOF_OK &&
              my->mysql_query(handle, sql) == 0;
  if (handle != NULL) my->mysql_close(handle);
  return done;
}

/* ---- what the server says of itself ---- */

static void add_isolations(iso_database *database, bool snapshot, bool galera) {
  iso_claim claims[ISO_PRODUCT_LEVELS];
  size_t count = iso_product_claims(database->product, claims);
  for (size_t i = 0; i < count; i++) iso_database_add_claim(database, claims[i]);
  if (count > 0) return;
  iso_database_add_claim(database, ISO_CLAIM_INNODB_READ_UNCOMMITTED);
  iso_database_add_claim(database, ISO_CLAIM_INNODB_READ_COMMITTED);
  if (galera && !snapshot)
    iso_database_add_claim(database, ISO_CLAIM_GALERA_REPEATABLE_READ);
  else
    iso_database_add_innodb(database, snapshot);
  iso_database_add_claim(database, galera ? ISO_CLAIM_GALERA_SERIALIZABLE : ISO_CLAIM_INNODB_SERIALIZABLE);
}

/* Takes the variables that matter; the default level by its name in *initial. */
static void take_variables(iso_database *database, const iso_reply *reply, char initial[ISO_SETTING_BYTES],
                           bool *snapshot) {
  iso_maria_server *server = database->state;
  for (size_t i = 0; iso_reply_cell(reply, i, 0) != NULL; i++) {
    const char *name = iso_reply_cell(reply, i, 0), *value = iso_reply_cell(reply, i, 1);
    if (value == NULL) continue;
    bool on = strcasecmp(value, "ON") == 0 || strcmp(value, "1") == 0;
    iso_database_add_setting(database, name, value);
    if (strcasecmp(name, "innodb_snapshot_isolation") == 0) *snapshot = on;
    if (strcasecmp(name, "innodb_rollback_on_timeout") == 0) server->rollback_on_timeout = on;
    if (strcasecmp(name, "wsrep_on") == 0) server->galera = on;
    if (strcasecmp(name, "tx_isolation") == 0 || strcasecmp(name, "transaction_isolation") == 0)
      snprintf(initial, ISO_SETTING_BYTES, "%s", value);
  }
}

static isoproof_status learn_version(iso_database *database, iso_connection *connection, iso_reply *reply,
                                     isoproof_error *error) {
  const iso_maria_server *server = database->state;
  const iso_maria_session *s = connection->state;
  const char *version = s->my->mysql_get_server_info(s->handle);
  int length = version != NULL ? (int)strcspn(version, "-") : 0;
  int used = snprintf(database->version, sizeof database->version, "%s %.*s", database->product->title,
                      length < 60 ? length : 60, version != NULL ? version : "");
  if (database->product->number != NULL)
    iso_product_version(database->product, version, database->version, sizeof database->version);
  if (!server->galera) return ISOPROOF_OK;
  ISO_TRY(iso_sql_ask(connection, "SHOW STATUS LIKE 'wsrep_cluster_size'", reply, error));
  const char *size = iso_reply_cell(reply, 0, 1);
  snprintf(database->version + used, sizeof database->version - (size_t)used, ", Galera of %.8s",
           size != NULL ? size : "?");
  return ISOPROOF_OK;
}

static isoproof_status learn(iso_database *database, iso_connection *connection, iso_reply *reply,
                             isoproof_error *error) {
  ISO_TRY(iso_sql_ask(connection,
                      "SHOW VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'tx_isolation', "
                      "'transaction_isolation', 'innodb_snapshot_isolation', 'innodb_rollback_on_timeout', "
                      "'innodb_deadlock_detect', 'innodb_flush_log_at_trx_commit', 'innodb_lock_wait_timeout', "
                      "'sync_binlog', 'wsrep_on', "
                      "'wsrep_sync_wait', 'max_connections', 'max_statement_time')",
                      reply, error));
  const iso_maria_session *s = connection->state;
  database->product = product_of(s);
  database->can.blocked &= database->product->blocked;
  database->can.rounds &= database->product->rounds;
  char initial[ISO_SETTING_BYTES];
  snprintf(initial, sizeof initial, "%s", database->product->initial);
  bool snapshot = false;
  take_variables(database, reply, initial, &snapshot);
  ISO_TRY(learn_version(database, connection, reply, error));
  const iso_maria_server *server = database->state;
  add_isolations(database, snapshot, server->galera);
  const iso_isolation *found;
  if (iso_database_find_isolation(database, initial, &found, NULL) == ISOPROOF_OK)
    database->default_isolation = (size_t)(found - database->isolations);
  return ISOPROOF_OK;
}

isoproof_status iso_maria_open(iso_database *database, isoproof_error *error) {
  for (size_t i = 0; i < database->nodes; i++) {
    const iso_url *url = &database->urls[i];
    ISO_TRY(iso_maria_check_options(url, error));
    iso_secrets_except(&database->secrets, url->user);
    iso_secrets_except(&database->secrets, url->host);
    iso_secrets_except(&database->secrets, url->path);
  }
  if (!iso_secrets_add(&database->secrets, getenv("MYSQL_PWD"))) return iso_fail_memory(error);
  database->dialect = ISO_SQL_MARIADB;
  iso_maria_server *server = iso_alloc_zero(1, sizeof *server);
  if (server == NULL) return iso_fail_memory(error);
  database->state = server;
  ISO_TRY(iso_mysql_load(&server->my, error));
  return iso_sql_on_first_node(database, learn, error);
}

void iso_maria_close(iso_database *database) {
  iso_maria_server *server = database->state;
  if (server != NULL) iso_mysql_unload(&server->my);
  free(server);
}

/* ---- several nodes ---- */

isoproof_status iso_maria_settled(iso_connection *connection, bool *settled, isoproof_error *error) {
  const iso_maria_server *server = connection->database->state;
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  char sql[128], table[ISO_TABLE_BYTES];
  iso_database_table(connection->database, 0, table);
  snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s", table);
  /* A read that waits for everything that was committed anywhere. */
  if (server->galera) status = iso_sql_ask(connection, "SET SESSION wsrep_sync_wait = 1", &reply, error);
  *settled = status == ISOPROOF_OK && iso_execute(connection, sql, &reply) == ISO_OUTCOME_OK;
  iso_reply_free(&reply);
  return status;
}
