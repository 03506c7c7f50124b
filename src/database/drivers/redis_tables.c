/* redis_tables.c - tables of ours among the keys of Redis: finding, making and removing them.
 *
 * A key is removed by its own name only, and only while the mark of its table is seen not to change.
 */
#include <stdio.h>
#include <string.h>

#include "database/drivers/redis.h"

/* Keys that one command removes, and that one look at the names of a server shows; looks before it is given up. */
enum { MOST_REMOVED = 256, SCAN_COUNT = 1000, MOST_SCANS = 2000 };

static const char *const endings[] = {":k", ":m"};

/* ---- finding ---- */

/* Kind, name, mark: as the catalogues of SQL answer. */
void iso_redis_find_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  iso_redis_send(s, "EXISTS %s %s:k %s:m", request->table, request->table, request->table);
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return;
  bool exists = answer->type == REDIS_REPLY_INTEGER && answer->integer > 0;
  freeReplyObject(answer);
  reply->columns = 4;
  if (!exists) return;
  iso_redis_send(s, "TYPE %s", request->table);
  answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return;
  bool text = answer->type == REDIS_REPLY_STATUS && strcmp(answer->str, "string") == 0;
  freeReplyObject(answer);
  answer = NULL;
  if (text) iso_redis_send(s, "GET %s", request->table);
  if (text && (answer = iso_redis_ask(connection, request, reply)) == NULL) return;
  const char *mark = answer != NULL && answer->type == REDIS_REPLY_STRING ? answer->str : "";
  reply->columns = 4;
  iso_mark ours;
  const char *kind = iso_mark_fits(mark, request->table, &ours) ? "table" : "key";
  bool good = iso_reply_add_cell(reply, kind, strlen(kind)) &&
              iso_reply_add_cell(reply, request->table, strlen(request->table)) &&
              iso_reply_add_cell(reply, mark, strlen(mark)) && iso_reply_add_cell(reply, "no", 2);
  if (answer != NULL) freeReplyObject(answer);
  if (!good) iso_reply_client(connection, request, reply, "memory is out");
}

void iso_redis_list_tables(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  char cursor[32] = "0";
  reply->columns = 1;
  for (int i = 0; i < MOST_SCANS && (i == 0 || strcmp(cursor, "0") != 0); i++) {
    iso_redis_send(s, "SCAN %s MATCH isoproof_* COUNT %d TYPE string", cursor, SCAN_COUNT);
    redisReply *answer = iso_redis_ask(connection, request, reply);
    if (answer == NULL) return;
    bool good = answer->elements == 2 && answer->element[0]->type == REDIS_REPLY_STRING;
    if (good) snprintf(cursor, sizeof cursor, "%s", answer->element[0]->str);
    for (size_t j = 0; good && j < answer->element[1]->elements; j++) {
      const char *name = answer->element[1]->element[j]->str;
      if (strchr(name, ':') == NULL) good = iso_reply_add_cell(reply, name, strlen(name));
    }
    freeReplyObject(answer);
    if (!good) {
      iso_reply_client(connection, request, reply, "the names of the server's keys are too many");
      return;
    }
  }
}

/* ---- making ---- */

void iso_redis_make_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  iso_redis_send(s, "SET %s %s NX", request->table, request->sql);
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return;
  bool taken = answer->type == REDIS_REPLY_NIL;
  freeReplyObject(answer);
  if (taken)
    iso_reply_fail(connection, request, reply, ISO_CLASS_CONSTRAINT, ISO_TXN_ABORTED, "exists", "the key is there");
}

/* ---- removing ---- */

/* Whether the mark is there and the one that is meant; from now on the server watches it. */
static bool watch_mark(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  iso_redis_send(s, "WATCH %s", request->table);
  iso_redis_send(s, "GET %s", request->table);
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return false;
  bool same = answer->type == REDIS_REPLY_STRING && strcmp(answer->str, request->sql) == 0;
  freeReplyObject(answer);
  if (!same)
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATE, ISO_TXN_ABORTED, "mark",
                   "the mark of the table changed");
  return same;
}

/* Removes keys if the mark is still the same. */
static bool remove_keys(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                        const char *const *keys, size_t count) {
  iso_redis_session *s = connection->state;
  const char *words[MOST_REMOVED + 1] = {"DEL"};
  for (size_t i = 0; i < count; i++) words[i + 1] = keys[i];
  if (!watch_mark(connection, request, reply)) return false;
  iso_redis_send(s, "MULTI");
  iso_redis_send_all(s, words, count + 1);
  iso_redis_send(s, "EXEC");
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return false;
  bool done = answer->type == REDIS_REPLY_ARRAY;
  freeReplyObject(answer);
  if (!done)
    iso_reply_fail(connection, request, reply, ISO_CLASS_SERIALIZATION, ISO_TXN_ABORTED, "EXEC",
                   "the mark of the table changed");
  return done;
}

/* Removes up to MOST_REMOVED rows or lists with their places in the index; *left when there may be more. */
static bool remove_some(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, size_t which,
                        bool *left) {
  iso_redis_session *s = connection->state;
  char index[ISO_REDIS_KEY_BYTES], texts[MOST_REMOVED][ISO_REDIS_KEY_BYTES];
  const char *keys[MOST_REMOVED], *words[MOST_REMOVED + 2] = {"ZREM", index};
  size_t count = 0;
  snprintf(index, sizeof index, "%s%s", request->table, endings[which]);
  iso_redis_send(s, "ZRANGE %s 0 %d", index, MOST_REMOVED - 1);
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer == NULL) return false;
  *left = answer->elements > 0;
  for (size_t i = 0; i < answer->elements && i < MOST_REMOVED; i++) {
    int64_t key;
    words[i + 2] = answer->element[i]->str;
    if (!iso_redis_decode(answer->element[i]->str, &key)) continue;
    snprintf(texts[count], sizeof texts[count], "%s:%c:%lld", request->table, which == 0 ? 'v' : 'l', (long long)key);
    keys[count] = texts[count];
    count++;
  }
  bool good = count == 0 || remove_keys(connection, request, reply, keys, count);
  if (good && *left) {
    iso_redis_send_all(s, words, answer->elements + 2);
    redisReply *removed = iso_redis_ask(connection, request, reply);
    good = removed != NULL;
    if (removed != NULL) freeReplyObject(removed);
  }
  freeReplyObject(answer);
  return good;
}

void iso_redis_drop_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  for (size_t which = 0; which < 2; which++) {
    bool left = true;
    while (left)
      if (!remove_some(connection, request, reply, which, &left)) return;
  }
  const char *keys[] = {request->table};
  remove_keys(connection, request, reply, keys, 1);
}
