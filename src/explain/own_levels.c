/* Of mixed levels: whose own level a scenario breaks, in a sentence for each transaction that missed a write. */
#include "explain/own_levels.h"

/* What a transaction must see at each level. */
static const char *const must_see[ISO_ISOLATIONS] = {
    [ISO_ISOLATION_READ_COMMITTED] = "the writes of those that it read another key from before",
    [ISO_ISOLATION_READ_ATOMIC] = "the writes of those that it read from or followed in its session",
    [ISO_ISOLATION_CAUSAL] = "the writes of all that it follows by sessions and reads",
    [ISO_ISOLATION_PREFIX] = "everything that committed up to those that it read from or followed in its session",
    [ISO_ISOLATION_SNAPSHOT_ISOLATION] =
        "everything that committed up to those that it read from, overwrote or followed in its session",
    [ISO_ISOLATION_SERIALIZABLE] = "everything that commits before it",
};

static bool is_said(const iso_scenario *s, size_t link) {
  for (size_t i = 0; i < link; i++) {
    if (s->links.items[i].kind == ISO_EDGE_RW && s->links.items[i].from == s->links.items[link].from) return true;
  }
  return false;
}

void iso_words_add_own_levels(iso_words *words, const isoproof_history *history, const iso_scenario *scenario) {
  bool any = false;
  for (size_t i = 0; i < scenario->links.count; i++) {
    const iso_link *link = &scenario->links.items[i];
    if (link->kind != ISO_EDGE_RW || is_said(scenario, i)) continue;
    iso_txn_isolation own = iso_history_isolation(history, link->from);
    if (own == ISO_ISOLATION_NONE) continue;
    if (any) iso_words_add(words, " ");
    iso_words_add_txn(words, history, link->from);
    iso_words_add(words, " runs at %s, and so has to see %s.", iso_txn_isolation_id(own), must_see[own]);
    any = true;
  }
  if (!any) iso_words_add(words, "No commit order has a cycle, whatever the levels of the transactions are.");
}
