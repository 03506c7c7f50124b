/* redis.h - a connection to Redis, shared by the files of its driver.
 *
 * Of a table NAME there are these keys: NAME holds its mark; NAME:v:KEY the value of a row, as a number; NAME:l:KEY a
 * list; NAME:k and NAME:m say of which keys there are rows and lists, as sorted sets of texts that have the order of
 * the keys.  Nothing else is ever written or removed.
 *
 * An iso_redis_session belongs to its iso_connection and owns the context of hiredis and what is pending.
 */
#ifndef ISO_DATABASE_DRIVERS_REDIS_H
#define ISO_DATABASE_DRIVERS_REDIS_H

#include <hiredis/hiredis.h>

#include "database/drivers/pending.h"

typedef struct iso_redis_session {
  redisContext *context;
  iso_pending pending;
  bool careful;  /* every key that is read is watched */
  bool watching; /* the server watches keys for this connection */
  size_t sent;   /* commands whose answers were not taken */
} iso_redis_session;

enum { ISO_REDIS_KEY_BYTES = ISO_TABLE_BYTES + 32, ISO_REDIS_CODE_BYTES = 17 };

/* ---- redis_ask.c: commands, their answers, and what errors mean ---- */

/* Sends a command with the next question; as of redisAppendCommand. */
void iso_redis_send(iso_redis_session *session, const char *format, ...);
void iso_redis_send_all(iso_redis_session *session, const char *const *words, size_t count);
/* The answer to the first command that has none yet, to be freed; NULL: the connection is lost, and the reply says so.
 */
redisReply *iso_redis_take(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* The answer to the last command sent; those before it must be fine.  NULL: the reply says why. */
redisReply *iso_redis_ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* Fills the reply from an answer that is an error. */
void iso_redis_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    const redisReply *answer, iso_txn_state txn);
/* What an error is, and its first word. */
iso_error_class iso_redis_class(const char *text, char code[ISO_CODE_BYTES]);

/* A key as a text that has its order. */
void iso_redis_code(int64_t key, char code[ISO_REDIS_CODE_BYTES]);
bool iso_redis_decode(const char *code, int64_t *key);
/* NAME:v:KEY, of the table of the key. */
void iso_redis_key(const iso_database *database, char what, int64_t key, char text[ISO_REDIS_KEY_BYTES]);

/* ---- redis_read.c ---- */

/* What reads or changes rows and lists; changes only become pending. */
void iso_redis_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);

/* ---- redis_tables.c ---- */

void iso_redis_find_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_redis_make_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_redis_drop_table(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_redis_list_tables(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);

/* ---- redis_connect.c ---- */

isoproof_status iso_redis_open(iso_database *database, isoproof_error *error);
void iso_redis_close(iso_database *database);
isoproof_status iso_redis_connect(iso_connection *connection, isoproof_error *error);
void iso_redis_disconnect(iso_connection *connection);
isoproof_status iso_redis_settled(iso_connection *connection, bool *settled, isoproof_error *error);
void iso_redis_library(char *buffer, size_t size);

#endif
