/* driver_bugs.c - how transactions of the simulated database go wrong, one by one and by name.
 *
 * A transaction that is drawn to go wrong does so in one way: its snapshot is bent when it begins, or one of its reads
 * is, or its commit is not checked.  Whether that shows depends on what the clients do next to each other.
 */
#include <string.h>
#include <strings.h>

#include "database/sim/driver.h"

/* How many commits a crash forgets; how many transactions a fork lasts. */
enum { FORGOTTEN = 4, FORK_TXNS = 64 };

static const struct {
  const char *name, *level;
} driver_bugs[] = {
#define ISO_X(name, id, level, text) {id, level},
    ISO_SIM_DRIVER_BUG_LIST(ISO_X)
#undef ISO_X
};

const char *iso_sim_driver_bug_name(uint32_t bug) {
  bool own = bug >= ISOPROOF_SIM_BUGS;
  return own ? driver_bugs[bug - ISOPROOF_SIM_BUGS].name : isoproof_sim_bug_name((isoproof_sim_bug)bug);
}

const char *iso_sim_driver_bug_level(uint32_t bug) {
  bool own = bug >= ISOPROOF_SIM_BUGS;
  return own ? driver_bugs[bug - ISOPROOF_SIM_BUGS].level : isoproof_sim_bug_level((isoproof_sim_bug)bug);
}

bool iso_sim_driver_bug_find(const char *name, size_t length, uint32_t *bug) {
  for (*bug = 0; *bug < ISO_SIM_ALL_BUGS; (*bug)++) {
    const char *known = iso_sim_driver_bug_name(*bug);
    if (strlen(known) == length && strncasecmp(known, name, length) == 0) return true;
  }
  return false;
}

/* ---- snapshots ---- */

/* Sees only what was committed until then; a client of a weak level may see less already. */
static void see_until(iso_sim_client *client, uint64_t time) {
  for (size_t i = 0; i < ISO_SIM_NODES; i++)
    if (client->view.times[i] > time) client->view.times[i] = time;
}

static uint64_t latest(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* While a fork lasts: of two commits that did not know of each other one is not seen, and every other session misses
 * the other one.  Sessions that have seen more than that cannot be made to forget. */
static bool bend_fork(iso_sim_server *server, iso_sim_client *client) {
  if (server->fork_left == 0) return false;
  if (server->clock - server->fork_first > ISO_SIM_LAG) {
    server->fork_left = 0;
    return false;
  }
  if (client->last_seen >= server->fork_first) return false;
  server->fork_left--;
  see_until(client, server->fork_second);
  client->hidden = client->number % 2 == 0 ? server->fork_first : server->fork_second;
  client->bug = ISOPROOF_SIM_BUG_LONG_FORK;
  return true;
}

/* Of rows that are deleted one, with luck, is back: its last version is gone. */
static void resurrect(iso_sim_server *server, iso_sim_client *client) {
  size_t count = server->entries.count;
  size_t first = count > 0 ? (size_t)iso_random_below64(&client->random, count) : 0;
  for (size_t i = 0; i < count; i++) {
    iso_sim_entry *entry = &server->entries.items[(first + i) % count];
    size_t versions = entry->versions.count;
    if (versions < 2 || !entry->versions.items[versions - 1].absent || entry->versions.items[versions - 2].absent)
      continue;
    entry->versions.count--;
    return;
  }
}

void iso_sim_draw_bug(iso_sim_server *server, iso_sim_client *client) {
  client->bug = ISO_SIM_NO_BUG;
  client->bug_done = client->hides_key = false;
  client->hidden = 0;
  if (server->bug_count == 0 || bend_fork(server, client)) return;
  if (!iso_random_chance(&client->random, server->rate)) return;
  client->bug = server->bug_list[iso_random_below(&client->random, server->bug_count)];
  uint64_t oldest = server->clock > ISO_SIM_LAG ? server->clock - ISO_SIM_LAG : 0;
  switch (client->bug) {
  case ISOPROOF_SIM_BUG_STALE_READ:
    see_until(client, latest(oldest, client->last_seen));
    break;
  case ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION:
    see_until(client, latest(oldest, client->last_commit));
    break;
  case ISOPROOF_SIM_BUG_FRACTURED_READ:
    if (server->last_wide > oldest) see_until(client, server->last_wide);
    break;
  case ISOPROOF_SIM_BUG_RESURRECTED_ROW:
    resurrect(server, client);
    break;
  default:
    break;
  }
}

/* ---- reads ---- */

static bool read_before(const iso_sim_client *client, size_t entry) {
  size_t times = 0;
  for (size_t i = 0; i < client->reads.count; i++) times += client->reads.items[i] == entry;
  return times > 1; /* this read is among them */
}

static bool wrote(const iso_sim_client *client, size_t entry) {
  for (size_t i = 0; i < client->changes.count; i++)
    if (client->changes.items[i].entry == entry) return true;
  return false;
}

/* Whether the commit of that time changed the entry. */
static bool changed_at(const iso_sim_entry *entry, uint64_t time) {
  for (size_t i = entry->versions.count; i > 0 && entry->versions.items[i - 1].time >= time; i--)
    if (entry->versions.items[i - 1].time == time) return true;
  for (size_t i = entry->elements.count; i > 0 && entry->elements.items[i - 1].time >= time; i--)
    if (entry->elements.items[i - 1].time == time) return true;
  return false;
}

void iso_sim_bend_before(iso_sim_server *server, iso_sim_client *client, size_t number) {
  const iso_sim_entry *entry = &server->entries.items[number];
  if (client->bug != ISOPROOF_SIM_BUG_FRACTURED_READ || client->bug_done || wrote(client, number)) return;
  if (server->last_wide == 0 || !changed_at(entry, server->last_wide)) return;
  client->bug_done = client->hides_key = true;
  client->hidden = server->last_wide;
  client->hidden_key = entry->key;
}

/* The version before the one that the transaction sees. */
static bool bend_to_older(const iso_sim_client *client, const iso_sim_entry *entry, bool *present, int64_t *value) {
  size_t i = entry->versions.count;
  while (i > 0 && !iso_sim_visible(client, entry, &entry->versions.items[i - 1])) i--;
  if (i < 2) return false;
  const iso_sim_version *older = &entry->versions.items[i - 2];
  *present = !older->absent;
  *value = older->value;
  return true;
}

void iso_sim_bend_read(iso_sim_server *server, iso_sim_client *client, size_t number, bool *present, int64_t *value) {
  const iso_sim_entry *entry = &server->entries.items[number];
  bool own = wrote(client, number);
  if (client->bug_done) return;
  switch (client->bug) {
  case ISOPROOF_SIM_BUG_OWN_WRITE_MISSED:
    if (own) {
      *present = iso_sim_see(server, client, number, false, value);
      client->bug_done = true;
    }
    break;
  case ISOPROOF_SIM_BUG_ABORTED_READ:
  case ISOPROOF_SIM_BUG_INTERMEDIATE_READ: {
    bool aborted = client->bug == ISOPROOF_SIM_BUG_ABORTED_READ;
    if (own || !(aborted ? entry->has_aborted : entry->has_intermediate)) break;
    *present = client->bug_done = true;
    *value = aborted ? entry->aborted : entry->intermediate;
    break;
  }
  case ISOPROOF_SIM_BUG_NON_REPEATABLE_READ:
    if (!own && read_before(client, number)) client->bug_done = bend_to_older(client, entry, present, value);
    break;
  case ISOPROOF_SIM_BUG_THIN_AIR_READ:
    if (own) break;
    *present = client->bug_done = true;
    *value = INT64_MAX - (int64_t)iso_random_below(&client->random, 1000000);
    break;
  default:
    break;
  }
}

void iso_sim_bend_list(iso_sim_server *server, iso_sim_client *client, size_t number, iso_reply *reply) {
  const iso_sim_entry *entry = &server->entries.items[number];
  bool own = wrote(client, number);
  if (client->bug_done) return;
  switch (client->bug) {
  case ISOPROOF_SIM_BUG_OWN_WRITE_MISSED:
    if (!own || reply->list.count == 0) break;
    reply->list.count--;
    client->bug_done = true;
    break;
  case ISOPROOF_SIM_BUG_ABORTED_READ:
    if (own || !entry->has_aborted) break;
    client->bug_done = reply->present = iso_vec_push(&reply->list, entry->aborted);
    break;
  case ISOPROOF_SIM_BUG_INTERMEDIATE_READ:
    /* Half of what the last transaction appended. */
    if (own || entry->elements.count < 2 || reply->list.count != entry->elements.count) break;
    if (entry->elements.items[entry->elements.count - 1].time != entry->elements.items[entry->elements.count - 2].time)
      break;
    reply->list.count--;
    client->bug_done = true;
    break;
  case ISOPROOF_SIM_BUG_NON_REPEATABLE_READ:
    if (own || !read_before(client, number) || reply->list.count == 0) break;
    reply->list.count--;
    client->bug_done = true;
    break;
  case ISOPROOF_SIM_BUG_THIN_AIR_READ: {
    int64_t value = INT64_MAX - (int64_t)iso_random_below(&client->random, 1000000);
    if (!own) client->bug_done = reply->present = iso_vec_push(&reply->list, value);
    break;
  }
  default:
    break;
  }
}

/* Whether a version made its row, which was absent before. */
static bool is_insert(const iso_sim_entry *entry, const iso_sim_version *version) {
  return !version->absent && (version == entry->versions.items || version[-1].absent);
}

size_t iso_sim_missed(iso_sim_server *server, iso_sim_client *client, const iso_sim_range *range) {
  size_t missed = SIZE_MAX;
  uint64_t last = 0;
  if (client->bug != ISOPROOF_SIM_BUG_MISSED_INSERT || client->bug_done) return missed;
  for (size_t i = 0; i < server->entries.count; i++) {
    const iso_sim_entry *entry = &server->entries.items[i];
    const iso_sim_version *version = iso_sim_newest(client, entry);
    if (version == NULL || version->time < last || !is_insert(entry, version) || wrote(client, i)) continue;
    if (!iso_sim_in_range(range, entry->key, version->value)) continue;
    missed = i;
    last = version->time;
  }
  client->bug_done = missed != SIZE_MAX;
  return missed;
}

/* ---- commits ---- */

bool iso_sim_skips_reads(const iso_sim_client *client) {
  return client->bug == ISOPROOF_SIM_BUG_LOST_UPDATE || client->bug == ISOPROOF_SIM_BUG_WRITE_SKEW;
}

bool iso_sim_skips_ranges(const iso_sim_client *client) { return client->bug == ISOPROOF_SIM_BUG_PHANTOM; }

bool iso_sim_skips_writes(const iso_sim_client *client) { return client->bug == ISOPROOF_SIM_BUG_LOST_UPDATE; }

/* A crash: the last commits are gone, though their clients were told that they are there, and so are the connections.
 */
static void crash(iso_sim_server *server, const iso_sim_client *survivor) {
  for (iso_sim_client *client = server->clients; client != NULL; client = client->next)
    if (client != survivor) client->crashed = true;
  uint64_t survived = server->clock > FORGOTTEN ? server->clock - FORGOTTEN : 0;
  for (size_t i = 0; i < server->entries.count; i++) {
    iso_sim_entry *entry = &server->entries.items[i];
    while (entry->versions.count > 0 && entry->versions.items[entry->versions.count - 1].time > survived)
      entry->versions.count--;
    while (entry->elements.count > 0 && entry->elements.items[entry->elements.count - 1].time > survived)
      entry->elements.count--;
  }
}

void iso_sim_after_commit(iso_sim_server *server, iso_sim_client *client, size_t keys) {
  if (keys > 1) server->last_wide = server->clock;
  /* The commit before this one came from another session, and this one did not see it. */
  bool apart = server->last_committer != client->number && client->view.times[0] < server->clock - 1;
  bool drawn = client->bug == ISOPROOF_SIM_BUG_LONG_FORK && client->hidden == 0;
  if (drawn && apart && server->fork_left == 0) {
    server->fork_first = server->clock - 1;
    server->fork_second = server->clock;
    server->fork_left = FORK_TXNS;
  }
  server->last_committer = client->number;
  if (client->bug == ISO_SIM_LOST_WRITE) crash(server, client);
}
