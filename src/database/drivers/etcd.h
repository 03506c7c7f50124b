/* etcd.h - a connection to etcd by its JSON gateway, shared by the files of its driver.
 *
 * Of a table NAME there are these keys, all of them behind the prefix that the URL may name: NAME holds its mark;
 * NAME:v:CODE the value of a row, NAME:l:CODE a list, as numbers with commas, where CODE is the key as a text that has
 * its order; NAME:d is written with every delete, so that who has read a range notices that a row of it is gone.
 * Nothing else is ever written or removed.
 *
 * An iso_etcd_session belongs to its iso_connection and owns the handles of libcurl, what was read and what is pending.
 */
#ifndef ISO_DATABASE_DRIVERS_ETCD_H
#define ISO_DATABASE_DRIVERS_ETCD_H

#include "base/json_writer.h"
#include "database/drivers/etcd_library.h"
#include "database/drivers/pending.h"

/* How a transaction reads, and what its commit compares: the levels of etcd's own client. */
typedef struct iso_etcd_level {
  const char *name;
  bool local;        /* reads ask the node alone, which may be behind the others: etcd calls such a read serializable */
  bool snapshot;     /* reads after the first one are of its revision */
  bool check_reads;  /* at the commit nothing of what was read may have changed */
  bool check_writes; /* nor what is written, since the first read */
} iso_etcd_level;

/* A row ('v') or a list ('l') as it was read. */
typedef struct iso_etcd_seen {
  char what;
  bool present;
  bool checked; /* an answer depends on it: the commit compares it, whatever the level */
  int64_t key, value;
  int64_t revision;     /* of its last change; 0: it is not there */
  size_t start, length; /* of a list, in `texts` of the session */
} iso_etcd_seen;

typedef struct iso_etcd_range {
  uint32_t table;
  int64_t low, high, revision;
} iso_etcd_range;

typedef struct iso_etcd_session {
  const iso_curl *curl; /* the state of the database */
  CURLM *multi;
  CURL *easy;
  struct curl_slist *headers;
  bool may_open; /* libcurl may open a connection: otherwise one that is lost stays lost */
  ISO_VEC(char) body, answer;
  iso_output *output; /* to `body` */
  bool too_large;
  char words[CURL_ERROR_SIZE];
  const iso_etcd_level *level;
  int64_t snapshot; /* revision of the first read; 0: none yet */
  iso_pending pending;
  ISO_VEC(iso_etcd_seen) seen;
  ISO_VEC(iso_etcd_range) ranges;
  ISO_VEC(char) texts;
} iso_etcd_session;

enum { ISO_ETCD_PREFIX_BYTES = 256, ISO_ETCD_KEY_BYTES = ISO_ETCD_PREFIX_BYTES + ISO_TABLE_BYTES + 24 };

/* ---- etcd_answer.c: what the gateway says ---- */

typedef struct iso_etcd_pair {
  size_t key, key_length, value, value_length; /* in `text` of the answer, both terminated */
  int64_t revision;                            /* of its last change */
} iso_etcd_pair;

/* The fields of all the answers that are asked for here; what one does not have is 0. */
typedef struct iso_etcd_answer {
  int64_t revision, count, code, leader, member;
  bool succeeded;
  size_t members;
  char message[ISO_MESSAGE_BYTES], token[512], version[ISO_SETTING_BYTES];
  ISO_VEC(iso_etcd_pair) pairs;
  ISO_VEC(char) text;
} iso_etcd_answer;

isoproof_status iso_etcd_read_answer(const char *text, size_t length, iso_etcd_answer *answer, isoproof_error *error);
void iso_etcd_answer_free(iso_etcd_answer *answer);
/* A field whose value is bytes, as the gateway wants them: in base64. */
void iso_etcd_field_bytes(isoproof_json *json, const char *name, const char *bytes, size_t length);
void iso_etcd_field_text(isoproof_json *json, const char *name, const char *text);

/* ---- etcd_ask.c: questions, and what errors mean ---- */

/* Begins a question; its fields come next. */
void iso_etcd_begin(iso_etcd_session *session, isoproof_json *json);
/* Sends what was begun and waits for the answer, at most so long (0: for ever).  False, with `words` of the session,
 * when there is none: the connection is lost, or somebody cancelled. */
bool iso_etcd_exchange(iso_etcd_session *session, const char *base, const char *path, uint32_t limit_ms,
                       const atomic_bool *cancelled);
/* The same for a request: false, and the reply says why, when there is no answer or it is an error.  `commits`: the
 * question may take effect without an answer.  The answer is to be freed in any case. */
bool iso_etcd_ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, isoproof_json *json,
                  const char *path, bool commits, iso_etcd_answer *answer);
/* What a code of gRPC is; *certain when nothing can have taken effect. */
iso_error_class iso_etcd_class(int64_t code, bool *certain);
/* Asks for what comes at a key, or (end not NULL) from a key on to before an end. */
void iso_etcd_write_range(isoproof_json *json, const char *key, const char *end);

/* PREFIX NAME */
void iso_etcd_mark_key(const iso_database *database, const char *table, char text[ISO_ETCD_KEY_BYTES]);
/* PREFIX NAME:what:CODE */
void iso_etcd_key(const iso_database *database, uint32_t table, char what, int64_t key, char text[ISO_ETCD_KEY_BYTES]);
/* The first key after it that may be. */
void iso_etcd_next(char text[ISO_ETCD_KEY_BYTES]);
/* PREFIX NAME:d */
void iso_etcd_delete_key(const iso_database *database, uint32_t table, char text[ISO_ETCD_KEY_BYTES]);
bool iso_etcd_decode(const char *text, size_t length, int64_t *key);

/* ---- etcd_read.c ---- */

/* What reads or changes rows and lists; changes only become pending. */
void iso_etcd_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
iso_etcd_seen *iso_etcd_find_seen(iso_etcd_session *session, char what, int64_t key);

/* ---- etcd_commit.c ---- */

/* Sends the transaction: what is compared, and what is written if all of that is still so. */
void iso_etcd_send(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* Whether there is anything to send. */
bool iso_etcd_has_more(const iso_etcd_session *session);

/* ---- etcd_tables.c ---- */

void iso_etcd_find_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_etcd_make_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_etcd_drop_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_etcd_list_tables(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
isoproof_status iso_etcd_settled(iso_connection *connection, bool *settled, isoproof_error *error);

/* ---- etcd_connect.c ---- */

isoproof_status iso_etcd_open(iso_database *database, isoproof_error *error);
void iso_etcd_close(iso_database *database);
isoproof_status iso_etcd_connect(iso_connection *connection, isoproof_error *error);
void iso_etcd_disconnect(iso_connection *connection);
bool iso_etcd_cancel(iso_connection *connection);
/* "http://host:port" */
void iso_etcd_base(const iso_url *url, char *text, size_t size);

#endif
