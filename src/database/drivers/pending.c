/* pending.c - writes that wait for the commit of their transaction, and how its reads see them. */
#include "database/drivers/pending.h"

/* Additions wrap around as those of the databases do not: who comes that far is refused by them. */
static int64_t plus(int64_t a, int64_t b, int64_t zero) {
  return (int64_t)((uint64_t)a + (uint64_t)b - (uint64_t)zero);
}

static iso_pending_write *find(const iso_pending *pending, int64_t key) {
  for (size_t i = 0; i < pending->writes.count; i++)
    if (pending->writes.items[i].key == key && pending->writes.items[i].kind != ISO_PENDING_APPEND)
      return &pending->writes.items[i];
  return NULL;
}

const iso_pending_write *iso_pending_find(const iso_pending *pending, int64_t key) { return find(pending, key); }

bool iso_pending_has(const iso_pending *pending, iso_pending_kind kind, const int64_t *key) {
  for (size_t i = 0; i < pending->writes.count; i++)
    if (pending->writes.items[i].kind == kind && (key == NULL || pending->writes.items[i].key == *key)) return true;
  return false;
}

bool iso_pending_add(iso_pending *pending, iso_pending_kind kind, int64_t key, int64_t value, int64_t zero) {
  iso_pending_write *before = kind != ISO_PENDING_APPEND ? find(pending, key) : NULL;
  if (before == NULL) return iso_vec_push(&pending->writes, ((iso_pending_write){kind, key, value}));
  if (kind != ISO_PENDING_ADD || before->kind == ISO_PENDING_DELETE) {
    before->kind = kind == ISO_PENDING_ADD ? ISO_PENDING_SET : kind;
    before->value = value;
  } else {
    before->value = plus(before->value, value, zero);
  }
  return true;
}

static void see(const iso_pending_write *write, int64_t zero, bool *present, int64_t *value) {
  if (write->kind == ISO_PENDING_ADD)
    *value = *present ? plus(*value, write->value, zero) : write->value;
  else
    *value = write->value;
  *present = write->kind != ISO_PENDING_DELETE;
}

void iso_pending_see(const iso_pending *pending, int64_t key, int64_t zero, bool *present, int64_t *value) {
  const iso_pending_write *write = find(pending, key);
  if (write != NULL) see(write, zero, present, value);
}

bool iso_pending_see_rows(const iso_pending *pending, int64_t low, int64_t high, int64_t zero, iso_reply *reply) {
  for (size_t i = 0; i < pending->writes.count; i++) {
    const iso_pending_write *write = &pending->writes.items[i];
    if (write->kind == ISO_PENDING_APPEND || write->key < low || write->key > high) continue;
    size_t at = 0;
    while (at < reply->rows.count && reply->rows.items[at].key < write->key) at++;
    bool present = at < reply->rows.count && reply->rows.items[at].key == write->key, was = present;
    int64_t value = present ? reply->rows.items[at].value : 0;
    see(write, zero, &present, &value);
    if (!was && present && !iso_reply_add_row(reply, 0, 0)) return false;
    iso_row *rows = reply->rows.items;
    if (!was && present)
      for (size_t j = reply->rows.count - 1; j > at; j--) rows[j] = rows[j - 1];
    if (present) rows[at] = (iso_row){write->key, value};
    if (!was || present) continue;
    for (size_t j = at; j + 1 < reply->rows.count; j++) rows[j] = rows[j + 1];
    reply->rows.count--;
  }
  return true;
}

bool iso_pending_see_list(const iso_pending *pending, int64_t key, iso_reply *reply) {
  for (size_t i = 0; i < pending->writes.count; i++) {
    const iso_pending_write *write = &pending->writes.items[i];
    if (write->kind != ISO_PENDING_APPEND || write->key != key) continue;
    if (reply->list.count >= ISO_MOST_LIST || !iso_vec_push(&reply->list, write->value)) return false;
    reply->present = true;
  }
  return true;
}
