/* redis_read.c - what transactions on Redis read, and what they are going to change. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "database/drivers/redis.h"

/* How many rows are read by one command. */
enum { MOST_ROWS = 256 };

static bool is_number(const redisReply *answer, int64_t *number) {
  return answer->type == REDIS_REPLY_STRING && iso_parse_i64(answer->str, answer->len, number);
}

static void say_garbled(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_reply_client(connection, request, reply, "what is there is no number");
  reply->garbled = true;
}

static void watch(iso_redis_session *s, const char *key) {
  iso_redis_send(s, "WATCH %s", key);
  s->watching = true;
}

/* ---- one row ---- */

/* The row as the transaction sees it; `careful`: it is watched, whatever the level. */
static bool see_row(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool careful,
                    bool *present, int64_t *value) {
  iso_redis_session *s = connection->state;
  int64_t zero = connection->database->tag.tag;
  const iso_pending_write *before = iso_pending_find(&s->pending, request->key);
  *present = false;
  *value = 0;
  if (before == NULL || before->kind == ISO_PENDING_ADD) {
    char key[ISO_REDIS_KEY_BYTES];
    iso_redis_key(connection->database, 'v', request->key, key);
    /* What is added to counts from what is there now, until EXEC. */
    if (careful || before != NULL) watch(s, key);
    iso_redis_send(s, "GET %s", key);
    redisReply *answer = iso_redis_ask(connection, request, reply);
    if (answer == NULL) return false;
    *present = answer->type != REDIS_REPLY_NIL;
    bool good = !*present || is_number(answer, value);
    freeReplyObject(answer);
    if (!good) say_garbled(connection, request, reply);
    if (!good) return false;
  }
  iso_pending_see(&s->pending, request->key, zero, present, value);
  return true;
}

static void read_row(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_redis_session *s = connection->state;
  bool present;
  int64_t value;
  if (!see_row(connection, request, reply, s->careful, &present, &value)) return;
  reply->present = present;
  if (present) reply->value = value;
}

/* Changes that depend on whether the row is there: their answer holds only as long as that does. */
static void change_row(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  bool present, wanted = request->kind != ISO_INSERT;
  int64_t value;
  if (!see_row(connection, request, reply, true, &present, &value)) return;
  if (present != wanted) {
    reply->affected = 0;
    if (!wanted)
      iso_reply_fail(connection, request, reply, ISO_CLASS_CONSTRAINT, reply->txn, "exists",
                     "the key is there already");
    return;
  }
  iso_pending_kind kind = request->kind == ISO_DELETE ? ISO_PENDING_DELETE : ISO_PENDING_SET;
  if (!iso_pending_add(&s->pending, kind, request->key, request->value, connection->database->tag.tag))
    iso_reply_client(connection, request, reply, "memory is out");
  reply->affected = 1;
}

/* ---- lists ---- */

static void read_list(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  char key[ISO_REDIS_KEY_BYTES];
  iso_redis_key(connection->database, 'l', request->key, key);
  /* What is pending comes after what is there now: so it has to be until EXEC. */
  if (s->careful || iso_pending_has(&s->pending, ISO_PENDING_APPEND, &request->key)) watch(s, key);
  iso_redis_send(s, "LRANGE %s 0 -1", key);
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return;
  bool good = answer->elements <= ISO_MOST_LIST;
  for (size_t i = 0; good && i < answer->elements; i++) {
    int64_t number;
    reply->garbled = !is_number(answer->element[i], &number);
    good = !reply->garbled && iso_vec_push(&reply->list, number);
  }
  reply->present = answer->elements > 0;
  freeReplyObject(answer);
  if (good) good = iso_pending_see_list(&s->pending, request->key, reply);
  bool garbled = reply->garbled;
  if (!good) iso_reply_client(connection, request, reply, "the list is too long, or no list of numbers");
  reply->garbled = garbled;
}

/* ---- rows by key or value ---- */

/* Reads the values of keys that the index has; one that has none was removed in between. */
static bool read_some(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                      const int64_t *keys, size_t count) {
  iso_redis_session *s = connection->state;
  char texts[MOST_ROWS][ISO_REDIS_KEY_BYTES];
  const char *words[MOST_ROWS + 1];
  for (size_t i = 0; i < count; i++) {
    iso_redis_key(connection->database, 'v', keys[i], texts[i]);
    words[i + 1] = texts[i];
  }
  words[0] = "WATCH";
  if (s->careful) iso_redis_send_all(s, words, count + 1);
  s->watching |= s->careful;
  words[0] = "MGET";
  iso_redis_send_all(s, words, count + 1);
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return false;
  bool good = answer->elements == count, kept = true;
  for (size_t i = 0; good && kept && i < count; i++) {
    int64_t value;
    if (answer->element[i]->type == REDIS_REPLY_NIL) continue;
    good = is_number(answer->element[i], &value);
    kept = good && iso_reply_add_row(reply, keys[i], value);
  }
  freeReplyObject(answer);
  if (!good)
    say_garbled(connection, request, reply);
  else if (!kept)
    iso_reply_client(connection, request, reply, "the answer is too large");
  return good && kept;
}

static bool read_listed(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                        const redisReply *listed) {
  int64_t keys[MOST_ROWS];
  size_t count = 0;
  for (size_t i = 0; i < listed->elements; i++) {
    const redisReply *one = listed->element[i];
    if (one->type != REDIS_REPLY_STRING || !iso_redis_decode(one->str, &keys[count])) continue;
    if (++count < MOST_ROWS) continue;
    if (!read_some(connection, request, reply, keys, count)) return false;
    count = 0;
  }
  return count == 0 || read_some(connection, request, reply, keys, count);
}

/* The rows of one table; values have no index, so that all rows are read for them. */
static bool read_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, uint32_t number,
                       int64_t low, int64_t high) {
  iso_redis_session *s = connection->state;
  char table[ISO_TABLE_BYTES], from[ISO_REDIS_CODE_BYTES], to[ISO_REDIS_CODE_BYTES];
  iso_sql_table_name(connection->database, number, table);
  iso_redis_code(low, from);
  iso_redis_code(high, to);
  if (s->careful) iso_redis_send(s, "WATCH %s:k", table);
  s->watching |= s->careful;
  iso_redis_send(s, "ZRANGEBYLEX %s:k [%s [%s", table, from, to);
  redisReply *listed = iso_redis_ask(connection, request, reply);
  if (listed == NULL) return false;
  bool good = read_listed(connection, request, reply, listed);
  freeReplyObject(listed);
  return good;
}

static bool read_tables(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, int64_t low,
                        int64_t high) {
  iso_redis_session *s = connection->state;
  bool careful = s->careful, good = true;
  s->careful |= iso_pending_has(&s->pending, ISO_PENDING_ADD, NULL);
  for (uint32_t i = 0; good && i < connection->database->options.tables; i++)
    good = read_table(connection, request, reply, i, low, high);
  s->careful = careful;
  return good;
}

static void read_range(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_redis_session *s = connection->state;
  int64_t low = request->by_value ? INT64_MIN : request->key, high = request->by_value ? INT64_MAX : request->high;
  if (!read_tables(connection, request, reply, low, high)) return;
  iso_reply_sort_rows(reply);
  if (!iso_pending_see_rows(&s->pending, low, high, connection->database->tag.tag, reply)) {
    iso_reply_client(connection, request, reply, "the answer is too large");
    return;
  }
  size_t kept = 0;
  for (size_t i = 0; i < reply->rows.count; i++) {
    iso_row row = reply->rows.items[i];
    if (!request->by_value || (row.value >= request->key && row.value <= request->high))
      reply->rows.items[kept++] = row;
  }
  reply->rows.count = kept;
  if (request->kind != ISO_COUNT) return;
  reply->value = (int64_t)kept;
  reply->rows.count = 0;
}

/* ---- all ---- */

void iso_redis_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  iso_pending_kind kind = ISO_PENDING_NONE;
  switch (request->kind) {
  case ISO_READ:
    read_row(connection, request, reply);
    return;
  case ISO_READ_LIST:
    read_list(connection, request, reply);
    return;
  case ISO_READ_RANGE:
  case ISO_COUNT:
    read_range(connection, request, reply);
    return;
  case ISO_INSERT:
  case ISO_UPDATE:
  case ISO_DELETE:
    change_row(connection, request, reply);
    return;
  case ISO_WRITE:
    kind = ISO_PENDING_SET;
    break;
  case ISO_INCREMENT:
    kind = ISO_PENDING_ADD;
    break;
  default:
    kind = ISO_PENDING_APPEND;
    break;
  }
  reply->affected = 1;
  if (!iso_pending_add(&s->pending, kind, request->key, request->value, connection->database->tag.tag))
    iso_reply_client(connection, request, reply, "memory is out");
}
