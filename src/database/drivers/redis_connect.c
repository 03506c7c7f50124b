/* redis_connect.c - connecting to Redis, and what the server says of itself. */
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "base/text.h"
#include "database/drivers/redis.h"

/* How long a server is waited for that does not answer in time. */
enum { GRACE_MS = 1000, DEFAULT_PORT = 6379 };

void iso_redis_library(char *buffer, size_t size) {
  snprintf(buffer, size, "hiredis %d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}

static struct timeval time_of(uint32_t milliseconds) {
  return (struct timeval){.tv_sec = milliseconds / 1000, .tv_usec = (suseconds_t)(milliseconds % 1000) * 1000};
}

/* ---- connecting ---- */

static isoproof_status cannot(const iso_url *url, const char *words, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s", url->shown, words);
}

/* One command whose answer has to be fine; its number goes to *number. */
static isoproof_status ask(const iso_url *url, redisContext *context, const char *const *words, size_t count,
                           uint64_t *number, isoproof_error *error) {
  redisReply *answer = redisCommandArgv(context, (int)count, (const char **)words, NULL);
  if (answer == NULL) return cannot(url, context->errstr, error);
  isoproof_status status = answer->type == REDIS_REPLY_ERROR ? cannot(url, answer->str, error) : ISOPROOF_OK;
  if (number != NULL && answer->type == REDIS_REPLY_INTEGER) *number = (uint64_t)answer->integer;
  freeReplyObject(answer);
  return status;
}

static isoproof_status log_in(const iso_database *database, const iso_url *url, redisContext *context,
                              isoproof_error *error) {
  const char *password = url->password != NULL ? url->password : database->options.password;
  if (password != NULL && url->user != NULL && url->user[0] != 0)
    ISO_TRY(ask(url, context, (const char *[]){"AUTH", url->user, password}, 3, NULL, error));
  else if (password != NULL)
    ISO_TRY(ask(url, context, (const char *[]){"AUTH", password}, 2, NULL, error));
  if (url->path[0] == 0) return ISOPROOF_OK;
  return ask(url, context, (const char *[]){"SELECT", url->path}, 2, NULL, error);
}

isoproof_status iso_redis_connect(iso_connection *connection, isoproof_error *error) {
  const iso_database *database = connection->database;
  const iso_url *url = &database->urls[connection->node];
  iso_redis_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  connection->state = s;
  const char *host = url->host != NULL ? url->host : "127.0.0.1";
  struct timeval limit = time_of(database->options.connect_timeout_ms);
  s->context = redisConnectWithTimeout(host, (int)(url->port != 0 ? url->port : DEFAULT_PORT), limit);
  if (s->context == NULL) return iso_fail_memory(error);
  if (s->context->err != 0) return cannot(url, s->context->errstr, error);
  redisSetTimeout(s->context, limit);
  ISO_TRY(log_in(database, url, s->context, error));
  ISO_TRY(ask(url, s->context, (const char *[]){"CLIENT", "ID"}, 2, &connection->server_id, error));
  uint32_t statement = database->options.statement_timeout_ms;
  redisSetTimeout(s->context, time_of(statement > 0 ? statement + GRACE_MS : 0));
  return ISOPROOF_OK;
}

void iso_redis_disconnect(iso_connection *connection) {
  iso_redis_session *s = connection->state;
  if (s == NULL) return;
  if (s->context != NULL) redisFree(s->context);
  iso_vec_free(&s->pending.writes);
  free(s);
  connection->state = NULL;
}

/* ---- what the server says of itself ---- */

/* The value of a line "name:value" of INFO; "" when there is none. */
static void info_value(const char *text, const char *name, char value[ISO_SETTING_BYTES]) {
  size_t length = strlen(name);
  value[0] = 0;
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, name, length) != 0 || line[length] != ':') continue;
    snprintf(value, ISO_SETTING_BYTES, "%.*s", (int)strcspn(line + length + 1, "\r\n"), line + length + 1);
    return;
  }
}

static void learn_section(iso_database *database, redisContext *context, const char *section,
                          const char *const *names) {
  redisReply *answer = redisCommand(context, "INFO %s", section);
  for (; answer != NULL && answer->type == REDIS_REPLY_STRING && *names != NULL; names++) {
    char value[ISO_SETTING_BYTES];
    info_value(answer->str, *names, value);
    if (value[0] != 0) iso_database_add_setting(database, *names, value);
    if (strcmp(*names, "redis_version") == 0)
      snprintf(database->version, sizeof database->version, "Redis %s%s", value,
               database->nodes > 1 ? ", with replicas" : "");
  }
  if (answer != NULL) freeReplyObject(answer);
}

/* What a replica shows may be old, and nobody documents how old. */
static void add_isolations(iso_database *database) {
  bool replicas = database->nodes > 1;
  iso_database_add_claim(database, replicas ? ISO_CLAIM_REDIS_REPLICA_MULTI : ISO_CLAIM_REDIS_MULTI);
  database->default_isolation = database->isolation_count;
  iso_database_add_claim(database, replicas ? ISO_CLAIM_REDIS_REPLICA_WATCH : ISO_CLAIM_REDIS_WATCH);
}

static isoproof_status check_url(const iso_url *url, isoproof_error *error) {
  uint64_t number;
  if (url->option_count > 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected no options", url->shown);
  if (url->path[0] == 0 || iso_parse_u64(url->path, strlen(url->path), &number)) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "%s: expected the number of a database, as in redis://host:port/0, found another path", url->shown);
}

isoproof_status iso_redis_open(iso_database *database, isoproof_error *error) {
  static const char *const server[] = {"redis_version", "redis_mode", NULL};
  static const char *const replication[] = {"role", "master_link_status", "connected_slaves", NULL};
  static const char *const others[] = {"aof_enabled", "maxmemory_policy", NULL};
  for (size_t i = 0; i < database->nodes; i++) {
    ISO_TRY(check_url(&database->urls[i], error));
    iso_secrets_except(&database->secrets, database->urls[i].user);
    iso_secrets_except(&database->secrets, database->urls[i].host);
  }
  database->dialect = ISO_SQL_NONE;
  iso_connection *connection;
  ISO_TRY(iso_connect(database, 0, &connection, error));
  redisContext *context = ((iso_redis_session *)connection->state)->context;
  snprintf(database->version, sizeof database->version, "Redis");
  learn_section(database, context, "server", server);
  learn_section(database, context, "replication", replication);
  learn_section(database, context, "persistence", others);
  learn_section(database, context, "memory", others);
  add_isolations(database);
  iso_disconnect(connection);
  return ISOPROOF_OK;
}

void iso_redis_close(iso_database *database) { (void)database; }

/* ---- several nodes ---- */

isoproof_status iso_redis_settled(iso_connection *connection, bool *settled, isoproof_error *error) {
  iso_reply reply = {0};
  char table[ISO_TABLE_BYTES];
  (void)error;
  iso_database_table(connection->database, (int64_t)connection->database->options.tables - 1, table);
  iso_driver_request find = {.kind = ISO_FIND_TABLE, .table = table};
  *settled = iso_do(connection, &find, &reply) == ISO_OUTCOME_OK && reply.cells.count > 0;
  iso_reply_free(&reply);
  return ISOPROOF_OK;
}
