/* etcd_commit.c - a transaction of etcd: one question that compares what was read, and writes if nothing changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "database/drivers/etcd.h"

/* ---- what is compared ---- */

/* A list of the transaction, whose name is written when its first element comes. */
typedef struct list {
  isoproof_json *json;
  const char *name;
  bool open;
} list;

static void begin_element(list *l) {
  if (!l->open) iso_json_field_list(l->json, l->name);
  l->open = true;
  isoproof_json_object(l->json);
}

static void end_list(list *l) {
  if (l->open) isoproof_json_end(l->json);
  l->open = false;
}

/* That the last change of a key, or of every key up to an end, is of a revision, or of one before it. */
static void compare(list *l, const char *key, const char *end, const char *how, int64_t revision) {
  begin_element(l);
  iso_json_field_text(l->json, "target", "MOD");
  iso_json_field_text(l->json, "result", how);
  iso_etcd_write_range(l->json, key, end);
  iso_json_field_i64(l->json, "mod_revision", revision);
  isoproof_json_end(l->json);
}

static void compare_seen(const iso_database *database, const iso_etcd_session *s, list *l) {
  for (size_t i = 0; i < s->seen.count; i++) {
    const iso_etcd_seen *seen = &s->seen.items[i];
    char key[ISO_ETCD_KEY_BYTES];
    if (!seen->checked && !s->level->check_reads) continue;
    iso_etcd_key(database, iso_sql_table(database, seen->key), seen->what, seen->key, key);
    compare(l, key, NULL, "EQUAL", seen->revision);
  }
}

/* No row has come into a range or changed in it, and none of the table was deleted. */
static void compare_ranges(const iso_database *database, const iso_etcd_session *s, list *l) {
  for (size_t i = 0; i < s->ranges.count; i++) {
    const iso_etcd_range *range = &s->ranges.items[i];
    char key[ISO_ETCD_KEY_BYTES], end[ISO_ETCD_KEY_BYTES];
    iso_etcd_key(database, range->table, 'v', range->low, key);
    iso_etcd_key(database, range->table, 'v', range->high, end);
    iso_etcd_next(end);
    compare(l, key, end, "LESS", range->revision + 1);
    iso_etcd_delete_key(database, range->table, key);
    compare(l, key, NULL, "LESS", range->revision + 1);
  }
}

static void compare_written(const iso_database *database, iso_etcd_session *s, list *l) {
  if (!s->level->check_writes || s->snapshot == 0) return;
  for (size_t i = 0; i < s->pending.writes.count; i++) {
    const iso_pending_write *write = &s->pending.writes.items[i];
    char key[ISO_ETCD_KEY_BYTES], what = write->kind == ISO_PENDING_APPEND ? 'l' : 'v';
    if (iso_etcd_find_seen(s, what, write->key) != NULL) continue;
    iso_etcd_key(database, iso_sql_table(database, write->key), what, write->key, key);
    compare(l, key, NULL, "LESS", s->snapshot + 1);
  }
}

/* ---- what is written ---- */

static void put(list *l, const char *key, const char *value, size_t length) {
  begin_element(l);
  iso_json_field_object(l->json, "request_put");
  iso_etcd_field_text(l->json, "key", key);
  iso_etcd_field_bytes(l->json, "value", value, length);
  isoproof_json_end(l->json);
  isoproof_json_end(l->json);
}

static void write_row(const iso_database *database, const iso_pending_write *write, list *l) {
  char key[ISO_ETCD_KEY_BYTES], value[24];
  iso_etcd_key(database, iso_sql_table(database, write->key), 'v', write->key, key);
  if (write->kind == ISO_PENDING_DELETE) {
    begin_element(l);
    iso_json_field_object(l->json, "request_delete_range");
    iso_etcd_field_text(l->json, "key", key);
    isoproof_json_end(l->json);
    isoproof_json_end(l->json);
  } else {
    int length = snprintf(value, sizeof value, "%" PRId64, write->value);
    put(l, key, value, (size_t)length);
  }
}

/* What was there and all that is appended, with the first of the elements that are pending; false when memory is out.
 */
static bool write_list(const iso_database *database, iso_etcd_session *s, size_t at, list *l) {
  const iso_pending_write *writes = s->pending.writes.items;
  int64_t number = writes[at].key;
  for (size_t i = 0; i < at; i++)
    if (writes[i].kind == ISO_PENDING_APPEND && writes[i].key == number) return true;
  const iso_etcd_seen *seen = iso_etcd_find_seen(s, 'l', number);
  size_t start = s->texts.count, length = seen != NULL && seen->present ? seen->length : 0;
  if (!iso_vec_reserve(&s->texts, length)) return false;
  if (length > 0) memcpy(s->texts.items + start, s->texts.items + seen->start, length);
  s->texts.count += length;
  for (size_t i = at; i < s->pending.writes.count; i++) {
    char text[24];
    if (writes[i].kind != ISO_PENDING_APPEND || writes[i].key != number) continue;
    int size = snprintf(text, sizeof text, "%s%" PRId64, s->texts.count > start ? "," : "", writes[i].value);
    if (!iso_vec_reserve(&s->texts, (size_t)size)) return false;
    memcpy(s->texts.items + s->texts.count, text, (size_t)size);
    s->texts.count += (size_t)size;
  }
  char key[ISO_ETCD_KEY_BYTES];
  iso_etcd_key(database, iso_sql_table(database, number), 'l', number, key);
  put(l, key, s->texts.items + start, s->texts.count - start);
  return true;
}

static bool write_all(const iso_database *database, iso_etcd_session *s, list *l) {
  uint64_t deleted = 0; /* a bit per table */
  _Static_assert(ISO_MOST_TABLES <= 64, "a bit per table");
  for (size_t i = 0; i < s->pending.writes.count; i++) {
    const iso_pending_write *write = &s->pending.writes.items[i];
    if (write->kind == ISO_PENDING_APPEND) {
      if (!write_list(database, s, i, l)) return false;
      continue;
    }
    write_row(database, write, l);
    if (write->kind == ISO_PENDING_DELETE) deleted |= UINT64_C(1) << iso_sql_table(database, write->key);
  }
  for (uint32_t i = 0; i < database->options.tables; i++) {
    char key[ISO_ETCD_KEY_BYTES];
    if ((deleted >> i & 1) == 0) continue;
    iso_etcd_delete_key(database, i, key);
    put(l, key, "1", 1);
  }
  return true;
}

/* ---- all ---- */

bool iso_etcd_has_more(const iso_etcd_session *session) {
  bool compares = session->ranges.count > 0;
  for (size_t i = 0; i < session->seen.count && !compares; i++)
    compares = session->seen.items[i].checked || session->level->check_reads;
  return compares || session->pending.writes.count > 0;
}

void iso_etcd_send(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_etcd_session *s = connection->state;
  const iso_database *database = connection->database;
  isoproof_json json;
  iso_etcd_answer answer = {.revision = 0};
  list compares = {&json, "compare", false}, writes = {&json, "success", false};
  iso_etcd_begin(s, &json);
  compare_seen(database, s, &compares);
  compare_ranges(database, s, &compares);
  compare_written(database, s, &compares);
  end_list(&compares);
  bool good = write_all(database, s, &writes);
  end_list(&writes);
  if (!good)
    iso_reply_fail(connection, request, reply, ISO_CLASS_CLIENT, ISO_TXN_ABORTED, "", "memory is out");
  else if (iso_etcd_ask(connection, request, reply, &json, "/v3/kv/txn", true, &answer)) {
    if (answer.succeeded)
      reply->txn = ISO_TXN_COMMITTED;
    else
      iso_reply_fail(connection, request, reply, ISO_CLASS_SERIALIZATION, ISO_TXN_ABORTED, "compare",
                     "what was read, or is to be written, has changed since");
  }
  iso_etcd_answer_free(&answer);
}
