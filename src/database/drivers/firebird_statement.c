/* firebird_statement.c - prepared statements of Firebird: what reads or changes rows. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "database/drivers/firebird.h"

/* The beginning of a list comes with its row, the rest has to be asked for; LIST_BYTES is also in the statement. */
enum { MOST_VARIABLES = 3, LIST_BYTES = 8000, SEGMENT_BYTES = 32000 };

static const struct {
  const char *text, *parameters, *columns;
} forms[ISO_FIRE_FORMS] = {
#define ISO_X(name, text, parameters, columns) {text, parameters, columns},
    ISO_FIRE_STATEMENT_LIST(ISO_X)
#undef ISO_X
};

/* ---- which statement ---- */

static iso_fire_form form_of(const iso_driver_request *request) {
  switch (request->kind) {
  case ISO_READ:
    return ISO_FIRE_READ;
  case ISO_WRITE:
    return ISO_FIRE_WRITE;
  case ISO_INCREMENT:
    return ISO_FIRE_INCREMENT;
  case ISO_READ_LIST:
    return ISO_FIRE_READ_LIST;
  case ISO_APPEND:
    return ISO_FIRE_APPEND;
  case ISO_INSERT:
    return ISO_FIRE_INSERT;
  case ISO_DELETE:
    return ISO_FIRE_DELETE;
  case ISO_UPDATE:
    return ISO_FIRE_UPDATE;
  case ISO_READ_RANGE:
    return request->by_value ? ISO_FIRE_RANGE_OF_VALUES : ISO_FIRE_RANGE_OF_KEYS;
  case ISO_COUNT:
    return request->by_value ? ISO_FIRE_COUNT_OF_VALUES : ISO_FIRE_COUNT_OF_KEYS;
  default:
    return ISO_FIRE_FORMS;
  }
}

/* Puts the name of the table and the stored zero into a statement; false when it is too long. */
static bool write_text(iso_fire_form form, const char *table, int64_t zero, char *buffer, size_t size) {
  size_t used = 0;
  char before = ' ';
  for (const char *at = forms[form].text; *at != 0; before = *at++) {
    bool alone = (before == ' ' || before == '(') && !isalnum((unsigned char)at[1]) && used < size;
    if (alone && *at == 'T')
      used += (size_t)snprintf(buffer + used, size - used, "%s", table);
    else if (alone && *at == 'Z')
      used += (size_t)snprintf(buffer + used, size - used, "%" PRId64, zero);
    else if (used < size)
      buffer[used++] = *at;
  }
  if (used >= size) return false;
  buffer[used] = 0;
  return true;
}

/* To prepare a statement is to read the catalogue.  In a transaction that locks what it reads that would lock the
 * catalogue, so it is done in one that locks nothing, and that costs the server nothing. */
static bool prepare_aside(iso_fire_session *s, isc_stmt_handle *statement, const char *text) {
  static const char parameters[] = {isc_tpb_version3, isc_tpb_read, isc_tpb_nowait, isc_tpb_read_committed,
                                    isc_tpb_rec_version};
  if (s->aside == 0 && s->fb->isc_start_transaction(s->status, &s->aside, 1, &s->attachment,
                                                    (unsigned short)sizeof parameters, parameters) != 0)
    return false;
  return s->fb->isc_dsql_allocate_statement(s->status, &s->attachment, statement) == 0 &&
         s->fb->isc_dsql_prepare(s->status, &s->aside, statement, 0, text, SQL_DIALECT_V6, NULL) == 0;
}

static isc_stmt_handle *prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                                iso_fire_form form, uint32_t table) {
  iso_fire_session *s = connection->state;
  isc_stmt_handle *statement = &s->statements[table][form];
  if (*statement != 0) return statement;
  char name[ISO_TABLE_BYTES], text[ISO_SQL_BYTES * 2];
  iso_sql_table_name(connection->database, table, name);
  if (!write_text(form, name, connection->database->tag.tag, text, sizeof text)) {
    iso_reply_client(connection, request, reply, "the statement is too long");
    return NULL;
  }
  if (prepare_aside(s, statement, text)) return statement;
  ISC_STATUS_ARRAY ignored;
  if (*statement != 0) s->fb->isc_dsql_free_statement(ignored, statement, DSQL_drop);
  *statement = 0;
  iso_fire_fail(connection, request, reply);
  return NULL;
}

/* ---- parameters and columns ---- */

/* An XSQLDA has room for one variable; the others follow it. */
typedef union variables {
  XSQLDA head;
  char room[sizeof(XSQLDA) + (MOST_VARIABLES - 1) * sizeof(XSQLVAR)];
} variables;

typedef struct message {
  variables in, out;
  int64_t numbers[2];
  char text[ISO_NUMBER_BYTES];
  int64_t columns[2];
  ISC_SHORT nulls[MOST_VARIABLES];
  struct {
    ISC_USHORT length;
    char text[LIST_BYTES];
  } list;
  ISC_QUAD blob;
} message;

static XSQLVAR *add_variable(variables *all, ISC_SHORT type, void *data, size_t length, ISC_SHORT *null) {
  XSQLVAR *made = &all->head.sqlvar[all->head.sqld++];
  made->sqltype = (ISC_SHORT)(type | (null != NULL ? 1 : 0));
  made->sqllen = (ISC_SHORT)length;
  made->sqldata = data;
  made->sqlind = null;
  return made;
}

static void start_variables(variables *all) {
  memset(all, 0, sizeof *all);
  all->head.version = SQLDA_VERSION1;
  all->head.sqln = MOST_VARIABLES;
}

static void bind_parameters(message *m, const iso_driver_request *request, iso_fire_form form) {
  start_variables(&m->in);
  for (size_t i = 0; forms[form].parameters[i] != 0; i++) {
    char what = forms[form].parameters[i];
    m->numbers[i] = what == 'k' ? request->key : what == 'h' ? request->high : request->value;
    if (what == 'l')
      add_variable(&m->in, SQL_TEXT, m->text, iso_format_i64(request->value, m->text), NULL);
    else
      add_variable(&m->in, SQL_INT64, &m->numbers[i], sizeof m->numbers[i], NULL);
  }
}

static void bind_columns(message *m, iso_fire_form form) {
  start_variables(&m->out);
  if (forms[form].columns[0] == 't') {
    add_variable(&m->out, SQL_VARYING, &m->list, LIST_BYTES, &m->nulls[0]);
    add_variable(&m->out, SQL_INT64, &m->columns[1], sizeof m->columns[1], &m->nulls[1]);
    add_variable(&m->out, SQL_BLOB, &m->blob, sizeof m->blob, &m->nulls[2])->sqlsubtype = 1;
    return;
  }
  for (size_t i = 0; forms[form].columns[i] != 0; i++)
    add_variable(&m->out, SQL_INT64, &m->columns[i], sizeof m->columns[i], &m->nulls[i]);
}

/* ---- answers ---- */

bool iso_fire_read_blob(iso_fire_session *session, isc_tr_handle *txn, ISC_QUAD *blob) {
  isc_blob_handle handle = 0;
  ISC_STATUS_ARRAY ignored;
  session->text.count = 0;
  if (session->fb->isc_open_blob2(session->status, &session->attachment, txn, &handle, blob, 0, NULL) != 0)
    return false;
  ISC_STATUS code = 0;
  bool kept = true;
  while (kept && (code == 0 || code == isc_segment)) {
    unsigned short length = 0;
    kept = session->text.count < ISO_MOST_REPLY_BYTES && iso_vec_reserve(&session->text, SEGMENT_BYTES);
    if (!kept) break;
    code = session->fb->isc_get_segment(session->status, &handle, &length, SEGMENT_BYTES,
                                        session->text.items + session->text.count);
    if (code == 0 || code == isc_segment) session->text.count += length;
  }
  session->fb->isc_close_blob(ignored, &handle);
  if (kept && code != isc_segstr_eof) return false;
  if (!kept) memset(session->status, 0, sizeof session->status);
  return kept;
}

/* Takes a row; false when it cannot be kept, or (`failed`) the server has no more of it. */
static bool take_row(iso_fire_session *s, isc_tr_handle *txn, const iso_driver_request *request, message *m,
                     iso_reply *reply, bool *failed) {
  switch (request->kind) {
  case ISO_READ_RANGE:
    return m->nulls[1] != 0 || iso_reply_add_row(reply, m->columns[0], m->columns[1]);
  case ISO_COUNT:
    reply->value += m->columns[0];
    return true;
  case ISO_READ_LIST:
    if (m->nulls[0] != 0) return true;
    if (m->columns[1] <= LIST_BYTES) return iso_reply_set_list(reply, m->list.text, m->list.length);
    if (!iso_fire_read_blob(s, txn, &m->blob)) {
      *failed = s->status[1] != 0;
      return false;
    }
    return iso_reply_set_list(reply, s->text.items, s->text.count);
  default:
    reply->present = m->nulls[0] == 0;
    if (reply->present) reply->value = m->columns[0];
    return true;
  }
}

static bool take_rows(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                      isc_tr_handle *txn, isc_stmt_handle *statement, message *m) {
  iso_fire_session *s = connection->state;
  ISC_STATUS fetched = 0;
  bool kept = true, failed = false;
  while (kept && (fetched = s->fb->isc_dsql_fetch(s->status, statement, SQLDA_VERSION1, &m->out.head)) == 0)
    kept = take_row(s, txn, request, m, reply, &failed);
  failed |= fetched != 0 && fetched != 100;
  if (failed) iso_fire_fail(connection, request, reply);
  ISC_STATUS_ARRAY ignored;
  s->fb->isc_dsql_free_statement(ignored, statement, DSQL_close);
  if (!failed && !kept) iso_reply_client(connection, request, reply, "the answer is too large, or no list of numbers");
  return !failed && kept;
}

static bool run_prepared(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                         isc_tr_handle *txn, iso_fire_form form, uint32_t table) {
  iso_fire_session *s = connection->state;
  isc_stmt_handle *statement = prepare(connection, request, reply, form, table);
  if (statement == NULL) return false;
  message m;
  bind_parameters(&m, request, form);
  bind_columns(&m, form);
  bool returns = forms[form].columns[0] == 'a';
  m.nulls[0] = 0;
  ISC_STATUS done = returns
                        ? s->fb->isc_dsql_execute2(s->status, txn, statement, SQLDA_VERSION1, &m.in.head, &m.out.head)
                        : s->fb->isc_dsql_execute(s->status, txn, statement, SQLDA_VERSION1, &m.in.head);
  if (done != 0) {
    iso_fire_fail(connection, request, reply);
    return false;
  }
  if (!returns && forms[form].columns[0] != 0) return take_rows(connection, request, reply, txn, statement, &m);
  /* The count of rows would be another round trip: RETURNING answers NULL where there was no row. */
  reply->affected = returns && m.nulls[0] != 0 ? 0 : 1;
  return true;
}

/* ---- requests ---- */

static bool start_alone(iso_fire_session *s) {
  static const char parameters[] = {isc_tpb_version3,       isc_tpb_write,       isc_tpb_wait,
                                    isc_tpb_read_committed, isc_tpb_rec_version, isc_tpb_autocommit};
  return s->fb->isc_start_transaction(s->status, &s->alone, 1, &s->attachment, (unsigned short)sizeof parameters,
                                      parameters) == 0;
}

isc_tr_handle *iso_fire_txn(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  if (connection->txn == ISO_TXN_ACTIVE) return &s->txn;
  if (s->alone != 0 || start_alone(s)) return &s->alone;
  iso_fire_fail(connection, request, reply);
  return NULL;
}

void iso_fire_renew(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  if (connection->txn == ISO_TXN_ACTIVE || s->alone == 0) return;
  if (s->fb->isc_commit_transaction(s->status, &s->alone) != 0)
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", "what commits by itself could not be ended");
  else if (!start_alone(s))
    connection->broken = true; /* what was asked for is done */
}

void iso_fire_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_form form = form_of(request);
  isc_tr_handle *txn = iso_fire_txn(connection, request, reply);
  bool all = request->kind == ISO_READ_RANGE || request->kind == ISO_COUNT;
  uint32_t first = all ? 0 : iso_sql_table(connection->database, request->key);
  uint32_t end = all ? connection->database->options.tables : first + 1;
  for (uint32_t table = first; txn != NULL && table < end; table++)
    if (!run_prepared(connection, request, reply, txn, form, table)) return;
  iso_fire_renew(connection, request, reply);
}
