/* foreign.c - values that carry the run on their way into the tables, and what comes back without being ours. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "database/driver_table.h"

bool iso_tag_request(const iso_value_tag *tag, iso_driver_request *request) {
  if (tag->bits == 0) return true;
  switch (request->kind) {
  case ISO_WRITE:
  case ISO_INSERT:
  case ISO_UPDATE:
  case ISO_INCREMENT: /* the statement takes the second tag away again */
    return iso_value_tag_put(tag, request->value, &request->value);
  case ISO_APPEND:
    return iso_value_tag_put_element(tag, request->value, &request->value);
  case ISO_READ_RANGE:
  case ISO_COUNT:
    /* Tags are the low bits: the order is that of the values.  A bound that is too large is as good as the largest. */
    if (request->by_value) {
      iso_value_tag_put(tag, request->key, &request->key);
      iso_value_tag_put(tag, request->high, &request->high);
    }
    return true;
  default:
    return true;
  }
}

static void say_foreign(iso_reply *reply, const char *code, const char *message) {
  reply->outcome = ISO_OUTCOME_FOREIGN;
  reply->error_class = ISO_CLASS_OTHER;
  reply->present = false;
  reply->list.count = reply->rows.count = 0;
  snprintf(reply->code, sizeof reply->code, "%s", code);
  snprintf(reply->message, sizeof reply->message, "%s", message);
}

static void found_value(const iso_database *database, int64_t key, const char *what, int64_t stored, iso_reply *reply) {
  char table[ISO_TABLE_BYTES], message[ISO_MESSAGE_BYTES];
  iso_database_table(database, key, table);
  snprintf(message, sizeof message, "key %" PRId64 " of table %s holds %s%" PRId64 ", which this run did not write",
           key, table, what, stored);
  say_foreign(reply, "foreign", message);
}

/* The words of all databases for a table that is not there. */
static bool misses_table(const iso_reply *reply) {
  static const char *const codes[] = {"42P01", "42S02", "1146"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(reply->code, codes[i]) == 0) return true;
  return strstr(reply->message, "no such table") != NULL;
}

static void untag_list(const iso_database *database, const iso_driver_request *request, iso_reply *reply) {
  for (size_t i = 0; i < reply->list.count; i++) {
    int64_t stored = reply->list.items[i];
    if (iso_value_tag_get_element(&database->tag, stored, &reply->list.items[i])) continue;
    found_value(database, request->key, "the list element ", stored, reply);
    return;
  }
}

static void untag_rows(const iso_database *database, iso_reply *reply) {
  for (size_t i = 0; i < reply->rows.count; i++) {
    iso_row *row = &reply->rows.items[i];
    int64_t stored = row->value;
    if (iso_value_tag_get(&database->tag, stored, &row->value)) continue;
    found_value(database, row->key, "", stored, reply);
    return;
  }
}

/* A statement that the server, or the driver, refused. */
static void look_at_failure(const iso_database *database, const iso_driver_request *request, iso_reply *reply) {
  char table[ISO_TABLE_BYTES], message[ISO_MESSAGE_BYTES], code[ISO_CODE_BYTES];
  iso_database_table(database, request->key, table);
  memcpy(code, reply->code, sizeof code);
  if (reply->garbled) {
    snprintf(message, sizeof message,
             "key %" PRId64 " of table %s holds a text that is no list of numbers, which this run did not write",
             request->key, table);
    say_foreign(reply, "foreign", message);
  } else if (misses_table(reply)) {
    snprintf(message, sizeof message, "table %s is no longer there: %.150s", table, reply->message);
    say_foreign(reply, code, message);
  }
}

void iso_untag_reply(const iso_database *database, const iso_driver_request *request, iso_reply *reply) {
  if (database->tag.bits == 0 || iso_sql_of(request) == ISO_SQL_STATEMENTS) return;
  if (reply->outcome == ISO_OUTCOME_REJECTED && database->made) look_at_failure(database, request, reply);
  if (reply->outcome != ISO_OUTCOME_OK) return;
  int64_t stored = reply->value;
  if (request->kind == ISO_READ && reply->present && !iso_value_tag_get(&database->tag, stored, &reply->value))
    found_value(database, request->key, "", stored, reply);
  if (request->kind == ISO_READ_LIST) untag_list(database, request, reply);
  if (request->kind == ISO_READ_RANGE) untag_rows(database, reply);
}
