/* stream.c - a database in a page: an optimistic store of versions whose clients go on for ever, in bounded memory. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "sim_store.h"

enum { VERSIONS = 8, LATE = 8, MOST_OPS = 64 };

typedef struct version {
  uint64_t committed; /* 0: initial */
  uint64_t value;
  bool update; /* its writer had read the version before */
} version;

typedef struct stored {
  version versions[VERSIONS]; /* the newest first */
} stored;

typedef struct operation {
  bool write;
  uint32_t key;
  uint64_t value; /* 0: initial */
} operation;

typedef struct client {
  uint64_t snapshot;
  uint32_t done;
  bool replied; /* its reply has arrived, and it may go on */
  bool lost;    /* it has overwritten what it had not seen */
  int64_t start;
  operation ops[MOST_OPS];
} client;

struct stream {
  stream_options is;
  uint64_t random, commits, values, clock, delivered;
  stored *keys;
  client *clients;
  uint32_t *late; /* clients whose replies are on their way */
  uint32_t late_count;
  bool lost; /* an update was */
  uint64_t lost_at;
  sim_store *sim; /* NULL: keys */
};

static uint64_t draw(stream *s, uint64_t bound) {
  s->random ^= s->random >> 12;
  s->random ^= s->random << 25;
  s->random ^= s->random >> 27;
  return (s->random * UINT64_C(2685821657736338717) >> 33) % bound;
}

stream *stream_new(const stream_options *options) {
  stream *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  isoproof_error error;
  s->is = *options;
  s->random = options->seed * 2 + 1;
  bool opened = options->url == NULL ||
                sim_store_open(options->url, options->sessions, options->seed, &s->sim, &error) == ISOPROOF_OK;
  s->keys = calloc(options->keys, sizeof *s->keys);
  s->clients = calloc(options->sessions, sizeof *s->clients);
  s->late = calloc(options->sessions, sizeof *s->late);
  if (opened && options->ops <= MOST_OPS && s->keys != NULL && s->clients != NULL && s->late != NULL) {
    for (uint32_t i = 0; i < options->sessions; i++) s->clients[i].replied = true;
    return s;
  }
  stream_free(s);
  return NULL;
}

void stream_free(stream *s) {
  if (s == NULL) return;
  sim_store_close(s->sim);
  free(s->keys);
  free(s->clients);
  free(s->late);
  free(s);
}

bool stream_lost(const stream *s) { return s->lost; }

uint64_t stream_lost_at(const stream *s) { return s->lost_at; }

/* What a key has at a moment; false where that is long overwritten. */
static bool look_up(const stored *key, uint64_t moment, uint64_t *value) {
  for (int i = 0; i < VERSIONS; i++) {
    *value = key->versions[i].value;
    if (key->versions[i].committed <= moment) return true;
  }
  return false;
}

static const operation *own_write(const client *c, uint32_t key) {
  for (uint32_t i = c->done; i-- > 0;) {
    if (c->ops[i].write && c->ops[i].key == key) return &c->ops[i];
  }
  return NULL;
}

static uint32_t number_of(const stream *s, const client *c) { return (uint32_t)(c - s->clients); }

static void begin(stream *s, client *c) {
  *c = (client){.snapshot = s->commits, .start = (int64_t)s->clock};
  if (s->sim != NULL) sim_store_begin(s->sim, number_of(s, c));
}

/* What is in a key; false where the transaction has to start again. */
static bool read_key(stream *s, client *c, operation *op) {
  if (s->sim != NULL) return sim_store_read(s->sim, number_of(s, c), op->key, &op->value);
  const operation *own = own_write(c, op->key);
  if (own != NULL) op->value = own->value;
  return own != NULL || look_up(&s->keys[op->key], c->snapshot, &op->value);
}

/* One operation; half of the writes come after a read of their key. */
static void step(stream *s, client *c) {
  operation *op = &c->ops[c->done];
  const operation *last = c->done > 0 ? op - 1 : NULL;
  op->write = draw(s, 2) == 0;
  op->key = (uint32_t)draw(s, s->is.keys);
  if (op->write && last != NULL && !last->write && draw(s, 2) == 0) op->key = last->key;
  if (op->write) {
    op->value = ++s->values;
    if (s->sim != NULL) sim_store_write(s->sim, number_of(s, c), op->key, op->value);
  } else if (!read_key(s, c, op)) {
    begin(s, c); /* it takes a new snapshot, and starts again */
    return;
  }
  c->done++;
}

static bool is_update(const client *c, uint32_t op) {
  if (op == 0) return false;
  const operation *before = &c->ops[op - 1], *write = &c->ops[op];
  return write->write && !before->write && before->key == write->key;
}

/* Whether something that matters was overwritten since the snapshot; *update: by an update of the very version that it
 * has read and is about to overwrite. */
static bool in_the_way(const stream *s, const client *c, bool *update) {
  bool stale = false;
  *update = false;
  for (uint32_t i = 0; i < c->done; i++) {
    if (s->keys[c->ops[i].key].versions[0].committed <= c->snapshot) continue;
    if (!s->is.snapshots || c->ops[i].write) stale = true;
    const version *last = s->keys[c->ops[i].key].versions;
    if (is_update(c, i) && last[0].update && last[1].value == c->ops[i - 1].value) *update = true;
  }
  return stale;
}

/* Whether the transaction has committed. */
static bool commit(stream *s, client *c) {
  if (s->sim != NULL) return sim_store_commit(s->sim, number_of(s, c));
  bool update, stale = in_the_way(s, c, &update);
  bool lose = update && !s->lost && s->is.lost_after != 0 && s->delivered >= s->is.lost_after;
  if (stale && !lose) return false;
  s->lost |= lose;
  c->lost = lose;
  s->commits++;
  for (uint32_t i = 0; i < c->done; i++) {
    stored *key = &s->keys[c->ops[i].key];
    if (!c->ops[i].write) continue;
    if (key->versions[0].committed != s->commits)
      memmove(key->versions + 1, key->versions, (VERSIONS - 1) * sizeof *key->versions);
    key->versions[0] = (version){.committed = s->commits, .value = c->ops[i].value, .update = is_update(c, i)};
  }
  return true;
}

/* Goes on until another client has its reply; that one's number. */
static uint32_t advance(stream *s) {
  for (;;) {
    uint32_t most = s->is.sessions / 2 < LATE ? s->is.sessions / 2 : LATE;
    if (s->late_count > most) {
      uint32_t at = (uint32_t)draw(s, s->late_count), number = s->late[at];
      s->late[at] = s->late[--s->late_count];
      return number;
    }
    uint32_t number = (uint32_t)draw(s, s->is.sessions);
    client *c = &s->clients[number];
    s->clock++;
    if (!c->replied && c->done == s->is.ops) continue; /* waits for its reply */
    if (c->replied) begin(s, c);
    step(s, c);
    if (c->done < s->is.ops) continue;
    if (commit(s, c))
      s->late[s->late_count++] = number;
    else
      begin(s, c);
  }
}

static isoproof_status put(stream *s, uint32_t number, isoproof_builder *builder, isoproof_error *error) {
  client *c = &s->clients[number];
  uint32_t session;
  isoproof_status status = isoproof_builder_session(builder, isoproof_integer(number), &session, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_times(builder, c->start, (int64_t)++s->clock, error);
  for (uint32_t i = 0; status == ISOPROOF_OK && i < c->done; i++) {
    const operation *op = &c->ops[i];
    isoproof_scalar value = op->value != 0 ? isoproof_integer((int64_t)op->value) : isoproof_nil();
    status = isoproof_builder_op(builder, op->write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ, isoproof_integer(op->key),
                                 value, error);
  }
  c->replied = true;
  s->delivered++;
  if (c->lost) s->lost_at = s->delivered;
  return status;
}

/* The numbers that transactions get in the history, in the order in which they came. */
static void number_all(const isoproof_history *batch, const uint32_t *arrived, uint64_t count, uint64_t *next,
                       uint64_t *order) {
  isoproof_session session = {.struct_size = sizeof session};
  for (uint64_t i = 0; isoproof_history_session_at(batch, i, &session); i++) {
    next[session.name.integer] = session.first_txn;
  }
  for (uint64_t i = 0; i < count; i++) order[i] = next[arrived[i]]++;
}

isoproof_status stream_next(stream *s, uint64_t count, isoproof_history **batch, uint64_t **order,
                            isoproof_error *error) {
  isoproof_builder *builder;
  uint32_t *arrived = calloc(count, sizeof *arrived);
  uint64_t *next = calloc(s->is.sessions, sizeof *next);
  *order = calloc(count, sizeof **order);
  isoproof_status status = isoproof_builder_new(&builder, error);
  if (arrived == NULL || next == NULL || *order == NULL) status = ISOPROOF_ERR_MEMORY;
  for (uint64_t i = 0; status == ISOPROOF_OK && i < count; i++) {
    arrived[i] = advance(s);
    status = put(s, arrived[i], builder, error);
  }
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(builder, batch, error);
  if (status == ISOPROOF_OK) number_all(*batch, arrived, count, next, *order);
  isoproof_builder_free(builder);
  free(arrived);
  free(next);
  return status;
}
