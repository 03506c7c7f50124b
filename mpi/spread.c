/* Reading a history by ranges, or on rank 0, and the exchange of its operations. */
#include "mpi/spread.h"

#include <stdlib.h>
#include <string.h>

#include "format/binary.h"
#include "format/format.h"
#include "mpi/folder.h"
#include "mpi/ranges.h"

void spread_free_part(spread *s) {
  if (s->has_part) iso_part_free(&s->part);
  s->has_part = false;
}

static void free_range(spread *s) {
  isoproof_history_free(s->range);
  iso_range_map_free(&s->map);
  s->range = NULL;
}

void spread_free(spread *s) {
  spread_free_part(s);
  free_range(s);
  isoproof_history_free(s->history);
  free(s->status);
  memset(s, 0, sizeof *s);
}

/* ---- reading ---- */

isoproof_status spread_open_whole(const char *path, const char *format, isoproof_task *task, isoproof_history **history,
                                  isoproof_error *error) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = format};
  if (folder_is_parts(path)) return folder_open_whole(path, task, history, error);
  return isoproof_history_open(path, &open, task, history, error);
}

/* Each rank checks its share of a file in the binary form; *good: nothing is wrong with it.  Where something is, or it
 * has to be read as a whole, rank 0 does that, and finds what is wrong as well. */
static isoproof_status map_share(talk *t, const char *path, spread *s, bool *good, isoproof_error *error) {
  iso_binary_share share = {.number = (uint32_t)t->rank, .count = (uint32_t)t->ranks};
  isoproof_status status = iso_read_binary_share(path, &share, &s->history, t->task, error);
  *good = talk_sum(t, status != ISOPROOF_OK) == 0;
  if (*good) {
    uint64_t odd_reads = talk_sum(t, share.odd_reads);
    talk_or(t, share.seen, share.seen_bytes);
    if (t->rank == 0) status = iso_binary_check_seen(s->history, share.seen, odd_reads, error);
    *good = talk_sum(t, status != ISOPROOF_OK) == 0;
  }
  free(share.seen);
  s->in_ranges = *good;
  if (!*good) spread_free(s);
  return ISOPROOF_OK;
}

static isoproof_status read_history(talk *t, const char *path, const char *format, const reading *plan, spread *s,
                                    isoproof_error *error) {
  bool good = false;
  if (plan->way == READ_RANGES) ISO_TRY(ranges_read(t, path, plan, s, &good, error));
  if (plan->way == READ_MAPPED) ISO_TRY(map_share(t, path, s, &good, error));
  if (plan->way == READ_PARTS) ISO_TRY(folder_read(t, path, s, &good, error));
  s->readers = good ? t->ranks : 1;
  if (good || t->rank != 0) return ISOPROOF_OK;
  return spread_open_whole(path, format, t->task, &s->history, error);
}

/* What every part must know: how many transactions there are, and what became of them. */
static void share_frame(const talk *t, spread *s, iso_part_frame *frame) {
  struct {
    uint32_t txns, initial_is_zero;
  } head = {0, 0};
  if (s->history != NULL) head.txns = s->history->txns, head.initial_is_zero = s->history->initial_is_zero;
  talk_share(t, &head, sizeof head);
  if (s->history == NULL) {
    s->status = iso_alloc(head.txns, 1);
    if (s->status == NULL) talk_give_up();
  }
  uint8_t *column = s->history != NULL ? s->history->txn_status : s->status;
  if (!s->in_ranges) talk_share(t, column, head.txns);
  *frame = (iso_part_frame){.txns = head.txns,
                            .txn_status = column,
                            .initial_is_zero = head.initial_is_zero != 0,
                            .common_lists = s->range == NULL};
}

static iso_piece piece_of(const talk *t, const spread *s) {
  if (s->range != NULL) return iso_piece_of_range(s->range, &s->map);
  if (s->history == NULL) return (iso_piece){.keys = 0};
  iso_piece piece = iso_piece_of(s->history);
  if (!s->in_ranges) return piece;
  uint64_t keys = s->history->keys, rank = (uint64_t)t->rank, ranks = (uint64_t)t->ranks;
  piece.first_txn = iso_history_share(s->history, (uint32_t)rank, (uint32_t)ranks);
  piece.end_txn = iso_history_share(s->history, (uint32_t)rank + 1, (uint32_t)ranks);
  piece.first_key = (uint32_t)(keys * rank / ranks);
  piece.end_key = (uint32_t)(keys * (rank + 1) / ranks);
  return piece;
}

/* ---- the exchange ---- */

/* The operations are with the parts now; their numbers stay. */
static void drop_operations(spread *s) {
  isoproof_history *h = s->history;
  free_range(s);
  if (h == NULL || h->map != NULL) return;
  free(h->op_kind);
  free(h->op_key);
  free(h->op_value);
  h->op_kind = NULL;
  h->op_key = NULL;
  h->op_value = NULL;
}

/* In rounds, so that what is on its way does not take much memory; lists go in the first one. */
static isoproof_status exchange_rounds(talk *t, const iso_piece *piece, iso_bytes *lists, iso_bytes *ops,
                                       iso_shipment *from, isoproof_error *error) {
  enum { BYTES_AT_ONCE = 32 << 20 };
  uint32_t txn = piece->first_txn, parts = (uint32_t)t->ranks;
  isoproof_status status = iso_ship_lists(piece, parts, ISO_ALL_PARTS, lists, error);
  for (bool more = true; more;) {
    if (status == ISOPROOF_OK && txn < piece->end_txn)
      status = iso_ship_ops(piece, parts, ISO_ALL_PARTS, BYTES_AT_ONCE, &txn, ops, t->task, error);
    more = txn < piece->end_txn;
    ISO_TRY(talk_exchange(t, status, lists, ops, &more, from, error));
    for (uint32_t i = 0; i < parts; i++) lists[i].count = ops[i].count = 0;
    talk_phase(t, "exchange");
  }
  return ISOPROOF_OK;
}

static isoproof_status exchange(talk *t, const iso_piece *piece, iso_shipment *from, isoproof_error *error) {
  size_t ranks = (size_t)t->ranks;
  iso_bytes *to = talk_room(2 * ranks, sizeof *to);
  isoproof_status status = exchange_rounds(t, piece, to, to + ranks, from, error);
  for (size_t i = 0; i < 2 * ranks; i++) iso_bytes_free(&to[i]);
  free(to);
  return status;
}

static isoproof_status make_part(talk *t, spread *s, const iso_part_frame *frame, isoproof_error *error) {
  size_t ranks = (size_t)t->ranks;
  iso_piece piece = piece_of(t, s);
  iso_shipment *from = talk_room(ranks, sizeof *from);
  isoproof_status status = exchange(t, &piece, from, error);
  if (status == ISOPROOF_OK) {
    drop_operations(s);
    status = iso_part_make(frame, from, ranks, t->task, &s->part, error);
    s->has_part = status == ISOPROOF_OK;
    status = talk_agree(t, status, error);
  }
  for (size_t i = 0; i < ranks; i++) {
    iso_bytes_free(&from[i].ops);
    iso_bytes_free(&from[i].lists);
  }
  free(from);
  return status;
}

/* Rank 0 has not seen the operations of ranges: how many there are, and of how many keys, the others know. */
static isoproof_status count_ranges(talk *t, spread *s, uint64_t ops, isoproof_error *error) {
  uint64_t all = talk_sum(t, ops), keys = talk_sum(t, s->part.h->keys);
  if (all > ISO_MAX_OPS)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u operations in one history", (unsigned)ISO_MAX_OPS);
  if (s->history == NULL) return ISOPROOF_OK;
  s->history->ops = (uint32_t)all;
  s->history->keys = (uint32_t)keys;
  return ISOPROOF_OK;
}

static isoproof_status make(talk *t, spread *s, isoproof_error *error) {
  iso_part_frame frame;
  share_frame(t, s, &frame);
  bool ranged = s->range != NULL;
  uint64_t ops = ranged ? s->range->ops : 0;
  isoproof_status status = make_part(t, s, &frame, error);
  if (status == ISOPROOF_OK && ranged) status = count_ranges(t, s, ops, error);
  if (status == ISOPROOF_OK) {
    t->part = &s->part;
    t->member.txns = frame.txns;
    t->member.part = (uint32_t)t->rank;
  } else {
    spread_free(s);
  }
  return status;
}

isoproof_status spread_history(talk *t, isoproof_history *history, bool in_ranges, spread *s, isoproof_error *error) {
  *s = (spread){.history = history, .in_ranges = in_ranges};
  return make(t, s, error);
}

isoproof_status spread_read(talk *t, const char *path, const char *format, spread *s, isoproof_error *error) {
  memset(s, 0, sizeof *s);
  reading *plan = talk_room(1, sizeof *plan);
  /* Rank 0 says which way, so that all go the same. */
  if (t->rank == 0) reading_plan(path, format, plan);
  talk_share(t, plan, sizeof *plan);
  talk_phase(t, "load");
  isoproof_status status = talk_agree(t, read_history(t, path, format, plan, s, error), error);
  free(plan);
  if (status == ISOPROOF_OK) return make(t, s, error);
  spread_free(s);
  return status;
}
