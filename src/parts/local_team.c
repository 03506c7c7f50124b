/* Questions in general, and parts that live in this process. */
#include <stdlib.h>
#include <string.h>

#include "parts/team.h"

void iso_answers_free(iso_bytes *answers, uint32_t parts) {
  for (uint32_t i = 0; i < parts; i++) iso_bytes_free(&answers[i]);
}

isoproof_status iso_team_ask(iso_team *team, iso_bytes *asked, iso_bytes *answers, isoproof_error *error) {
  if (asked->failed) return iso_fail_memory(error);
  team->bytes_asked += asked->count;
  ISO_TRY(team->ask(team, asked, answers, error));
  team->questions++;
  for (uint32_t i = 0; i < team->parts; i++) {
    iso_taker in;
    team->bytes_answered += answers[i].count;
    ISO_TRY(iso_answer_open(&answers[i], &in, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status make_part(iso_local_team *t, uint32_t number, iso_part *part, isoproof_error *error) {
  iso_shipment shipment = {.ops = {.count = 0}};
  uint32_t txn = t->piece->first_txn, parts = t->team.parts;
  /* Room at once: a buffer that doubles counts twice where memory is limited. */
  uint64_t ops = t->piece->txn_first_op[t->piece->end_txn] - t->piece->txn_first_op[txn];
  (void)iso_vec_reserve(&shipment.ops, ops / parts * (ISO_SHIPPED_OP + ISO_SHIPPED_RUN) / 100 * 102);
  isoproof_status status = iso_ship_lists(t->piece, parts, number, &shipment.lists, error);
  if (status == ISOPROOF_OK)
    status = iso_ship_ops(t->piece, parts, number, UINT64_MAX, &txn, &shipment.ops, t->task, error);
  if (status == ISOPROOF_OK) status = iso_part_make(&t->frame, &shipment, 1, t->task, part, error);
  iso_bytes_free(&shipment.ops);
  iso_bytes_free(&shipment.lists);
  return status;
}

static void release(iso_local_team *t, uint32_t number) {
  if (t->is_made[number]) iso_part_free(&t->kept[number]);
  t->is_made[number] = false;
}

/* Of parts that are made one by one, the last stays where it is asked again. */
static void release_others(iso_local_team *t) {
  for (uint32_t i = 0; !t->keep && i < t->team.parts; i++) {
    t->member.part = i;
    if (!iso_member_is_asked(&t->member)) release(t, i);
  }
}

static isoproof_status ask_local(iso_team *team, iso_bytes *asked, iso_bytes *answers, isoproof_error *error) {
  iso_local_team *t = team->context;
  ISO_TRY(iso_member_hear(&t->member, asked, error));
  if ((t->member.head.asks & ISO_ASK_END) != 0) return ISOPROOF_OK;
  /* Transactions that are wanted are looked for in the question itself. */
  if (t->member.wanted == NULL || t->member.head.txns_wanted == 0) iso_bytes_free(asked);
  release_others(t);
  for (uint32_t i = 0; i < team->parts; i++) {
    t->member.part = i;
    bool is_asked = iso_member_is_asked(&t->member);
    if (is_asked && !t->is_made[i]) ISO_TRY(make_part(t, i, &t->kept[i], error));
    t->is_made[i] = t->is_made[i] || is_asked;
    iso_part_answer(&t->member, &t->kept[i], t->task, &answers[i]);
    if (!t->keep && t->member.head.only == 0) release(t, i);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_local_team_make(const iso_piece *piece, iso_part_frame frame, uint32_t parts, bool keep,
                                    isoproof_task *task, iso_local_team *t, isoproof_error *error) {
  *t = (iso_local_team){.piece = piece, .frame = frame, .keep = keep, .task = task};
  t->team = (iso_team){.parts = parts, .ask = ask_local, .context = t, .one_by_one = !keep};
  t->member.txns = frame.txns;
  t->kept = iso_alloc_zero(parts, sizeof *t->kept);
  t->is_made = iso_alloc_zero(parts, sizeof *t->is_made);
  if (t->kept != NULL && t->is_made != NULL) return ISOPROOF_OK;
  iso_local_team_free(t);
  return iso_fail_memory(error);
}

void iso_local_team_free(iso_local_team *t) {
  for (uint32_t i = 0; t->is_made != NULL && i < t->team.parts; i++) release(t, i);
  free(t->kept);
  free(t->is_made);
  iso_member_free(&t->member);
  memset(t, 0, sizeof *t);
}
