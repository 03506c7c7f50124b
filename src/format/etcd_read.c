/* What etcd's robustness tests recorded as transactions with times.
 *
 * etcd promises strict serializability of whole requests.  A version is its value and its revision, and the revision of
 * the store is a key like the others, which every change writes and every answer shows: so a stale answer is found even
 * where it shows nothing else. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/etcd_versions.h"
#include "format/format.h"
#include "history/notice.h"

typedef struct taker {
  iso_etcd_record r;
  iso_etcd_versions v;
  isoproof_builder *builder;
  iso_pool *pool;
  iso_numbering clients;
  ISO_VEC(uint32_t) crashed; /* by client: how many of its operations were lost */
  ISO_VEC(iso_value) keys;   /* all that are named, in the order of their texts */
  iso_value store_revision;  /* the key that stands for it */
  uint64_t old_reads, conditions, absent;
  isoproof_error *error;
} taker;

static isoproof_scalar text_of(const taker *k, iso_value code) {
  iso_pool_view view = iso_pool_look(k->pool);
  return iso_pool_scalar(&view, code);
}

/* ---- names ---- */

/* A text that is a number becomes one: equal stays equal. */
static isoproof_status plain(taker *k, iso_value text, iso_value *name) {
  int64_t number;
  char canonical[32];
  isoproof_scalar s = text_of(k, text);
  *name = text;
  if (s.type != ISOPROOF_STRING || !iso_parse_i64(s.text, s.length, &number)) return ISOPROOF_OK;
  int length = snprintf(canonical, sizeof canonical, "%lld", (long long)number);
  if ((size_t)length != s.length || memcmp(canonical, s.text, s.length) != 0) return ISOPROOF_OK;
  return iso_pool_add_i64(k->pool, number, name, k->error);
}

/* "value@revision"; without a revision the value alone. */
static isoproof_status version_name(taker *k, iso_value value, int64_t revision, uint64_t line, iso_value *name) {
  char *text = NULL;
  if (!k->v.any) return plain(k, value, name);
  isoproof_scalar s = text_of(k, value);
  int length = revision > 0 ? asprintf(&text, "%.*s@%lld", (int)s.length, s.text, (long long)revision)
                            : asprintf(&text, "%.*s@? (line %llu)", (int)s.length, s.text, (unsigned long long)line);
  if (length < 0) return iso_fail_memory(k->error);
  isoproof_status status = iso_pool_add_text(k->pool, ISOPROOF_STRING, text, (size_t)length, name, k->error);
  free(text);
  return status;
}

static isoproof_status deleted_name(taker *k, int64_t revision, uint64_t line, iso_value *name) {
  char text[64];
  int length = revision > 0 ? snprintf(text, sizeof text, "deleted@%lld", (long long)revision)
                            : snprintf(text, sizeof text, "deleted (line %llu)", (unsigned long long)line);
  return iso_pool_add_text(k->pool, ISOPROOF_STRING, text, (size_t)length, name, k->error);
}

/* ---- operations ---- */

static isoproof_status put_op(taker *k, isoproof_op_kind kind, iso_value key, iso_value value) {
  iso_value name;
  ISO_TRY(plain(k, key, &name));
  return iso_builder_op(k->builder, kind, name, value, k->error);
}

/* Whether a lost operation that may have taken effect before this one ended deletes the key. */
static bool may_be_deleted(const taker *k, const iso_etcd_op *op, iso_value key) {
  for (size_t i = 0; i < k->r.ops.count; i++) {
    const iso_etcd_op *other = &k->r.ops.items[i];
    if (!other->lost || other->revision > 0 || other->call > op->back) continue;
    for (size_t n = 0; n < other->success.count; n++) {
      const iso_etcd_item *item = &k->r.items.items[other->success.first + n];
      if (item->kind == ISO_ETCD_DELETE && item->key == key) return true;
    }
  }
  return false;
}

/* A read that did not find the key: it saw the last deletion before it, or that nobody had written it. */
static isoproof_status put_absent(taker *k, const iso_etcd_op *op, bool changes, iso_value key) {
  iso_value name = ISO_VALUE_NIL;
  int64_t revision = op->revision > 0 ? op->revision - changes : INT64_MAX;
  const iso_etcd_version *last = iso_etcd_version_at(&k->v, key, revision);
  bool unclear = op->revision <= 0 && last != NULL;
  if (unclear || ((last == NULL || !last->deleted) && may_be_deleted(k, op, key))) {
    k->absent++;
    return ISOPROOF_OK;
  }
  if (last != NULL && last->deleted) ISO_TRY(deleted_name(k, last->revision, 0, &name));
  return put_op(k, ISOPROOF_OP_READ, key, name);
}

/* Whether a key is in a range, whose end "\0" is the end of all keys; Go's encoder writes it as such. */
static bool is_within(const taker *k, const iso_etcd_item *item, iso_value key) {
  isoproof_scalar from = text_of(k, item->key), x = text_of(k, key);
  isoproof_scalar to = item->end == ISO_VALUE_NIL ? isoproof_string("") : text_of(k, item->end);
  size_t low = from.length < x.length ? from.length : x.length, high = to.length < x.length ? to.length : x.length;
  if (to.length == 0) return item->key == key;
  int start = memcmp(x.text, from.text, low), end = memcmp(x.text, to.text, high);
  bool after = start > 0 || (start == 0 && x.length >= from.length);
  return after && (end < 0 || (end == 0 && x.length < to.length));
}

static const iso_etcd_pair *pair_of(const taker *k, const iso_etcd_result *result, iso_value key) {
  for (size_t i = 0; i < result->pairs.count; i++) {
    if (k->r.pairs.items[result->pairs.first + i].key == key) return &k->r.pairs.items[result->pairs.first + i];
  }
  return NULL;
}

static bool comes_after(const taker *k, iso_value a, iso_value b) {
  isoproof_scalar x = text_of(k, a), y = text_of(k, b);
  size_t shorter = x.length < y.length ? x.length : y.length;
  int order = memcmp(x.text, y.text, shorter);
  return order > 0 || (order == 0 && x.length > y.length);
}

static isoproof_status take_read(taker *k, const iso_etcd_op *op, bool changes, const iso_etcd_item *item,
                                 const iso_etcd_result *result) {
  if (item->revision > 0) {
    k->old_reads++;
    return ISOPROOF_OK;
  }
  bool cut = item->limit > 0 && result->all > (int64_t)result->pairs.count;
  iso_value last = cut && result->pairs.count > 0 ? k->r.pairs.items[result->pairs.first + result->pairs.count - 1].key
                                                  : ISO_VALUE_NIL;
  bool ranged = item->end != ISO_VALUE_NIL && text_of(k, item->end).length > 0;
  for (size_t i = 0; i < (ranged ? k->keys.count : 1); i++) {
    iso_value key = ranged ? k->keys.items[i] : item->key, name;
    if (ranged && !is_within(k, item, key)) continue;
    const iso_etcd_pair *pair = pair_of(k, result, key);
    if (pair == NULL && cut && (last == ISO_VALUE_NIL || comes_after(k, key, last))) continue;
    if (pair == NULL) {
      ISO_TRY(put_absent(k, op, changes, key));
      continue;
    }
    ISO_TRY(version_name(k, pair->value, pair->revision, op->line, &name));
    ISO_TRY(put_op(k, ISOPROOF_OP_READ, key, name));
  }
  return ISOPROOF_OK;
}

static isoproof_status take_write(taker *k, const iso_etcd_op *op, const iso_etcd_item *item) {
  iso_value name;
  if (item->kind == ISO_ETCD_PUT) {
    ISO_TRY(version_name(k, item->value, op->revision, op->line, &name));
  } else {
    ISO_TRY(deleted_name(k, op->revision, op->line, &name));
  }
  return put_op(k, ISOPROOF_OP_WRITE, item->key, name);
}

/* Whether the operation itself changed the key before its item `number`. */
static bool is_own(const taker *k, iso_etcd_span done, size_t number, iso_value key) {
  for (size_t i = 0; i < number; i++) {
    const iso_etcd_item *item = &k->r.items.items[done.first + i];
    if (item->kind != ISO_ETCD_READ && item->key == key) return true;
  }
  return false;
}

static isoproof_status take_items(taker *k, const iso_etcd_op *op, bool changes) {
  iso_etcd_span done = iso_etcd_done(op);
  for (size_t i = 0; i < done.count; i++) {
    const iso_etcd_item *item = &k->r.items.items[done.first + i];
    const iso_etcd_result *result = op->lost ? NULL : &k->r.results.items[op->results.first + i];
    if (item->kind == ISO_ETCD_READ) {
      if (result != NULL) ISO_TRY(take_read(k, op, changes, item, result));
    } else if (item->kind == ISO_ETCD_DELETE && result != NULL && result->deleted == 0) {
      if (!is_own(k, done, i, item->key)) ISO_TRY(put_absent(k, op, changes, item->key));
    } else {
      ISO_TRY(take_write(k, op, item));
    }
  }
  return ISOPROOF_OK;
}

/* Conditions that held say which versions were there. */
static isoproof_status take_conditions(taker *k, const iso_etcd_op *op, bool changes) {
  for (size_t i = 0; i < op->conditions.count; i++) {
    const iso_etcd_condition *c = &k->r.conditions.items[op->conditions.first + i];
    const iso_etcd_version *version = iso_etcd_version_at(&k->v, c->key, c->revision);
    bool there = c->revision > 0 && version != NULL && version->revision == c->revision && !version->deleted;
    iso_value name;
    if (op->failed || c->version > 0 || (c->revision > 0 && !there)) {
      k->conditions++;
    } else if (c->revision == 0) {
      ISO_TRY(put_absent(k, op, changes, c->key));
    } else {
      ISO_TRY(version_name(k, version->value, version->revision, op->line, &name));
      ISO_TRY(put_op(k, ISOPROOF_OP_READ, c->key, name));
    }
  }
  return ISOPROOF_OK;
}

/* The revision of the store before the operation, where it is known who made it. */
static isoproof_status take_revision(taker *k, const iso_etcd_op *op, bool changes) {
  iso_value code = ISO_VALUE_NIL;
  int64_t seen = op->revision - changes;
  if (op->revision <= 0) return ISOPROOF_OK;
  bool made = iso_etcd_is_made(&k->v, seen);
  if (!made && seen != k->v.base) return ISOPROOF_OK;
  if (made) ISO_TRY(iso_pool_add_i64(k->pool, seen, &code, k->error));
  return iso_builder_op(k->builder, ISOPROOF_OP_READ, k->store_revision, code, k->error);
}

static isoproof_status session_of(taker *k, const iso_etcd_op *op, uint32_t *session) {
  iso_value name;
  uint32_t client;
  ISO_TRY(iso_pool_add_i64(k->pool, op->client, &name, k->error));
  ISO_TRY(iso_numbering_add(&k->clients, name, &client, k->error));
  if (client == k->crashed.count && !iso_vec_push(&k->crashed, 0)) return iso_fail_memory(k->error);
  uint32_t crashed = k->crashed.items[client];
  if (op->lost) k->crashed.items[client]++; /* what comes next is not after it */
  if (crashed > 0) {
    char text[64];
    int length = snprintf(text, sizeof text, "%lld+%u", (long long)op->client, crashed);
    ISO_TRY(iso_pool_add_text(k->pool, ISOPROOF_STRING, text, (size_t)length, &name, k->error));
  }
  return iso_builder_session(k->builder, name, session, k->error);
}

static isoproof_status refuse(const taker *k, const iso_etcd_op *op, const char *what) {
  return iso_fail_at(k->error, ISOPROOF_ERR_UNSUPPORTED, (iso_place){k->r.files.items[op->file], op->line, 0, -1}, "%s",
                     what);
}

/* What cannot be told as reads and writes. */
static isoproof_status check_supported(const taker *k, const iso_etcd_op *op) {
  for (size_t i = 0; op->request == ISO_ETCD_LEASE_REVOKE && !op->refused && i < k->r.items.count; i++) {
    const iso_etcd_item *item = &k->r.items.items[i];
    if (item->kind != ISO_ETCD_PUT || item->lease != op->lease || op->lease == 0) continue;
    return refuse(k, op, "a lease to which keys are attached is revoked: which of them that deletes is not recorded");
  }
  for (size_t i = 0; op->lost && i < op->failure.count; i++) {
    if (k->r.items.items[op->failure.first + i].kind == ISO_ETCD_READ) continue;
    return refuse(k, op,
                  "the answer of a transaction was lost that changes something whether its conditions hold or not");
  }
  return ISOPROOF_OK;
}

static isoproof_status take(taker *k, const iso_etcd_op *op) {
  uint32_t session;
  iso_txn_info info = iso_txn_unset();
  bool changes = iso_etcd_changes(&k->r, op);
  ISO_TRY(check_supported(k, op));
  info.status = op->refused ? ISOPROOF_TXN_ABORTED : op->lost ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_COMMITTED;
  info.start = op->call;
  info.end = op->lost ? ISOPROOF_NO_TIME : op->back;
  info.position = op->line;
  ISO_TRY(session_of(k, op, &session));
  ISO_TRY(iso_builder_begin(k->builder, session, &info, NULL, k->error));
  for (size_t i = 0; op->refused && i < op->success.count; i++) {
    const iso_etcd_item *item = &k->r.items.items[op->success.first + i];
    if (item->kind != ISO_ETCD_READ) ISO_TRY(take_write(k, op, item));
  }
  if (op->refused) return ISOPROOF_OK;
  bool old = op->request == ISO_ETCD_RANGE && op->success.count > 0 && k->r.items.items[op->success.first].revision > 0;
  if ((!op->lost || op->revision > 0) && !old) ISO_TRY(take_revision(k, op, changes));
  if (!op->lost || op->revision > 0) ISO_TRY(take_conditions(k, op, changes));
  ISO_TRY(take_items(k, op, changes));
  if (!changes || op->revision <= 0) return ISOPROOF_OK;
  iso_value code;
  ISO_TRY(iso_pool_add_i64(k->pool, op->revision, &code, k->error));
  return iso_builder_op(k->builder, ISOPROOF_OP_WRITE, k->store_revision, code, k->error);
}

/* ---- the whole ---- */

static int by_code(const void *a, const void *b) {
  iso_value x = *(const iso_value *)a, y = *(const iso_value *)b;
  return (x > y) - (x < y);
}

static isoproof_status list_keys(taker *k) {
  bool good = true;
  for (size_t i = 0; i < k->r.items.count; i++) {
    const iso_etcd_item *item = &k->r.items.items[i];
    bool ranged = item->end != ISO_VALUE_NIL && text_of(k, item->end).length > 0;
    good = good && (ranged || iso_vec_push(&k->keys, item->key));
  }
  for (size_t i = 0; i < k->r.pairs.count; i++) good = good && iso_vec_push(&k->keys, k->r.pairs.items[i].key);
  if (k->keys.count > 1) qsort(k->keys.items, k->keys.count, sizeof(iso_value), by_code);
  size_t kept = 0;
  for (size_t i = 0; i < k->keys.count; i++) {
    if (kept == 0 || k->keys.items[kept - 1] != k->keys.items[i]) k->keys.items[kept++] = k->keys.items[i];
  }
  k->keys.count = kept;
  return good ? ISOPROOF_OK : iso_fail_memory(k->error);
}

static isoproof_status tell(taker *k, uint64_t count, const char *what) {
  char sentence[200];
  if (count == 0) return ISOPROOF_OK;
  snprintf(sentence, sizeof sentence, "%llu %s", (unsigned long long)count, what);
  return iso_builder_notice(k->builder, ISOPROOF_NOTICE_LEFT_OUT, 0, sentence, k->error);
}

static isoproof_status take_all(taker *k, isoproof_task *task) {
  ISO_TRY(iso_etcd_versions_make(&k->r, &k->v, k->error));
  ISO_TRY(list_keys(k));
  ISO_TRY(iso_pool_add_text(k->pool, ISOPROOF_KEYWORD, "revision", 8, &k->store_revision, k->error));
  for (size_t i = 0; i < k->r.ops.count; i++) {
    if ((i & 255) == 0) ISO_TRY(iso_task_check(task, k->error));
    ISO_TRY(take(k, &k->r.ops.items[i]));
  }
  ISO_TRY(tell(k, k->old_reads, "reads of old revisions are left out"));
  ISO_TRY(tell(k, k->conditions, "conditions that failed, or that nothing else explains, are left out"));
  return tell(k, k->absent, "reads of absent keys are left out: nobody knows which deletion they saw");
}

static void taker_free(taker *k) {
  iso_etcd_record_free(&k->r);
  iso_etcd_versions_free(&k->v);
  iso_numbering_free(&k->clients);
  iso_vec_free(&k->crashed);
  iso_vec_free(&k->keys);
}

static void taker_init(taker *k, isoproof_builder *builder, isoproof_error *error) {
  *k = (taker){.builder = builder, .pool = iso_builder_pool(builder), .error = error};
  iso_numbering_init(&k->clients);
  iso_builder_origin(builder, ISOPROOF_FORMAT_ETCD, ISO_POSITION_LINE, false);
}

isoproof_status iso_read_etcd(iso_input *input, isoproof_builder *builder, isoproof_task *task, isoproof_error *error) {
  taker k;
  taker_init(&k, builder, error);
  isoproof_status status = iso_etcd_parse(input, k.pool, task, &k.r, error);
  if (status == ISOPROOF_OK) status = take_all(&k, task);
  taker_free(&k);
  return status;
}

/* ---- a directory of clients ---- */

bool iso_etcd_is_client(const char *name) {
  static const char prefix[] = "client-";
  size_t length = strlen(name);
  if (length <= sizeof prefix - 1 || strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
  return strspn(name + sizeof prefix - 1, "0123456789") == length - (sizeof prefix - 1);
}

static int only_clients(const struct dirent *entry) { return iso_etcd_is_client(entry->d_name); }

static isoproof_status read_client(taker *k, const char *path, const char *name, isoproof_task *task, bool *any) {
  static const char *const endings[] = {"", ".gz", ".zst"};
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < 3 && status == ISOPROOF_OK; i++) {
    char *file;
    if (asprintf(&file, "%s/%s/operations.json%s", path, name, endings[i]) < 0) return iso_fail_memory(k->error);
    isoproof_error problem;
    iso_input *input;
    status = iso_input_open_for(file, task, &input, &problem);
    bool there = status == ISOPROOF_OK;
    if (there) status = iso_etcd_parse(input, k->pool, task, &k->r, k->error);
    if (there) iso_input_close(input);
    free(file);
    *any = *any || there;
    if (there) return status;
    status = ISOPROOF_OK; /* a client that only watched has no operations */
  }
  return status;
}

isoproof_status iso_read_etcd_directory(const char *path, isoproof_builder *builder, isoproof_task *task,
                                        isoproof_error *error) {
  taker k;
  struct dirent **names;
  bool any = false;
  int count = scandir(path, &names, only_clients, versionsort);
  if (count < 0) return iso_fail_at(error, ISOPROOF_ERR_IO, (iso_place){path, 0, 0, -1}, "cannot read the directory");
  taker_init(&k, builder, error);
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < count; i++) {
    if (status == ISOPROOF_OK) status = read_client(&k, path, names[i]->d_name, task, &any);
    free(names[i]);
  }
  free(names);
  if (status == ISOPROOF_OK && !any) {
    status = iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){path, 0, 0, -1},
                         "expected operations.json in the directories client-1, client-2, ..., found none");
  }
  if (status == ISOPROOF_OK) status = take_all(&k, task);
  taker_free(&k);
  return status;
}
