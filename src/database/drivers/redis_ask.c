/* redis_ask.c - commands of Redis and their answers, what errors mean, and the names of keys. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "database/drivers/redis.h"

/* ---- errors ---- */

static const struct {
  const char *word;
  iso_error_class class;
} errors[] = {
    {"READONLY", ISO_CLASS_READ_ONLY},      {"LOADING", ISO_CLASS_UNAVAILABLE},  {"MASTERDOWN", ISO_CLASS_UNAVAILABLE},
    {"BUSY", ISO_CLASS_UNAVAILABLE},        {"OOM", ISO_CLASS_UNAVAILABLE},      {"MISCONF", ISO_CLASS_UNAVAILABLE},
    {"NOREPLICAS", ISO_CLASS_UNAVAILABLE},  {"TRYAGAIN", ISO_CLASS_UNAVAILABLE}, {"CLUSTERDOWN", ISO_CLASS_UNAVAILABLE},
    {"EXECABORT", ISO_CLASS_SERIALIZATION}, {"BUSYKEY", ISO_CLASS_CONSTRAINT},   {"MOVED", ISO_CLASS_STATEMENT},
    {"ERR", ISO_CLASS_STATEMENT},           {"WRONGTYPE", ISO_CLASS_STATEMENT},  {"NOPERM", ISO_CLASS_STATEMENT},
    {"NOAUTH", ISO_CLASS_STATEMENT},
};

iso_error_class iso_redis_class(const char *text, char code[ISO_CODE_BYTES]) {
  size_t length = strcspn(text, " ");
  snprintf(code, ISO_CODE_BYTES, "%.*s", (int)(length < ISO_CODE_BYTES ? length : ISO_CODE_BYTES - 1), text);
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (strcmp(code, errors[i].word) == 0) return errors[i].class;
  return ISO_CLASS_OTHER;
}

void iso_redis_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    const redisReply *answer, iso_txn_state txn) {
  char code[ISO_CODE_BYTES] = "";
  bool told = answer->type == REDIS_REPLY_ERROR;
  iso_error_class class = told ? iso_redis_class(answer->str, code) : ISO_CLASS_OTHER;
  iso_reply_fail(connection, request, reply, class, txn, code, told ? answer->str : "an answer that was not expected");
}

/* ---- commands ---- */

void iso_redis_send(iso_redis_session *session, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  /* Without memory the context has an error, which the next answer is. */
  redisvAppendCommand(session->context, format, arguments);
  va_end(arguments);
  session->sent++;
}

void iso_redis_send_all(iso_redis_session *session, const char *const *words, size_t count) {
  redisAppendCommandArgv(session->context, (int)count, (const char **)words, NULL);
  session->sent++;
}

redisReply *iso_redis_take(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  void *answer = NULL;
  s->sent--;
  if (redisGetReply(s->context, &answer) == REDIS_OK && answer != NULL) return answer;
  iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", s->context->errstr);
  return NULL;
}

redisReply *iso_redis_ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  redisReply *failed = NULL;
  for (;;) {
    redisReply *answer = iso_redis_take(connection, request, reply);
    bool bad = answer != NULL && answer->type == REDIS_REPLY_ERROR;
    if (answer != NULL && s->sent == 0 && !bad && failed == NULL) return answer;
    if (bad && failed == NULL) {
      failed = answer;
      answer = NULL;
      if (s->sent > 0) continue;
    }
    if (answer != NULL) freeReplyObject(answer);
    if (s->sent > 0 && !connection->broken) continue;
    if (failed != NULL && !connection->broken) iso_redis_fail(connection, request, reply, failed, reply->txn);
    if (failed != NULL) freeReplyObject(failed);
    s->sent = 0;
    return NULL;
  }
}

/* ---- keys ---- */

void iso_redis_code(int64_t key, char code[ISO_REDIS_CODE_BYTES]) {
  snprintf(code, ISO_REDIS_CODE_BYTES, "%016" PRIx64, (uint64_t)key ^ UINT64_C(1) << 63);
}

bool iso_redis_decode(const char *code, int64_t *key) {
  char *end = NULL;
  uint64_t number = strtoull(code, &end, 16);
  *key = (int64_t)(number ^ UINT64_C(1) << 63);
  return strlen(code) == ISO_REDIS_CODE_BYTES - 1 && *end == 0;
}

void iso_redis_key(const iso_database *database, char what, int64_t key, char text[ISO_REDIS_KEY_BYTES]) {
  char table[ISO_TABLE_BYTES];
  iso_sql_table_name(database, iso_sql_table(database, key), table);
  snprintf(text, ISO_REDIS_KEY_BYTES, "%s:%c:%" PRId64, table, what, key);
}
