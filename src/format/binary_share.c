/* What one of several processes checks of a binary file that all of them read. */
#include <stdlib.h>

#include "base/vector.h"
#include "format/binary.h"
#include "format/jsonl.h"

static isoproof_status find_ranges(const isoproof_history *h, iso_binary_share *s, isoproof_error *error) {
  s->first_txn = iso_history_share(h, s->number, s->count);
  s->end_txn = iso_history_share(h, s->number + 1, s->count);
  s->first_key = (uint32_t)((uint64_t)h->keys * s->number / s->count);
  s->end_key = (uint32_t)((uint64_t)h->keys * (s->number + 1) / s->count);
  const uint32_t *first = h->txn_first_op;
  bool good = s->first_txn <= s->end_txn && first[s->end_txn] <= h->ops;
  for (uint32_t t = s->first_txn; good && t < s->end_txn; t++) good = first[t] <= first[t + 1];
  return good ? ISOPROOF_OK : iso_binary_bad(h, error, "TXN_FIRST_OP", s->first_txn, "no less than the element before");
}

static isoproof_status check_lists(const isoproof_history *h, const iso_binary_header *header,
                                   const iso_binary_share *s, isoproof_error *error) {
  uint64_t lists = header->list_values, odd = header->odd_values;
  if (h->list_first != NULL) {
    ISO_TRY(iso_binary_check_offsets(h, h->list_first, s->first_key, s->end_key, lists, "LIST_FIRST", error));
    uint64_t first = h->list_first[s->first_key], end = h->list_first[s->end_key];
    ISO_TRY(iso_binary_check_codes(h, h->list_values + first, end - first, "LIST_VALUES", error));
    if (s->end_key == h->keys && end != lists)
      return iso_binary_bad(h, error, "LIST_FIRST", h->keys, "the number of elements that it divides");
  }
  if (h->odd_first == NULL) return ISOPROOF_OK;
  /* There are few of them, and any may be read by any operation. */
  ISO_TRY(iso_binary_check_offsets(h, h->odd_first, 0, h->odd_lists, odd, "ODD_FIRST", error));
  if (h->odd_first[h->odd_lists] != odd)
    return iso_binary_bad(h, error, "ODD_FIRST", h->odd_lists, "the number of elements that it divides");
  return iso_binary_check_codes(h, h->odd_values, odd, "ODD_VALUES", error);
}

static void see(iso_binary_share *s, uint64_t number) { s->seen[number / 8] |= (uint8_t)(1U << number % 8); }

static bool is_seen(const uint8_t *seen, uint64_t number) { return (seen[number / 8] >> number % 8 & 1) != 0; }

static isoproof_status check_ops(const isoproof_history *h, iso_binary_share *s, isoproof_task *task,
                                 isoproof_error *error) {
  uint32_t first = h->txn_first_op[s->first_txn], end = h->txn_first_op[s->end_txn];
  uint8_t *used = iso_alloc_zero(h->keys, sizeof *used);
  if (used == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_binary_validate_ops(h, first, end, used, task, error);
  for (uint32_t key = 0; status == ISOPROOF_OK && key < h->keys; key++) {
    if (used[key]) see(s, key);
  }
  free(used);
  ISO_TRY(status);
  for (uint32_t op = first; h->odd_lists > 0 && op < end; op++) {
    iso_value value = h->op_value[op];
    bool odd = iso_kind_is_list((isoproof_op_kind)h->op_kind[op]) && value >= ISO_VALUE_INTERNED;
    if (!odd || value == ISO_VALUE_NONE) continue;
    see(s, (uint64_t)h->keys + (value & ~ISO_VALUE_INTERNED));
    s->odd_reads++;
  }
  for (uint32_t op = first; h->op_statement_opt != NULL && op < end; op++) {
    if (h->op_statement_opt[op] > ISO_JSONL_FACTS)
      return iso_binary_bad(h, error, "OP_STATEMENT", op, "the number of a fact");
  }
  return ISOPROOF_OK;
}

isoproof_status iso_binary_validate_share(const isoproof_history *h, const iso_binary_header *header,
                                          iso_binary_share *s, isoproof_task *task, isoproof_error *error) {
  if (iso_history_has_rows(h) || h->content_count > 0 || h->condition_count > 0 || h->key_label_opt != NULL)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "rows are checked as a whole only");
  s->seen_bytes = ((size_t)h->keys + h->odd_lists + 7) / 8;
  s->seen = iso_alloc_zero(s->seen_bytes, 1);
  if (s->seen == NULL) return iso_fail_memory(error);
  if (s->number == 0) ISO_TRY(iso_binary_validate_frame(h, task, error));
  ISO_TRY(find_ranges(h, s, error));
  ISO_TRY(check_lists(h, header, s, error));
  return check_ops(h, s, task, error);
}

isoproof_status iso_binary_check_seen(const isoproof_history *h, const uint8_t *seen, uint64_t odd_reads,
                                      isoproof_error *error) {
  uint64_t odd_seen = 0;
  for (uint32_t key = 0; key < h->keys; key++) {
    if (is_seen(seen, key)) continue;
    return iso_binary_bad(h, error, "KEY_NAME", key, "a key that an operation has, or a row at the start");
  }
  for (uint32_t i = 0; i < h->odd_lists; i++) odd_seen += is_seen(seen, (uint64_t)h->keys + i);
  if (odd_seen == odd_reads) return ISOPROOF_OK;
  return iso_binary_bad(h, error, "OP_VALUE", 0, "a list of its own, which no other operation has");
}
