/* The JSON of etcd's robustness tests, taken in as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/etcd.h"
#include "format/token.h"

typedef struct parser {
  iso_tokenizer t;
  iso_pool *pool;
  iso_etcd_record *r;
  iso_etcd_op op;
  isoproof_error *error;
} parser;

/* Goes to the value of the next field of the object that is open: `which` is its place among `names`, or behind them.
 * Go spells names as it likes. */
static isoproof_status next_field(parser *p, const char *const *names, unsigned *which, bool *more) {
  ISO_TRY(iso_token_next(&p->t));
  *more = p->t.type != ISO_TOKEN_END;
  if (!*more) return ISOPROOF_OK;
  for (*which = 0; names[*which] != NULL; (*which)++) {
    if (iso_token_is_n(&p->t, names[*which], strlen(names[*which]))) break;
  }
  return iso_token_next(&p->t);
}

/* Whether an object begins here; null is none. */
static isoproof_status begins(parser *p, iso_token_type type, bool *yes) {
  *yes = p->t.type == type;
  if (*yes || iso_token_is_nil(&p->t)) return ISOPROOF_OK;
  return iso_token_expected(&p->t, type == ISO_TOKEN_BEGIN_MAP ? "an object or null" : "a list or null");
}

static isoproof_status number(parser *p, int64_t *out) {
  if (!iso_token_is_integer(&p->t)) return iso_token_expected(&p->t, "an integer");
  *out = p->t.scalar.integer;
  return ISOPROOF_OK;
}

static isoproof_status text(parser *p, iso_value *out) {
  if (p->t.type != ISO_TOKEN_SCALAR || p->t.scalar.type != ISOPROOF_STRING) {
    return iso_token_expected(&p->t, "a string");
  }
  return iso_pool_add(p->pool, p->t.scalar, out, p->error);
}

static isoproof_status truth(parser *p, bool *out) {
  *out = iso_token_is(&p->t, "true");
  return *out || iso_token_is(&p->t, "false") ? ISOPROOF_OK : iso_token_expected(&p->t, "true or false");
}

/* ---- values ---- */

/* A value, or the hash of a long one. */
static isoproof_status value(parser *p, iso_value *out) {
  static const char *const names[] = {"Value", "Hash", NULL};
  unsigned which;
  bool more;
  int64_t hash = 0;
  ISO_TRY(iso_pool_add_text(p->pool, ISOPROOF_STRING, "", 0, out, p->error));
  ISO_TRY(begins(p, ISO_TOKEN_BEGIN_MAP, &more));
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    ISO_TRY(which == 0 ? text(p, out) : which == 1 ? number(p, &hash) : iso_token_skip(&p->t));
  }
  if (hash == 0) return ISOPROOF_OK;
  char name[40];
  int length = snprintf(name, sizeof name, "hash %lld", (long long)hash);
  return iso_pool_add_text(p->pool, ISOPROOF_STRING, name, (size_t)length, out, p->error);
}

/* Reads the object that begins here, `what` it is, field by field into `made`. */
static isoproof_status object(parser *p, const char *what, const char *const *names,
                              isoproof_status (*field)(parser *, unsigned which, void *made), void *made) {
  unsigned which;
  bool more = true;
  if (p->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&p->t, what);
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (more) ISO_TRY(field(p, which, made));
  }
  return ISOPROOF_OK;
}

/* Reads a list, or null, of things that `one` adds to those that are counted. */
static isoproof_status span(parser *p, iso_etcd_span *out, const size_t *count, isoproof_status (*one)(parser *)) {
  bool list;
  ISO_TRY(begins(p, ISO_TOKEN_BEGIN_LIST, &list));
  out->first = *count;
  while (list) {
    ISO_TRY(iso_token_next(&p->t));
    if (p->t.type == ISO_TOKEN_END) break;
    ISO_TRY(one(p));
  }
  out->count = *count - out->first;
  return ISOPROOF_OK;
}

static isoproof_status pair_field(parser *p, unsigned which, void *made) {
  iso_etcd_pair *pair = made;
  return which == 0   ? text(p, &pair->key)
         : which == 1 ? value(p, &pair->value)
         : which == 2 ? number(p, &pair->revision)
                      : iso_token_skip(&p->t);
}

static isoproof_status pair(parser *p) {
  static const char *const names[] = {"Key", "Value", "ModRevision", NULL};
  iso_etcd_pair made = {.key = ISO_VALUE_NIL, .value = ISO_VALUE_NIL};
  ISO_TRY(iso_pool_add_text(p->pool, ISOPROOF_STRING, "", 0, &made.value, p->error)); /* an empty one is left out */
  ISO_TRY(object(p, "a key and its value (an object)", names, pair_field, &made));
  if (made.key == ISO_VALUE_NIL) return iso_token_expected(&p->t, "a \"Key\" in the object that ends here");
  return iso_vec_push(&p->r->pairs, made) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

/* ---- requests ---- */

static isoproof_status part(parser *p, iso_etcd_item *item) {
  static const char *const names[] = {"Start", "Key", "End", "Value", "Limit", "Revision", "LeaseID", NULL};
  unsigned which;
  bool more;
  ISO_TRY(begins(p, ISO_TOKEN_BEGIN_MAP, &more));
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    ISO_TRY(which <= 1   ? text(p, &item->key)
            : which == 2 ? text(p, &item->end)
            : which == 3 ? value(p, &item->value)
            : which == 4 ? number(p, &item->limit)
            : which == 5 ? number(p, &item->revision)
            : which == 6 ? number(p, &item->lease)
                         : iso_token_skip(&p->t));
  }
  return ISOPROOF_OK;
}

static iso_etcd_item no_item(void) {
  return (iso_etcd_item){.kind = ISO_ETCD_KINDS, .key = ISO_VALUE_NIL, .end = ISO_VALUE_NIL, .value = ISO_VALUE_NIL};
}

/* A part of a transaction has fields for every kind, of which one counts. */
static isoproof_status item(parser *p) {
  static const char *const names[] = {"Type", "Range", "Put", "Delete", NULL};
  iso_etcd_item parts[ISO_ETCD_KINDS] = {no_item(), no_item(), no_item()};
  iso_etcd_kind kind = ISO_ETCD_KINDS;
  unsigned which;
  bool more = true;
  if (p->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&p->t, "an operation (an object)");
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    if (which == 0) {
      kind = iso_token_is(&p->t, "range-operation")    ? ISO_ETCD_READ
             : iso_token_is(&p->t, "put-operation")    ? ISO_ETCD_PUT
             : iso_token_is(&p->t, "delete-operation") ? ISO_ETCD_DELETE
                                                       : ISO_ETCD_KINDS;
    }
    if (which == 0 && kind == ISO_ETCD_KINDS) {
      return iso_token_expected(&p->t, "a range-operation, a put-operation or a delete-operation");
    }
    if (which > 0) ISO_TRY(which <= ISO_ETCD_KINDS ? part(p, &parts[which - 1]) : iso_token_skip(&p->t));
  }
  if (kind == ISO_ETCD_KINDS) return iso_token_expected(&p->t, "a \"Type\" in the operation that ends here");
  parts[kind].kind = kind;
  if (parts[kind].key == ISO_VALUE_NIL) return iso_token_expected(&p->t, "a key in the operation that ends here");
  return iso_vec_push(&p->r->items, parts[kind]) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status condition_field(parser *p, unsigned which, void *made) {
  iso_etcd_condition *condition = made;
  return which == 0   ? text(p, &condition->key)
         : which == 1 ? number(p, &condition->revision)
         : which == 2 ? number(p, &condition->version)
                      : iso_token_skip(&p->t);
}

static isoproof_status condition(parser *p) {
  static const char *const names[] = {"Key", "ExpectedRevision", "ExpectedVersion", NULL};
  iso_etcd_condition made = {.key = ISO_VALUE_NIL};
  ISO_TRY(object(p, "a condition (an object)", names, condition_field, &made));
  if (made.key == ISO_VALUE_NIL) return iso_token_expected(&p->t, "a \"Key\" in the condition that ends here");
  return iso_vec_push(&p->r->conditions, made) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status txn(parser *p) {
  static const char *const names[] = {"Conditions", "OperationsOnSuccess", "OperationsOnFailure", NULL};
  unsigned which;
  bool more;
  ISO_TRY(begins(p, ISO_TOKEN_BEGIN_MAP, &more));
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    ISO_TRY(which == 0   ? span(p, &p->op.conditions, &p->r->conditions.count, condition)
            : which == 1 ? span(p, &p->op.success, &p->r->items.count, item)
            : which == 2 ? span(p, &p->op.failure, &p->r->items.count, item)
                         : iso_token_skip(&p->t));
  }
  return ISOPROOF_OK;
}

static isoproof_status range(parser *p) {
  iso_etcd_item made = no_item();
  if (iso_token_is_nil(&p->t)) return ISOPROOF_OK;
  made.kind = ISO_ETCD_READ;
  ISO_TRY(part(p, &made));
  if (made.key == ISO_VALUE_NIL) return iso_token_expected(&p->t, "a key in the range that ends here");
  p->op.success = (iso_etcd_span){p->r->items.count, 1};
  return iso_vec_push(&p->r->items, made) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status request_type(parser *p) {
  p->op.request = ISO_ETCD_REQUESTS;
#define ISO_X(name, text)                                                                                              \
  if (iso_token_is(&p->t, text)) p->op.request = ISO_ETCD_##name;
  ISO_ETCD_REQUEST_LIST(ISO_X)
#undef ISO_X
  if (p->op.request < ISO_ETCD_REQUESTS) return ISOPROOF_OK;
  return iso_token_expected(&p->t, "a request: range, txn, leaseGrant, leaseRevoke, defragment or compact");
}

static isoproof_status input_of(parser *p) {
  static const char *const names[] = {"Type", "Range", "Txn", "LeaseRevoke", NULL};
  unsigned which;
  bool more = true;
  iso_etcd_item revoked = no_item();
  if (p->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&p->t, "a request (an object)");
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    ISO_TRY(which == 0   ? request_type(p)
            : which == 1 ? range(p)
            : which == 2 ? txn(p)
            : which == 3 ? part(p, &revoked)
                         : iso_token_skip(&p->t));
  }
  p->op.lease = revoked.lease;
  return ISOPROOF_OK;
}

/* ---- answers ---- */

static isoproof_status result(parser *p) {
  static const char *const names[] = {"KVs", "Count", "Deleted", NULL};
  iso_etcd_result made = {0};
  unsigned which;
  bool more;
  ISO_TRY(begins(p, ISO_TOKEN_BEGIN_MAP, &more));
  if (!more) return ISOPROOF_OK;
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    ISO_TRY(which == 0   ? span(p, &made.pairs, &p->r->pairs.count, pair)
            : which == 1 ? number(p, &made.all)
            : which == 2 ? number(p, &made.deleted)
                         : iso_token_skip(&p->t));
  }
  return iso_vec_push(&p->r->results, made) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status txn_answer(parser *p) {
  static const char *const names[] = {"Failure", "Results", NULL};
  unsigned which;
  bool more;
  ISO_TRY(begins(p, ISO_TOKEN_BEGIN_MAP, &more));
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    ISO_TRY(which == 0   ? truth(p, &p->op.failed)
            : which == 1 ? span(p, &p->op.results, &p->r->results.count, result)
                         : iso_token_skip(&p->t));
  }
  return ISOPROOF_OK;
}

static isoproof_status range_answer(parser *p) {
  if (iso_token_is_nil(&p->t)) return ISOPROOF_OK;
  p->op.results.first = p->r->results.count;
  ISO_TRY(result(p));
  p->op.results.count = p->r->results.count - p->op.results.first;
  return ISOPROOF_OK;
}

static isoproof_status output_of(parser *p) {
  static const char *const names[] = {
      "Txn", "Range", "Revision", "Error", "ClientError", "PartialResponse", "Persisted", "PersistedRevision", NULL};
  unsigned which;
  bool more = true, partial = false, persisted = false, error = false;
  int64_t of_log = 0;
  if (p->t.type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(&p->t, "an answer (an object)");
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    bool says = iso_token_is_text(&p->t) && p->t.scalar.length > 0;
    if (which == 3) error = says;
    if (which == 4) p->op.refused = says;
    ISO_TRY(which == 0   ? txn_answer(p)
            : which == 1 ? range_answer(p)
            : which == 2 ? number(p, &p->op.revision)
            : which == 5 ? truth(p, &partial)
            : which == 6 ? truth(p, &persisted)
            : which == 7 ? number(p, &of_log)
                         : iso_token_skip(&p->t));
  }
  p->op.lost = error || partial || persisted;
  if (of_log > 0) p->op.revision = of_log;
  if (error && !persisted) p->op.revision = 0;
  return ISOPROOF_OK;
}

/* ---- operations ---- */

static isoproof_status operation(parser *p) {
  static const char *const names[] = {"ClientId", "Input", "Call", "Output", "Return", NULL};
  unsigned which, seen = 0;
  bool more = true;
  p->op = (iso_etcd_op){.line = p->t.token_line, .file = (uint32_t)(p->r->files.count - 1)};
  while (more) {
    ISO_TRY(next_field(p, names, &which, &more));
    if (!more) break;
    seen |= 1u << which;
    ISO_TRY(which == 0   ? number(p, &p->op.client)
            : which == 1 ? input_of(p)
            : which == 2 ? number(p, &p->op.call)
            : which == 3 ? output_of(p)
            : which == 4 ? number(p, &p->op.back)
                         : iso_token_skip(&p->t));
  }
  if ((seen & 31) != 31) {
    return iso_token_expected(&p->t, "ClientId, Input, Call, Output and Return in the operation that ends here");
  }
  iso_etcd_span asked = p->op.failed ? p->op.failure : p->op.success;
  bool answered = p->op.results.count == asked.count || p->op.lost || p->op.refused;
  if (!answered) return iso_token_expected(&p->t, "as many results as were asked for in the operation that ends here");
  return iso_vec_push(&p->r->ops, p->op) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

isoproof_status iso_etcd_parse(iso_input *input, iso_pool *pool, isoproof_task *task, iso_etcd_record *record,
                               isoproof_error *error) {
  parser *p = iso_alloc_zero(1, sizeof *p);
  char *name = strdup(iso_input_name(input));
  if (p == NULL || name == NULL || !iso_vec_push(&record->files, name)) {
    free(name);
    free(p);
    return iso_fail_memory(error);
  }
  *p = (parser){.pool = pool, .r = record, .error = error};
  isoproof_status status = iso_tokenizer_init(&p->t, input, ISO_TOKEN_DIALECT_JSON, error);
  bool made = status == ISOPROOF_OK;
  for (uint64_t count = 0; status == ISOPROOF_OK; count++) {
    if ((count & 255) == 0) status = iso_task_check(task, error);
    if (status == ISOPROOF_OK) status = iso_token_next(&p->t);
    if (status != ISOPROOF_OK || p->t.type == ISO_TOKEN_END_OF_INPUT) break;
    bool object = p->t.type == ISO_TOKEN_BEGIN_MAP;
    status = object ? operation(p) : iso_token_expected(&p->t, "an operation (an object)");
  }
  if (made) iso_tokenizer_free(&p->t);
  free(p);
  return status;
}

void iso_etcd_record_free(iso_etcd_record *r) {
  for (size_t i = 0; i < r->files.count; i++) free(r->files.items[i]);
  iso_vec_free(&r->files);
  iso_vec_free(&r->ops);
  iso_vec_free(&r->items);
  iso_vec_free(&r->conditions);
  iso_vec_free(&r->results);
  iso_vec_free(&r->pairs);
}
