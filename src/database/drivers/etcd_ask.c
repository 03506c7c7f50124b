/* etcd_ask.c - questions to etcd's JSON gateway by libcurl, their answers, what errors mean, and the names of keys.
 *
 * libcurl repeats a request by itself when a connection that it kept turns out to be closed, and a transaction that is
 * sent twice finds its own writes and says that it failed.  So a session has one connection: libcurl may open it once,
 * and what is asked without it is lost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/task.h"
#include "database/drivers/etcd.h"

/* How long a server is waited for that does not answer in time; how often is looked whether somebody cancelled. */
enum { GRACE_MS = 1000, LOOK_MS = 1000 };

/* ---- errors ---- */

/* Codes of gRPC.  Of those that are not certain etcd may have proposed the transaction to the others already. */
static const struct {
  int64_t code;
  iso_error_class class;
  bool certain;
} errors[] = {
    {1, ISO_CLASS_CANCELLED, false},  /* cancelled */
    {3, ISO_CLASS_STATEMENT, true},   /* invalid argument: too many operations, too large, a user that is not there */
    {4, ISO_CLASS_TIMEOUT, false},    /* deadline exceeded */
    {5, ISO_CLASS_STATEMENT, true},   /* not found: no such path */
    {7, ISO_CLASS_STATEMENT, true},   /* permission denied */
    {8, ISO_CLASS_UNAVAILABLE, true}, /* resource exhausted: no space, too many requests */
    {9, ISO_CLASS_STATEMENT, true},   /* failed precondition */
    {11, ISO_CLASS_SERIALIZATION, true}, /* out of range: the revision was compacted, or is yet to come */
    {12, ISO_CLASS_STATEMENT, true},     /* unimplemented */
    {14, ISO_CLASS_UNAVAILABLE, false},  /* unavailable: no leader, timed out */
    {16, ISO_CLASS_UNAVAILABLE, true},   /* unauthenticated: the token is old */
};

enum { CODE_UNAUTHENTICATED = 16 };

iso_error_class iso_etcd_class(int64_t code, bool *certain) {
  *certain = false;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].code != code) continue;
    *certain = errors[i].certain;
    return errors[i].class;
  }
  return ISO_CLASS_OTHER;
}

/* ---- the exchange ---- */

void iso_etcd_begin(iso_etcd_session *session, isoproof_json *json) {
  session->body.count = 0;
  iso_json_writer_init(json, session->output, ISO_JSON_PLAIN);
  isoproof_json_object(json);
}

static int wait_of(double until) {
  double left = (until - iso_now()) * 1000;
  return until <= 0 || left > LOOK_MS ? LOOK_MS : left > 1 ? (int)left : 1;
}

/* Drives the transfer to its end; the reason when it fails is in `words`. */
static bool transfer(iso_etcd_session *s, double until, const atomic_bool *cancelled) {
  for (;;) {
    int running = 0, left;
    if (s->curl->multi_perform(s->multi, &running) != CURLM_OK) break;
    const CURLMsg *message = s->curl->multi_info_read(s->multi, &left);
    if (message != NULL && message->msg == CURLMSG_DONE) {
      CURLcode code = message->data.result;
      if (code != CURLE_OK && s->words[0] == 0) snprintf(s->words, sizeof s->words, "%s", s->curl->easy_strerror(code));
      return code == CURLE_OK;
    }
    if (cancelled != NULL && atomic_load(cancelled)) {
      snprintf(s->words, sizeof s->words, "cancelled");
      return false;
    }
    if (until > 0 && iso_now() >= until) {
      snprintf(s->words, sizeof s->words, "no answer in time");
      return false;
    }
    if (s->curl->multi_poll(s->multi, NULL, 0, wait_of(until), NULL) != CURLM_OK) break;
  }
  snprintf(s->words, sizeof s->words, "libcurl failed");
  return false;
}

bool iso_etcd_exchange(iso_etcd_session *session, const char *base, const char *path, uint32_t limit_ms,
                       const atomic_bool *cancelled) {
  char address[1024];
  snprintf(address, sizeof address, "%s%s", base, path);
  session->answer.count = 0;
  session->words[0] = 0;
  session->too_large = false;
  session->curl->easy_setopt(session->easy, CURLOPT_URL, address);
  session->curl->easy_setopt(session->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)session->body.count);
  session->curl->easy_setopt(session->easy, CURLOPT_POSTFIELDS, session->body.items);
  if (session->curl->multi_add_handle(session->multi, session->easy) != CURLM_OK) {
    snprintf(session->words, sizeof session->words, "libcurl failed");
    return false;
  }
  bool done = transfer(session, limit_ms > 0 ? iso_now() + limit_ms / 1e3 : 0, cancelled);
  session->curl->multi_remove_handle(session->multi, session->easy);
  return done;
}

/* ---- requests ---- */

static void say_lost(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool commits) {
  iso_etcd_session *s = connection->state;
  if (s->too_large) {
    s->may_open = true; /* it was us who closed the connection */
    iso_reply_client(connection, request, reply, "the answer is too large");
  } else if (atomic_load(&connection->cancelled)) {
    s->may_open = true;
    iso_reply_fail(connection, request, reply, ISO_CLASS_CANCELLED, commits ? ISO_TXN_UNKNOWN : ISO_TXN_ABORTED, "",
                   s->words);
  } else {
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", s->words);
  }
}

static void say_error(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool commits,
                      const iso_etcd_answer *answer) {
  char code[ISO_CODE_BYTES];
  bool certain;
  iso_error_class class = iso_etcd_class(answer->code, &certain);
  snprintf(code, sizeof code, "%" PRId64, answer->code);
  iso_reply_fail(connection, request, reply, class, commits && !certain ? ISO_TXN_UNKNOWN : ISO_TXN_ABORTED, code,
                 answer->message);
  /* A new connection asks for a new token. */
  if (answer->code == CODE_UNAUTHENTICATED) connection->broken = true;
}

bool iso_etcd_ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, isoproof_json *json,
                  const char *path, bool commits, iso_etcd_answer *answer) {
  iso_etcd_session *s = connection->state;
  const iso_database *database = connection->database;
  uint32_t limit = database->options.statement_timeout_ms;
  char base[512];
  long status = 0;
  isoproof_json_end(json);
  iso_output_flush(s->output);
  iso_etcd_base(&database->urls[connection->node], base, sizeof base);
  if (!iso_etcd_exchange(s, base, path, limit > 0 ? limit + GRACE_MS : 0, &connection->cancelled)) {
    say_lost(connection, request, reply, commits);
    return false;
  }
  s->curl->easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
  s->may_open = false;
  isoproof_error error = {.offset = -1};
  if (iso_etcd_read_answer(s->answer.items, s->answer.count, answer, &error) != ISOPROOF_OK) {
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", error.message);
    return false;
  }
  if (status == 200) return true;
  say_error(connection, request, reply, commits, answer);
  return false;
}

void iso_etcd_write_range(isoproof_json *json, const char *key, const char *end) {
  iso_etcd_field_text(json, "key", key);
  if (end != NULL) iso_etcd_field_text(json, "range_end", end);
}

/* ---- keys ---- */

void iso_etcd_mark_key(const iso_database *database, const char *table, char text[ISO_ETCD_KEY_BYTES]) {
  const char *prefix = database->urls[0].path;
  snprintf(text, ISO_ETCD_KEY_BYTES, "%.*s%s%s", ISO_ETCD_PREFIX_BYTES - 2, prefix, prefix[0] != 0 ? "/" : "", table);
}

void iso_etcd_key(const iso_database *database, uint32_t table, char what, int64_t key, char text[ISO_ETCD_KEY_BYTES]) {
  char name[ISO_TABLE_BYTES];
  iso_sql_table_name(database, table, name);
  iso_etcd_mark_key(database, name, text);
  size_t used = strlen(text);
  snprintf(text + used, ISO_ETCD_KEY_BYTES - used, ":%c:%016" PRIx64, what, (uint64_t)key ^ UINT64_C(1) << 63);
}

void iso_etcd_next(char text[ISO_ETCD_KEY_BYTES]) {
  size_t length = strlen(text);
  /* No key goes on here: what all of them have at most is the last digit. */
  text[length] = '!';
  text[length + 1] = 0;
}

void iso_etcd_delete_key(const iso_database *database, uint32_t table, char text[ISO_ETCD_KEY_BYTES]) {
  char name[ISO_TABLE_BYTES];
  iso_sql_table_name(database, table, name);
  iso_etcd_mark_key(database, name, text);
  size_t used = strlen(text);
  snprintf(text + used, ISO_ETCD_KEY_BYTES - used, ":d");
}

bool iso_etcd_decode(const char *text, size_t length, int64_t *key) {
  enum { DIGITS = 16 };
  if (length < DIGITS) return false;
  char *end = NULL;
  uint64_t number = strtoull(text + length - DIGITS, &end, 16);
  *key = (int64_t)(number ^ UINT64_C(1) << 63);
  return end == text + length;
}
