/* driver_store.c - the versions of the simulated database: snapshots, conflicts, commits, replication. */
#include <string.h>

#include "base/hash.h"
#include "database/sim/driver.h"

enum { FIRST_TABLE = 256, MEASURE_EVERY = 256, PRUNE_AT = 8 };

/* ---- entries ---- */

static bool grow_table(iso_sim_server *server) {
  size_t size = server->table == NULL ? FIRST_TABLE : (server->table_mask + 1) * 2;
  size_t *table = iso_alloc_zero(size, sizeof *table);
  if (table == NULL) return false;
  for (size_t i = 0; i < server->entries.count; i++) {
    size_t at = iso_hash_u64((uint64_t)server->entries.items[i].key, server->seed) & (size - 1);
    while (table[at] != 0) at = (at + 1) & (size - 1);
    table[at] = i + 1;
  }
  free(server->table);
  server->table = table;
  server->table_mask = size - 1;
  return true;
}

size_t iso_sim_entry_of(iso_sim_server *server, int64_t key) {
  if (server->table == NULL || server->entries.count * 2 > server->table_mask)
    if (!grow_table(server)) return SIZE_MAX;
  size_t at = iso_hash_u64((uint64_t)key, server->seed) & server->table_mask;
  for (; server->table[at] != 0; at = (at + 1) & server->table_mask)
    if (server->entries.items[server->table[at] - 1].key == key) return server->table[at] - 1;
  iso_sim_entry entry = {.key = key};
  if (!iso_vec_push(&server->entries, entry)) return SIZE_MAX;
  server->table[at] = server->entries.count;
  return server->entries.count - 1;
}

void iso_sim_server_clear(iso_sim_server *server) {
  for (size_t i = 0; i < server->entries.count; i++) {
    iso_vec_free(&server->entries.items[i].versions);
    iso_vec_free(&server->entries.items[i].elements);
  }
  iso_vec_free(&server->entries);
  free(server->table);
  server->table = NULL;
  server->table_mask = 0;
}

/* ---- replication ---- */

static void join(iso_sim_view *view, const iso_sim_view *other) {
  for (size_t i = 0; i < ISO_SIM_NODES; i++)
    if (other->times[i] > view->times[i]) view->times[i] = other->times[i];
}

/* A node receives a commit of another one, and with it everything that commit knew of: causal order. */
static void receive(iso_sim_server *server, uint32_t node, const iso_sim_commit *commit, uint32_t origin) {
  join(&server->views[node], &commit->view);
  if (commit->time > server->views[node].times[origin]) server->views[node].times[origin] = commit->time;
}

static void log_commit(iso_sim_server *server, uint32_t origin, uint64_t time, const iso_sim_view *view) {
  uint64_t end = server->log_ends[origin]++;
  iso_sim_commit *slot = &server->logs[origin][end % ISO_SIM_LOG];
  /* Nobody may miss a commit for longer than the log is. */
  for (uint32_t i = 0; end >= ISO_SIM_LOG && i < server->nodes; i++) receive(server, i, slot, origin);
  *slot = (iso_sim_commit){time, *view};
  server->views[origin].times[origin] = time;
}

/* Before a transaction begins on a node: some of what others committed arrives. */
static void catch_up(iso_sim_server *server, iso_sim_client *client) {
  for (uint32_t origin = 0; origin < server->nodes; origin++) {
    uint64_t end = server->log_ends[origin];
    if (origin == client->node || end == 0 || iso_random_below(&client->random, 4) != 0) continue;
    uint32_t kept = end < ISO_SIM_LOG ? (uint32_t)end : ISO_SIM_LOG;
    uint64_t which = end - 1 - iso_random_below(&client->random, kept);
    receive(server, client->node, &server->logs[origin][which % ISO_SIM_LOG], origin);
  }
}

static uint64_t last_of(const iso_sim_server *server, uint32_t origin) {
  uint64_t end = server->log_ends[origin];
  return end > 0 ? server->logs[origin][(end - 1) % ISO_SIM_LOG].time : 0;
}

/* Lowers `low` to the oldest entry of a view that is behind. */
static uint64_t lower(const iso_sim_server *server, const iso_sim_view *view, uint64_t low) {
  for (uint32_t i = 0; i < server->nodes; i++)
    if (view->times[i] < low && view->times[i] < last_of(server, i)) low = view->times[i];
  return low;
}

/* Finds out which versions nobody can see any more. */
static void measure(iso_sim_server *server) {
  uint64_t low = server->clock > 2 * ISO_SIM_LAG ? server->clock - 2 * ISO_SIM_LAG : 0;
  for (uint32_t i = 0; i < server->nodes; i++) low = lower(server, &server->views[i], low);
  for (const iso_sim_client *client = server->clients; client != NULL; client = client->next)
    if (client->active) low = lower(server, &client->view, low);
  server->low = low;
}

static void prune(const iso_sim_server *server, iso_sim_entry *entry) {
  size_t first = 0, count = entry->versions.count;
  if (count < PRUNE_AT) return;
  while (first + 1 < count && entry->versions.items[first + 1].time <= server->low) first++;
  if (first == 0) return;
  entry->versions.count = count - first;
  memmove(entry->versions.items, entry->versions.items + first, entry->versions.count * sizeof *entry->versions.items);
}

/* ---- snapshots ---- */

static void view_until(iso_sim_view *view, uint64_t time) {
  for (size_t i = 0; i < ISO_SIM_NODES; i++) view->times[i] = time;
}

void iso_sim_take_view(iso_sim_server *server, iso_sim_client *client) {
  switch (client->level) {
  case ISOPROOF_SIM_READ_COMMITTED:
    view_until(&client->view, UINT64_MAX);
    break;
  case ISOPROOF_SIM_READ_ATOMIC: {
    /* Any snapshot that has what the session itself wrote. */
    uint64_t oldest = server->clock > ISO_SIM_LAG ? server->clock - ISO_SIM_LAG : 0;
    if (client->last_commit > oldest) oldest = client->last_commit;
    view_until(&client->view, oldest + iso_random_below64(&client->random, server->clock - oldest + 1));
    break;
  }
  case ISOPROOF_SIM_CAUSAL:
  case ISOPROOF_SIM_PARALLEL_SNAPSHOT:
    catch_up(server, client);
    client->view = server->views[client->node];
    break;
  default:
    view_until(&client->view, server->clock);
    break;
  }
}

static bool in_view(const iso_sim_client *client, const iso_sim_version *version) {
  return version->time <= client->view.times[version->node];
}

bool iso_sim_visible(const iso_sim_client *client, const iso_sim_entry *entry, const iso_sim_version *version) {
  if (!in_view(client, version)) return false;
  if (client->hidden == 0 || version->time != client->hidden) return true;
  return client->hides_key && entry->key != client->hidden_key;
}

const iso_sim_version *iso_sim_newest(const iso_sim_client *client, const iso_sim_entry *entry) {
  for (size_t i = entry->versions.count; i > 0; i--)
    if (iso_sim_visible(client, entry, &entry->versions.items[i - 1])) return &entry->versions.items[i - 1];
  return NULL;
}

bool iso_sim_in_range(const iso_sim_range *range, int64_t key, int64_t value) {
  int64_t tested = range->by_value ? value : key;
  return tested >= range->low && tested <= range->high;
}

bool iso_sim_see(iso_sim_server *server, const iso_sim_client *client, size_t number, bool own, int64_t *value) {
  const iso_sim_version *version = iso_sim_newest(client, &server->entries.items[number]);
  bool present = version != NULL && !version->absent;
  *value = present ? version->value : 0;
  for (size_t i = 0; own && i < client->changes.count; i++) {
    const iso_sim_change *change = &client->changes.items[i];
    if (change->entry != number || change->kind == ISO_APPEND) continue;
    present = change->kind != ISO_DELETE;
    *value = change->kind == ISO_INCREMENT ? (int64_t)((uint64_t)*value + (uint64_t)change->value) : change->value;
    if (!present) *value = 0;
  }
  return present;
}

/* ---- conflicts ---- */

static const iso_sim_version *last_version(const iso_sim_entry *entry) {
  return entry->versions.count > 0 ? &entry->versions.items[entry->versions.count - 1] : NULL;
}

static const iso_sim_version *last_element(const iso_sim_entry *entry) {
  return entry->elements.count > 0 ? &entry->elements.items[entry->elements.count - 1] : NULL;
}

/* Whether somebody committed a change of the entry that the transaction did not see. */
static bool changed(const iso_sim_client *client, const iso_sim_entry *entry) {
  const iso_sim_version *version = last_version(entry), *element = last_element(entry);
  return (version != NULL && !iso_sim_visible(client, entry, version)) ||
         (element != NULL && !iso_sim_visible(client, entry, element));
}

static bool range_changed(const iso_sim_server *server, const iso_sim_client *client, const iso_sim_range *range) {
  for (size_t i = 0; i < server->entries.count; i++) {
    const iso_sim_entry *entry = &server->entries.items[i];
    const iso_sim_version *now = last_version(entry), *then;
    if (now == NULL || iso_sim_visible(client, entry, now)) continue;
    if (!range->by_value) {
      if (iso_sim_in_range(range, entry->key, 0)) return true;
      continue;
    }
    then = iso_sim_newest(client, entry);
    if (!now->absent && iso_sim_in_range(range, entry->key, now->value)) return true;
    if (then != NULL && !then->absent && iso_sim_in_range(range, entry->key, then->value)) return true;
  }
  return false;
}

/* Appends never meet somebody else's in between: what a transaction reads back must stay the beginning of the list. */
static bool append_conflict(const iso_sim_client *client, const iso_sim_entry *entry, const iso_sim_change *change) {
  const iso_sim_version *element = last_element(entry);
  if (element == NULL) return false;
  if (client->level == ISOPROOF_SIM_READ_COMMITTED) return element->time > change->time;
  return !in_view(client, element);
}

const char *iso_sim_conflict(const iso_sim_server *server, const iso_sim_client *client) {
  if (client->changes.count == 0) return NULL;
  bool serial = client->level == ISOPROOF_SIM_SERIALIZABLE;
  if (serial && !iso_sim_skips_reads(client)) {
    for (size_t i = 0; i < client->reads.count; i++)
      if (changed(client, &server->entries.items[client->reads.items[i]])) return "a key that was read has changed";
    for (size_t i = 0; i < client->ranges.count && !iso_sim_skips_ranges(client); i++)
      if (range_changed(server, client, &client->ranges.items[i])) return "a range that was read has changed";
  }
  if (iso_sim_skips_writes(client)) return NULL;
  bool exclusive = client->level == ISOPROOF_SIM_SNAPSHOT || client->level == ISOPROOF_SIM_PARALLEL_SNAPSHOT ||
                   (serial && client->bug != ISO_SIM_NO_BUG);
  for (size_t i = 0; i < client->changes.count; i++) {
    const iso_sim_change *change = &client->changes.items[i];
    const iso_sim_entry *entry = &server->entries.items[change->entry];
    if (exclusive && changed(client, entry)) return "a key that was written has changed";
    if (!serial && change->kind == ISO_APPEND && append_conflict(client, entry, change))
      return "a list that was appended to has changed";
  }
  return NULL;
}

/* ---- commits ---- */

static bool reserve(iso_sim_server *server, iso_sim_client *client) {
  for (size_t i = 0; i < client->changes.count; i++) {
    iso_sim_entry *entry = &server->entries.items[client->changes.items[i].entry];
    size_t more = client->changes.count * 2;
    bool done = client->changes.items[i].kind == ISO_APPEND ? iso_vec_reserve(&entry->elements, more)
                                                            : iso_vec_reserve(&entry->versions, more);
    if (!done) return false;
  }
  return true;
}

/* Applies one change; returns whether its key is new in this commit.  Room was made. */
static bool apply_one(iso_sim_server *server, const iso_sim_client *client, const iso_sim_change *change) {
  iso_sim_entry *entry = &server->entries.items[change->entry];
  if (client->bug == ISOPROOF_SIM_BUG_LOST_DELETE && change->kind == ISO_DELETE) return false;
  iso_sim_version version = {server->clock, client->node, change->kind == ISO_DELETE, change->value};
  if (change->kind == ISO_APPEND) {
    const iso_sim_version *last = last_element(entry);
    bool fresh = last == NULL || last->time != server->clock;
    int copies = client->bug == ISOPROOF_SIM_BUG_DUPLICATE_APPEND ? 2 : 1;
    if (entry->elements.items == NULL) return false; /* never: room was made */
    for (int i = 0; i < copies; i++)
      if (!iso_vec_push(&entry->elements, version)) break;
    return fresh;
  }
  const iso_sim_version *last = last_version(entry);
  bool fresh = last == NULL || last->time != server->clock;
  if (change->kind == ISO_INCREMENT && last != NULL && !last->absent)
    version.value = (int64_t)((uint64_t)last->value + (uint64_t)change->value);
  if (!fresh && !last->absent) {
    entry->has_intermediate = true;
    entry->intermediate = last->value;
  }
  if (!fresh) entry->versions.count--;
  prune(server, entry);
  return iso_vec_push(&entry->versions, version) && fresh;
}

bool iso_sim_apply(iso_sim_server *server, iso_sim_client *client) {
  if (client->changes.count == 0) return true;
  if (!reserve(server, client)) return false;
  server->clock++;
  size_t keys = 0;
  for (size_t i = 0; i < client->changes.count; i++) keys += apply_one(server, client, &client->changes.items[i]);
  iso_sim_view known = client->level == ISOPROOF_SIM_CAUSAL || client->level == ISOPROOF_SIM_PARALLEL_SNAPSHOT
                           ? client->view
                           : server->views[client->node];
  log_commit(server, client->node, server->clock, &known);
  if (server->clock % MEASURE_EVERY == 0) measure(server);
  iso_sim_after_commit(server, client, keys);
  client->last_commit = client->last_seen = server->clock;
  return true;
}

void iso_sim_forget(iso_sim_server *server, iso_sim_client *client) {
  for (size_t i = 0; i < client->changes.count; i++) {
    const iso_sim_change *change = &client->changes.items[i];
    if (change->kind == ISO_DELETE || change->kind == ISO_INCREMENT) continue;
    iso_sim_entry *entry = &server->entries.items[change->entry];
    entry->has_aborted = true;
    entry->aborted = change->value;
  }
}
