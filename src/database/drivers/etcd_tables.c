/* etcd_tables.c - tables of ours among the keys of etcd: finding, making and removing them.
 *
 * Keys are removed by a transaction that compares the mark of their table.
 */
#include <stdio.h>
#include <string.h>

#include "database/drivers/etcd.h"

/* Looks at the names of a server before it is given up. */
enum { MOST_LOOKS = 10000 };

/* ---- finding ---- */

/* What is at a key, or the first of what comes from it on to before an end. */
static bool look(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, const char *key,
                 const char *end, bool local, iso_etcd_answer *answer) {
  isoproof_json json;
  iso_etcd_begin(connection->state, &json);
  iso_etcd_write_range(&json, key, end);
  if (end != NULL) iso_json_field_i64(&json, "limit", 1);
  if (end != NULL) iso_json_field_bool(&json, "keys_only", true);
  if (local) iso_json_field_bool(&json, "serializable", true);
  return iso_etcd_ask(connection, request, reply, &json, "/v3/kv/range", false, answer);
}

/* Kind, name, mark: as the catalogues of SQL answer. */
void iso_etcd_find_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  char key[ISO_ETCD_KEY_BYTES], first[ISO_ETCD_KEY_BYTES + 2], end[ISO_ETCD_KEY_BYTES + 2];
  iso_etcd_answer mark = {.revision = 0}, others = {.revision = 0};
  iso_etcd_mark_key(connection->database, request->table, key);
  snprintf(first, sizeof first, "%s:", key);
  snprintf(end, sizeof end, "%s;", key);
  reply->columns = 4;
  if (look(connection, request, reply, key, NULL, false, &mark) &&
      look(connection, request, reply, first, end, false, &others) && mark.pairs.count + others.pairs.count > 0) {
    const char *text = mark.pairs.count > 0 ? mark.text.items + mark.pairs.items[0].value : "";
    iso_mark ours;
    const char *kind = iso_mark_fits(text, request->table, &ours) ? "table" : "key";
    reply->columns = 4;
    if (!iso_reply_add_cell(reply, kind, strlen(kind)) ||
        !iso_reply_add_cell(reply, request->table, strlen(request->table)) ||
        !iso_reply_add_cell(reply, text, strlen(text)) || !iso_reply_add_cell(reply, "no", 2))
      iso_reply_client(connection, request, reply, "memory is out");
  }
  iso_etcd_answer_free(&mark);
  iso_etcd_answer_free(&others);
}

/* Takes in the name of a mark, and goes on behind it, or behind all that belongs to a name. */
static bool take_name(iso_reply *reply, const char *found, size_t prefix, char from[ISO_ETCD_KEY_BYTES]) {
  const char *colon = strchr(found + prefix, ':');
  size_t length = colon != NULL ? (size_t)(colon - found) : strlen(found);
  if (length + 2 > ISO_ETCD_KEY_BYTES) length = ISO_ETCD_KEY_BYTES - 2;
  snprintf(from, ISO_ETCD_KEY_BYTES, "%.*s%s", (int)length, found, colon != NULL ? ";" : "!");
  return colon != NULL || iso_reply_add_cell(reply, found + prefix, length - prefix);
}

void iso_etcd_list_tables(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  char from[ISO_ETCD_KEY_BYTES], end[ISO_ETCD_KEY_BYTES];
  iso_etcd_mark_key(connection->database, "isoproof_", from);
  iso_etcd_mark_key(connection->database, "isoproof`", end);
  size_t prefix = strlen(from) - strlen("isoproof_");
  bool more = true, kept = true;
  reply->columns = 1;
  for (int i = 0; i < MOST_LOOKS && more && kept; i++) {
    iso_etcd_answer answer = {.revision = 0};
    if (!look(connection, request, reply, from, end, false, &answer)) kept = more = false;
    reply->columns = 1;
    more = more && answer.pairs.count > 0;
    if (more) kept = take_name(reply, answer.text.items + answer.pairs.items[0].key, prefix, from);
    iso_etcd_answer_free(&answer);
  }
  if (reply->outcome == ISO_OUTCOME_OK && (more || !kept))
    iso_reply_client(connection, request, reply, "the names of the server's keys are too many");
}

isoproof_status iso_etcd_settled(iso_connection *connection, bool *settled, isoproof_error *error) {
  iso_reply reply = {0};
  char table[ISO_TABLE_BYTES], key[ISO_ETCD_KEY_BYTES];
  iso_driver_request request = {.kind = ISO_FIND_TABLE};
  iso_etcd_answer answer = {.revision = 0};
  (void)error;
  iso_database_table(connection->database, (int64_t)connection->database->options.tables - 1, table);
  iso_etcd_mark_key(connection->database, table, key);
  *settled = look(connection, &request, &reply, key, NULL, true, &answer) && answer.pairs.count > 0;
  iso_etcd_answer_free(&answer);
  iso_reply_free(&reply);
  return ISOPROOF_OK;
}

/* ---- making ---- */

/* Sends a transaction; *done whether what it compares was so. */
static bool send_transaction(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                             isoproof_json *json, bool *done) {
  iso_etcd_answer answer = {.revision = 0};
  bool good = iso_etcd_ask(connection, request, reply, json, "/v3/kv/txn", true, &answer);
  *done = answer.succeeded;
  iso_etcd_answer_free(&answer);
  return good;
}

void iso_etcd_make_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  isoproof_json json;
  char key[ISO_ETCD_KEY_BYTES];
  bool done;
  iso_etcd_mark_key(connection->database, request->table, key);
  iso_etcd_begin(connection->state, &json);
  iso_json_field_list(&json, "compare");
  isoproof_json_object(&json);
  iso_json_field_text(&json, "target", "VERSION");
  iso_json_field_text(&json, "result", "EQUAL");
  iso_etcd_field_text(&json, "key", key);
  iso_json_field_i64(&json, "version", 0);
  isoproof_json_end(&json);
  isoproof_json_end(&json);
  iso_json_field_list(&json, "success");
  isoproof_json_object(&json);
  iso_json_field_object(&json, "request_put");
  iso_etcd_field_text(&json, "key", key);
  iso_etcd_field_text(&json, "value", request->sql);
  isoproof_json_end(&json);
  isoproof_json_end(&json);
  isoproof_json_end(&json);
  if (send_transaction(connection, request, reply, &json, &done) && !done)
    iso_reply_fail(connection, request, reply, ISO_CLASS_CONSTRAINT, ISO_TXN_ABORTED, "exists", "the key is there");
}

/* ---- removing ---- */

static void write_delete(isoproof_json *json, const char *key, const char *end) {
  isoproof_json_object(json);
  iso_json_field_object(json, "request_delete_range");
  iso_etcd_write_range(json, key, end);
  isoproof_json_end(json);
  isoproof_json_end(json);
}

/* All rows, or all lists: from the first code to the last one. */
static void write_delete_all(isoproof_json *json, const char *mark, char what) {
  char first[ISO_ETCD_KEY_BYTES + 24], end[ISO_ETCD_KEY_BYTES + 24];
  snprintf(first, sizeof first, "%s:%c:0000000000000000", mark, what);
  snprintf(end, sizeof end, "%s:%c:ffffffffffffffff!", mark, what);
  write_delete(json, first, end);
}

void iso_etcd_drop_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  isoproof_json json;
  char key[ISO_ETCD_KEY_BYTES], deleted[ISO_ETCD_KEY_BYTES + 4];
  bool done;
  iso_etcd_mark_key(connection->database, request->table, key);
  snprintf(deleted, sizeof deleted, "%s:d", key);
  iso_etcd_begin(connection->state, &json);
  iso_json_field_list(&json, "compare");
  isoproof_json_object(&json);
  iso_json_field_text(&json, "target", "VALUE");
  iso_json_field_text(&json, "result", "EQUAL");
  iso_etcd_field_text(&json, "key", key);
  iso_etcd_field_text(&json, "value", request->sql);
  isoproof_json_end(&json);
  isoproof_json_end(&json);
  iso_json_field_list(&json, "success");
  write_delete_all(&json, key, 'v');
  write_delete_all(&json, key, 'l');
  write_delete(&json, deleted, NULL);
  write_delete(&json, key, NULL);
  isoproof_json_end(&json);
  if (send_transaction(connection, request, reply, &json, &done) && !done)
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATE, ISO_TXN_ABORTED, "mark",
                   "the mark of the table changed");
}
