/* etcd_read.c - what transactions on etcd read, and what they are going to change. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "database/drivers/etcd.h"

static void say_garbled(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_reply_client(connection, request, reply, "what is there is no number");
  reply->garbled = true;
}

static bool no_memory(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_reply_client(connection, request, reply, "memory is out");
  return false;
}

/* ---- asking ---- */

/* How a read of this transaction is made: of the node alone, or of the revision of the first read, or the newest. */
static void write_how(const iso_etcd_session *s, isoproof_json *json) {
  bool bound = s->level->snapshot && s->snapshot > 0;
  if (s->level->local || bound) iso_json_field_bool(json, "serializable", true);
  if (bound) iso_json_field_i64(json, "revision", s->snapshot);
}

static bool ask_range(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, const char *key,
                      const char *end, bool count_only, iso_etcd_answer *answer) {
  iso_etcd_session *s = connection->state;
  isoproof_json json;
  iso_etcd_begin(s, &json);
  iso_etcd_write_range(&json, key, end);
  if (count_only) iso_json_field_bool(&json, "count_only", true);
  write_how(s, &json);
  if (!iso_etcd_ask(connection, request, reply, &json, "/v3/kv/range", false, answer)) return false;
  if (s->snapshot == 0) s->snapshot = answer->revision;
  return true;
}

/* ---- one row or list ---- */

iso_etcd_seen *iso_etcd_find_seen(iso_etcd_session *session, char what, int64_t key) {
  for (size_t i = 0; i < session->seen.count; i++)
    if (session->seen.items[i].what == what && session->seen.items[i].key == key) return &session->seen.items[i];
  return NULL;
}

/* Takes in what was answered about a key. */
static bool note(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_etcd_seen *seen,
                 const iso_etcd_answer *answer) {
  iso_etcd_session *s = connection->state;
  if (answer->pairs.count == 0) return true;
  const iso_etcd_pair *pair = &answer->pairs.items[0];
  const char *text = answer->text.items + pair->value;
  seen->present = true;
  seen->revision = pair->revision;
  if (seen->what == 'v' && !iso_parse_i64(text, pair->value_length, &seen->value)) {
    say_garbled(connection, request, reply);
    return false;
  }
  if (seen->what == 'v') return true;
  seen->start = s->texts.count;
  seen->length = pair->value_length;
  if (!iso_vec_reserve(&s->texts, pair->value_length + 1)) return no_memory(connection, request, reply);
  memcpy(s->texts.items + s->texts.count, text, pair->value_length);
  s->texts.count += pair->value_length;
  return true;
}

/* What the transaction finds at a key, without what is pending.  `check`: its answer holds only as long as that does.
 */
static bool look(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, char what, bool check,
                 iso_etcd_seen *found) {
  iso_etcd_session *s = connection->state;
  iso_etcd_seen *before = iso_etcd_find_seen(s, what, request->key);
  /* What the commit compares is not read again: all reads of it have to be of the same version. */
  if (before != NULL && (before->checked || s->level->check_reads)) {
    before->checked |= check;
    *found = *before;
    return true;
  }
  char key[ISO_ETCD_KEY_BYTES];
  iso_etcd_answer answer = {.revision = 0};
  *found = (iso_etcd_seen){.what = what, .key = request->key, .checked = check};
  iso_etcd_key(connection->database, iso_sql_table(connection->database, request->key), what, request->key, key);
  bool good = ask_range(connection, request, reply, key, NULL, false, &answer) &&
              note(connection, request, reply, found, &answer);
  iso_etcd_answer_free(&answer);
  if (!good) return false;
  if (before != NULL)
    *before = *found;
  else if (!iso_vec_push(&s->seen, *found))
    return no_memory(connection, request, reply);
  return true;
}

/* The row as the transaction sees it. */
static bool see_row(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool check,
                    bool *present, int64_t *value) {
  const iso_etcd_session *s = connection->state;
  *present = false;
  *value = 0;
  if (iso_pending_find(&s->pending, request->key) == NULL) {
    iso_etcd_seen found;
    if (!look(connection, request, reply, 'v', check, &found)) return false;
    *present = found.present;
    *value = found.value;
  }
  iso_pending_see(&s->pending, request->key, connection->database->tag.tag, present, value);
  return true;
}

static void read_row(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  bool present;
  int64_t value;
  if (!see_row(connection, request, reply, false, &present, &value)) return;
  reply->present = present;
  if (present) reply->value = value;
}

static void pend(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_pending_kind kind,
                 int64_t value) {
  iso_etcd_session *s = connection->state;
  reply->affected = 1;
  if (!iso_pending_add(&s->pending, kind, request->key, value, connection->database->tag.tag))
    (void)no_memory(connection, request, reply);
}

/* Changes that depend on whether the row is there. */
static void change_row(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  bool present, wanted = request->kind != ISO_INSERT;
  int64_t value;
  if (!see_row(connection, request, reply, true, &present, &value)) return;
  if (present == wanted) {
    pend(connection, request, reply, request->kind == ISO_DELETE ? ISO_PENDING_DELETE : ISO_PENDING_SET,
         request->value);
    return;
  }
  reply->affected = 0;
  if (!wanted)
    iso_reply_fail(connection, request, reply, ISO_CLASS_CONSTRAINT, reply->txn, "exists", "the key is there already");
}

static void increment(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  bool present;
  int64_t value;
  if (!see_row(connection, request, reply, true, &present, &value)) return;
  /* As it is stored: both carry the tag of the run, and the sum only once. */
  uint64_t sum = (uint64_t)value + (uint64_t)request->value - (uint64_t)connection->database->tag.tag;
  pend(connection, request, reply, ISO_PENDING_SET, present ? (int64_t)sum : request->value);
}

/* ---- lists ---- */

static void read_list(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_etcd_session *s = connection->state;
  iso_etcd_seen found;
  if (!look(connection, request, reply, 'l', false, &found)) return;
  bool good = !found.present || iso_reply_set_list(reply, s->texts.items + found.start, found.length);
  if (good) good = iso_pending_see_list(&s->pending, request->key, reply);
  bool garbled = reply->garbled;
  if (!good) iso_reply_client(connection, request, reply, "the list is too long, or no list of numbers");
  reply->garbled = garbled;
}

/* A list is written as a whole, and so is read before. */
static void append(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_etcd_seen found;
  if (look(connection, request, reply, 'l', true, &found))
    pend(connection, request, reply, ISO_PENDING_APPEND, request->value);
}

/* ---- rows by key or value ---- */

static bool take_rows(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                      const iso_etcd_answer *answer) {
  for (size_t i = 0; i < answer->pairs.count; i++) {
    const iso_etcd_pair *pair = &answer->pairs.items[i];
    int64_t key, value;
    if (!iso_etcd_decode(answer->text.items + pair->key, pair->key_length, &key) ||
        !iso_parse_i64(answer->text.items + pair->value, pair->value_length, &value)) {
      say_garbled(connection, request, reply);
      return false;
    }
    if (!iso_reply_add_row(reply, key, value)) {
      iso_reply_client(connection, request, reply, "the answer is too large");
      return false;
    }
  }
  return true;
}

/* One table; `counts`: only how many, which are added to the value of the reply. */
static bool read_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, uint32_t table,
                       const iso_etcd_range *of, bool counts) {
  iso_etcd_session *s = connection->state;
  char key[ISO_ETCD_KEY_BYTES], end[ISO_ETCD_KEY_BYTES];
  iso_etcd_answer answer = {.revision = 0};
  iso_etcd_range range = {table, of->low, of->high, 0};
  iso_etcd_key(connection->database, table, 'v', of->low, key);
  iso_etcd_key(connection->database, table, 'v', of->high, end);
  iso_etcd_next(end);
  bool good = ask_range(connection, request, reply, key, end, counts, &answer);
  if (good && counts) reply->value += answer.count;
  if (good && !counts) good = take_rows(connection, request, reply, &answer);
  range.revision = s->level->snapshot ? s->snapshot : answer.revision;
  iso_etcd_answer_free(&answer);
  if (good && s->level->check_reads && !iso_vec_push(&s->ranges, range)) return no_memory(connection, request, reply);
  return good;
}

/* Leaves what the condition on values takes. */
static void filter(const iso_driver_request *request, iso_reply *reply) {
  size_t kept = 0;
  for (size_t i = 0; i < reply->rows.count; i++) {
    iso_row row = reply->rows.items[i];
    if (!request->by_value || (row.value >= request->key && row.value <= request->high))
      reply->rows.items[kept++] = row;
  }
  reply->rows.count = kept;
}

static bool changes_rows(const iso_pending *pending) {
  return iso_pending_has(pending, ISO_PENDING_SET, NULL) || iso_pending_has(pending, ISO_PENDING_DELETE, NULL);
}

/* Of several tables each is a question of its own, at levels without a snapshot thus of a moment of its own. */
static void read_range(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_etcd_session *s = connection->state;
  iso_etcd_range all = {0, request->by_value ? INT64_MIN : request->key, request->by_value ? INT64_MAX : request->high,
                        0};
  bool counts = request->kind == ISO_COUNT && !request->by_value && !changes_rows(&s->pending);
  if (all.low > all.high) return;
  for (uint32_t i = 0; i < connection->database->options.tables; i++)
    if (!read_table(connection, request, reply, i, &all, counts)) return;
  if (counts) return;
  iso_reply_sort_rows(reply);
  if (!iso_pending_see_rows(&s->pending, all.low, all.high, connection->database->tag.tag, reply)) {
    iso_reply_client(connection, request, reply, "the answer is too large");
    return;
  }
  filter(request, reply);
  if (request->kind != ISO_COUNT) return;
  reply->value = (int64_t)reply->rows.count;
  reply->rows.count = 0;
}

/* ---- all ---- */

void iso_etcd_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  switch (request->kind) {
  case ISO_READ:
    read_row(connection, request, reply);
    break;
  case ISO_READ_LIST:
    read_list(connection, request, reply);
    break;
  case ISO_READ_RANGE:
  case ISO_COUNT:
    read_range(connection, request, reply);
    break;
  case ISO_INSERT:
  case ISO_UPDATE:
  case ISO_DELETE:
    change_row(connection, request, reply);
    break;
  case ISO_INCREMENT:
    increment(connection, request, reply);
    break;
  case ISO_APPEND:
    append(connection, request, reply);
    break;
  default:
    pend(connection, request, reply, ISO_PENDING_SET, request->value);
    break;
  }
}
