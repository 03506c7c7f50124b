/* Reading a history by ranges, or on rank 0, and the exchange of its operations. */
#include "mpi/spread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/binary.h"
#include "format/format.h"

void spread_free_part(spread *s) {
  if (s->has_part) iso_part_free(&s->part);
  s->has_part = false;
}

void spread_free(spread *s) {
  spread_free_part(s);
  isoproof_history_free(s->history);
  free(s->status);
  memset(s, 0, sizeof *s);
}

/* ---- reading ---- */

static isoproof_status map_file(const talk *t, const char *path, spread *s, isoproof_error *error) {
  iso_input *input;
  ISO_TRY(iso_input_open_for(path, t->task, &input, error));
  isoproof_status status = iso_read_binary_frugally(input, &s->history, t->task, error);
  iso_input_close(input);
  return status;
}

static isoproof_status read_history(const talk *t, const char *path, const char *format, spread *s,
                                    isoproof_error *error) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = format};
  if (s->in_ranges) return map_file(t, path, s, error);
  return t->rank == 0 ? isoproof_history_open(path, &open, t->task, &s->history, error) : ISOPROOF_OK;
}

/* What every part must know: how many transactions there are, and what became of them. */
static isoproof_status share_frame(const talk *t, spread *s, iso_part_frame *frame, isoproof_error *error) {
  struct {
    uint32_t txns, initial_is_zero;
  } head = {0, 0};
  if (s->history != NULL) head.txns = s->history->txns, head.initial_is_zero = s->history->initial_is_zero;
  talk_share(t, &head, sizeof head);
  isoproof_status status = ISOPROOF_OK;
  if (s->history == NULL) {
    s->status = iso_alloc(head.txns, 1);
    if (s->status == NULL) status = iso_fail_memory(error);
  }
  ISO_TRY(talk_agree(t, status, error));
  uint8_t *column = s->history != NULL ? s->history->txn_status : s->status;
  if (!s->in_ranges) talk_share(t, column, head.txns);
  *frame = (iso_part_frame){
      .txns = head.txns, .txn_status = column, .initial_is_zero = head.initial_is_zero != 0, .common_lists = true};
  return ISOPROOF_OK;
}

/* The first transaction of a rank's range: each has about as many operations. */
static uint32_t range_start(const isoproof_history *h, int rank, int ranks) {
  uint64_t op = (uint64_t)h->ops * (uint64_t)rank / (uint64_t)ranks;
  uint32_t low = 0, high = h->txns;
  if (rank == ranks) return h->txns;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (h->txn_first_op[middle] < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static iso_piece piece_of(const talk *t, const spread *s) {
  if (s->history == NULL) return (iso_piece){.keys = 0};
  iso_piece piece = iso_piece_of(s->history);
  if (!s->in_ranges) return piece;
  uint64_t keys = s->history->keys, rank = (uint64_t)t->rank, ranks = (uint64_t)t->ranks;
  piece.first_txn = range_start(s->history, t->rank, t->ranks);
  piece.end_txn = range_start(s->history, t->rank + 1, t->ranks);
  piece.first_key = (uint32_t)(keys * rank / ranks);
  piece.end_key = (uint32_t)(keys * (rank + 1) / ranks);
  return piece;
}

/* ---- the exchange ---- */

/* The operations are with the parts now; their numbers stay. */
static void drop_operations(spread *s) {
  isoproof_history *h = s->history;
  if (h == NULL || h->map != NULL) return;
  free(h->op_kind);
  free(h->op_key);
  free(h->op_value);
  h->op_kind = NULL;
  h->op_key = NULL;
  h->op_value = NULL;
}

static isoproof_status exchange_rounds(talk *t, const iso_piece *piece, iso_bytes *to, iso_bytes *from,
                                       isoproof_error *error) {
  enum { BYTES_AT_ONCE = 32 << 20 };
  uint32_t txn = piece->first_txn, parts = (uint32_t)t->ranks;
  for (uint64_t left = 1; left > 0;) {
    isoproof_status status = ISOPROOF_OK;
    for (int i = 0; i < t->ranks; i++) to[i].count = 0;
    if (txn < piece->end_txn)
      status = iso_ship_ops(piece, parts, ISO_ALL_PARTS, BYTES_AT_ONCE, &txn, to, t->task, error);
    ISO_TRY(talk_agree(t, status, error));
    status = talk_exchange(t, to, from, error);
    ISO_TRY(talk_agree(t, status, error));
    talk_phase(t, "exchange");
    left = talk_sum(t, piece->end_txn - txn);
  }
  return ISOPROOF_OK;
}

static isoproof_status exchange(talk *t, const iso_piece *piece, iso_shipment *shipments, isoproof_error *error) {
  size_t ranks = (size_t)t->ranks;
  iso_bytes *to = iso_alloc_zero(ranks, sizeof *to), *from = iso_alloc_zero(ranks, sizeof *from);
  isoproof_status status = to != NULL && from != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  status = talk_agree(t, status, error);
  if (status == ISOPROOF_OK) status = iso_ship_lists(piece, (uint32_t)ranks, ISO_ALL_PARTS, to, error);
  if (to != NULL && from != NULL) status = talk_agree(t, status, error);
  if (status == ISOPROOF_OK) status = talk_agree(t, talk_exchange(t, to, from, error), error);
  for (size_t i = 0; status == ISOPROOF_OK && i < ranks; i++) {
    shipments[i].lists = from[i];
    from[i] = (iso_bytes){.count = 0};
  }
  if (status == ISOPROOF_OK) status = exchange_rounds(t, piece, to, from, error);
  for (size_t i = 0; to != NULL && from != NULL && i < ranks; i++) {
    iso_bytes_free(&to[i]);
    shipments[i].ops = from[i];
  }
  free(to);
  free(from);
  return status;
}

static isoproof_status make_part(talk *t, spread *s, const iso_part_frame *frame, isoproof_error *error) {
  size_t ranks = (size_t)t->ranks;
  iso_piece piece = piece_of(t, s);
  iso_shipment *shipments = iso_alloc_zero(ranks, sizeof *shipments);
  isoproof_status status = shipments != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  ISO_TRY(talk_agree(t, status, error));
  status = exchange(t, &piece, shipments, error);
  if (status == ISOPROOF_OK) {
    drop_operations(s);
    status = iso_part_make(frame, shipments, ranks, t->task, &s->part, error);
    s->has_part = status == ISOPROOF_OK;
    status = talk_agree(t, status, error);
  }
  for (size_t i = 0; i < ranks; i++) {
    iso_bytes_free(&shipments[i].ops);
    iso_bytes_free(&shipments[i].lists);
  }
  free(shipments);
  return status;
}

static isoproof_status make(talk *t, spread *s, isoproof_error *error) {
  iso_part_frame frame;
  isoproof_status status = share_frame(t, s, &frame, error);
  if (status == ISOPROOF_OK) status = make_part(t, s, &frame, error);
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
  iso_binary_header header = {.version = 0};
  memset(s, 0, sizeof *s);
  /* Rank 0 says which way, so that all go the same. */
  struct stat file;
  bool plain = t->rank == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
  isoproof_status status = plain ? iso_binary_look(path, &header, error) : ISOPROOF_OK;
  ISO_TRY(talk_agree(t, status, error));
  talk_share(t, &header, sizeof header);
  s->in_ranges = header.version != 0;
  talk_phase(t, "load");
  status = talk_agree(t, read_history(t, path, format, s, error), error);
  if (status == ISOPROOF_OK) return make(t, s, error);
  spread_free(s);
  return status;
}
