/* How each text of the pool is written to EDN or JSON, and which two would become the same. */
#include "base/hash.h"
#include "base/text.h"
#include "base/vector.h"
#include "format/jepsen_write.h"

enum { ROLE_KEY = 1, ROLE_VALUE = 2, ROLE_SESSION = 4 };

static iso_text_style style_of(iso_token_dialect dialect, isoproof_scalar_type type, const char *text, size_t length) {
  if (type == ISOPROOF_SYMBOL && iso_token_is_symbol(dialect, text, length)) return ISO_TEXT_BARE;
  if (type == ISOPROOF_KEYWORD && dialect == ISO_TOKEN_DIALECT_EDN && iso_edn_is_keyword(text, length))
    return ISO_TEXT_KEYWORD;
  if (type != ISOPROOF_STRING && dialect == ISO_TOKEN_DIALECT_EDN) return ISO_TEXT_NOT;
  return iso_utf8_valid(text, length) ? ISO_TEXT_QUOTED : ISO_TEXT_NOT;
}

static void give_role(uint8_t *roles, const iso_value *values, uint64_t count, uint8_t role) {
  for (uint64_t i = 0; i < count; i++) {
    if ((values[i] & ISO_VALUE_INTERNED) != 0 && values[i] != ISO_VALUE_NONE) {
      uint32_t entry = values[i] & ~ISO_VALUE_INTERNED;
      roles[entry] = (uint8_t)(roles[entry] | role);
    }
  }
}

/* What each entry of the pool is used as. */
static void give_roles(const isoproof_history *h, uint8_t *roles) {
  give_role(roles, h->key_name, h->keys, ROLE_KEY);
  give_role(roles, h->session_name, h->sessions, ROLE_SESSION);
  for (uint32_t i = 0; i < h->ops; i++) {
    if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[i])) give_role(roles, &h->op_value[i], 1, ROLE_VALUE);
  }
  if (h->list_first != NULL) give_role(roles, h->list_values, h->list_first[h->keys], ROLE_VALUE);
  if (h->odd_first != NULL) give_role(roles, h->odd_values, h->odd_first[h->odd_lists], ROLE_VALUE);
}

static const char *entry_text(const isoproof_history *h, uint32_t entry) {
  return h->pool.text + h->pool.entries[entry].payload;
}

static bool same_text(const isoproof_history *h, uint32_t a, uint32_t b) {
  uint32_t length = h->pool.entries[a].length;
  return length == h->pool.entries[b].length && memcmp(entry_text(h, a), entry_text(h, b), length) == 0;
}

static bool has_text(const isoproof_history *h, uint32_t entry) {
  return h->pool.entries[entry].type >= ISOPROOF_STRING;
}

/* Finds two entries that would be written alike in the same role; UINT32_MAX when there are none. */
static uint32_t find_clash(const isoproof_history *h, const uint8_t *styles, uint8_t *roles, uint32_t *slots,
                           size_t mask) {
  uint64_t seed = iso_hash_seed();
  for (uint32_t e = 0; e < h->pool.count; e++) {
    if (!has_text(h, e) || styles[e] != ISO_TEXT_QUOTED) continue;
    size_t at = iso_hash_bytes(entry_text(h, e), h->pool.entries[e].length, seed) & mask;
    while (slots[at] != 0 && !same_text(h, slots[at] - 1, e)) at = (at + 1) & mask;
    if (slots[at] == 0) {
      slots[at] = e + 1;
      continue;
    }
    uint32_t first = slots[at] - 1;
    if ((roles[first] & roles[e]) != 0) return e;
    roles[first] = (uint8_t)(roles[first] | roles[e]);
  }
  return UINT32_MAX;
}

static isoproof_status refuse_clashes(const isoproof_history *h, const uint8_t *styles, isoproof_error *error) {
  size_t mask = 15;
  while (mask < (size_t)h->pool.count * 2) mask = mask * 2 + 1;
  uint8_t *roles = iso_alloc_zero(h->pool.count, 1);
  uint32_t *slots = iso_alloc_zero(mask + 1, sizeof *slots);
  isoproof_status status = ISOPROOF_OK;
  if (roles == NULL || slots == NULL) {
    status = iso_fail_memory(error);
  } else {
    give_roles(h, roles);
    uint32_t clash = find_clash(h, styles, roles, slots, mask);
    if (clash != UINT32_MAX) {
      char quoted[256];
      status = iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                        "JSON cannot tell the string %s from the keyword or symbol of the same text",
                        iso_quote(entry_text(h, clash), h->pool.entries[clash].length, quoted));
    }
  }
  free(roles);
  free(slots);
  return status;
}

isoproof_status iso_text_styles(const isoproof_history *history, iso_token_dialect dialect, bool lossy,
                                uint8_t **styles, isoproof_error *error) {
  *styles = iso_alloc_zero(history->pool.count, 1);
  if (*styles == NULL) return iso_fail_memory(error);
  bool turned = false; /* into a string */
  for (uint32_t e = 0; e < history->pool.count; e++) {
    if (!has_text(history, e)) continue;
    isoproof_scalar_type type = (isoproof_scalar_type)history->pool.entries[e].type;
    (*styles)[e] = (uint8_t)style_of(dialect, type, entry_text(history, e), history->pool.entries[e].length);
    if (type != ISOPROOF_STRING && (*styles)[e] == ISO_TEXT_QUOTED) turned = true;
  }
  if (!turned || lossy) return ISOPROOF_OK;
  isoproof_status status = refuse_clashes(history, *styles, error);
  if (status != ISOPROOF_OK) {
    free(*styles);
    *styles = NULL;
  }
  return status;
}
