/* firebird_error.c - what an error of Firebird means for its transaction.
 *
 * Firebird undoes the statement that failed and leaves the transaction open, after a deadlock, too.  What is not known
 * to be like that is rolled back at once.  A commit that failed is rolled back as well: when the server confirms that,
 * the commit has not happened.
 */
#include <stdio.h>
#include <string.h>

#include "database/drivers/firebird.h"

/* The first of these that the status has, in this order, says what it is: a status is a list that goes from the general
 * to the special, and back. */
static const struct {
  ISC_STATUS code;
  iso_error_class class;
} errors[] = {
    {isc_att_shutdown, ISO_CLASS_CONNECTION},
    {isc_shutdown, ISO_CLASS_CONNECTION},
    {isc_net_read_err, ISO_CLASS_CONNECTION},
    {isc_net_write_err, ISO_CLASS_CONNECTION},
    {isc_network_error, ISO_CLASS_CONNECTION},
    {isc_net_connect_err, ISO_CLASS_CONNECTION},
    {isc_lost_db_connection, ISO_CLASS_CONNECTION},
    {isc_conn_lost, ISO_CLASS_CONNECTION},
    {isc_bad_db_handle, ISO_CLASS_CONNECTION},
    {isc_cancelled, ISO_CLASS_CANCELLED},
    {isc_lock_timeout, ISO_CLASS_LOCK_TIMEOUT},
    {isc_update_conflict, ISO_CLASS_SERIALIZATION},
    {isc_sing_select_err, ISO_CLASS_SERIALIZATION}, /* an update of a row that was inserted anew sees the old one, too,
                                                       which it could not change either */
    {isc_deadlock, ISO_CLASS_DEADLOCK},
    {isc_obj_in_use, ISO_CLASS_BUSY},
    {isc_lock_conflict, ISO_CLASS_BUSY},
    {isc_unique_key_violation, ISO_CLASS_CONSTRAINT},
    {isc_no_dup, ISO_CLASS_CONSTRAINT},
    {isc_foreign_key, ISO_CLASS_CONSTRAINT},
    {isc_check_constraint, ISO_CLASS_CONSTRAINT},
    {isc_not_valid, ISO_CLASS_CONSTRAINT},
    {isc_read_only_trans, ISO_CLASS_READ_ONLY},
    {isc_read_only_database, ISO_CLASS_READ_ONLY},
    {isc_bad_segstr_id, ISO_CLASS_SERIALIZATION}, /* a list that others changed between its row and its text */
    {isc_unavailable, ISO_CLASS_UNAVAILABLE},
    {isc_no_meta_update, ISO_CLASS_STATEMENT},
    {isc_dsql_error, ISO_CLASS_STATEMENT},
    {isc_sqlerr, ISO_CLASS_STATEMENT},
    {isc_arith_except, ISO_CLASS_STATEMENT},
    {isc_convert_error, ISO_CLASS_STATEMENT},
    {isc_no_priv, ISO_CLASS_STATEMENT},
};

static bool has(const ISC_STATUS *status, ISC_STATUS code) {
  for (size_t i = 0; i < ISC_STATUS_LENGTH && status[i] != isc_arg_end;) {
    if (status[i] == isc_arg_gds && status[i + 1] == code) return true;
    i += status[i] == isc_arg_cstring ? 3 : 2;
  }
  return false;
}

/* At read committed, before 4.0, who waited for a transaction that deleted the row gets an error without a code of its
 * own. */
static bool is_erased(const ISC_STATUS *status) {
  static const char words[] = "cannot update erased record";
  return status[0] == isc_arg_gds && status[1] == isc_random && status[2] == isc_arg_string &&
         strncmp((const char *)status[3], words, sizeof words - 1) == 0;
}

/* What no row above has is told by its SQLSTATE. */
static const struct {
  const char *prefix;
  iso_error_class class;
} states[] = {
    {"08", ISO_CLASS_CONNECTION}, {"23", ISO_CLASS_CONSTRAINT}, {"07", ISO_CLASS_STATEMENT},
    {"22", ISO_CLASS_STATEMENT},  {"42", ISO_CLASS_STATEMENT},
};

static iso_error_class class_of(const ISC_STATUS *status, const char *state) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (has(status, errors[i].code)) return errors[i].class;
  if (is_erased(status)) return ISO_CLASS_SERIALIZATION;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (strncmp(state, states[i].prefix, strlen(states[i].prefix)) == 0) return states[i].class;
  return ISO_CLASS_OTHER;
}

void iso_fire_words(const iso_fbclient *fb, const ISC_STATUS *status, char *buffer, size_t size) {
  size_t used = 0;
  char part[512];
  buffer[0] = 0;
  while (used + 1 < size && fb->fb_interpret(part, sizeof part, &status) > 0)
    used += (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? "; " : "", part);
}

bool iso_fire_roll_back(const iso_fbclient *fb, isc_tr_handle *txn) {
  ISC_STATUS_ARRAY status = {0};
  return *txn == 0 || fb->isc_rollback_transaction(status, txn) == 0;
}

/* Somebody else put the same key there at the same time: it is no fault of a statement that would have changed it. */
static iso_error_class class_for(const iso_connection *connection, const iso_driver_request *request,
                                 iso_error_class class) {
  const iso_fire_session *s = connection->state;
  bool upserts = request->kind == ISO_WRITE || request->kind == ISO_INCREMENT || request->kind == ISO_APPEND;
  if (class == ISO_CLASS_CONSTRAINT && upserts) return ISO_CLASS_SERIALIZATION;
  if (class == ISO_CLASS_CANCELLED && atomic_load(&s->timed_out)) return ISO_CLASS_TIMEOUT;
  return class;
}

void iso_fire_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  char code[ISO_CODE_BYTES] = "", message[ISO_MESSAGE_BYTES];
  s->fb->fb_sqlstate(code, s->status);
  iso_fire_words(s->fb, s->status, message, sizeof message);
  iso_error_class class = class_for(connection, request, class_of(s->status, code));
  if (class == ISO_CLASS_CONNECTION) {
    iso_reply_lost(connection, request, reply, class, code, message);
    return;
  }
  iso_txn_state txn = reply->txn;
  bool inside = connection->txn == ISO_TXN_ACTIVE;
  if (inside && (request->kind == ISO_COMMIT || class == ISO_CLASS_OTHER)) {
    if (!iso_fire_roll_back(s->fb, &s->txn)) {
      iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, code, message);
      return;
    }
    txn = ISO_TXN_ABORTED;
  }
  /* Work of a statement whose own commit failed would be committed with the next one. */
  if (!inside && !iso_fire_roll_back(s->fb, &s->alone)) {
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, code, message);
    return;
  }
  iso_reply_fail(connection, request, reply, class, txn, code, message);
}
