/* Judges every small history, and keeps the first for each pair of levels. */
#include "tests/distinguish/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/distinguish/enumerate.h"
#include "tests/distinguish/judge.h"

const search_bounds search_all = {{[ISO_DISTINCTION_PLAIN] = {0, 4, 8, 7, 6},
                                   [ISO_DISTINCTION_LABELS] = {0, 2, 5, 4, 5},
                                   [ISO_DISTINCTION_TIMES] = {0, 2, 6, 5, 4},
                                   [ISO_DISTINCTION_LABELS_AND_TIMES] = {0, 2, 4, 3, 4},
                                   [ISO_DISTINCTION_LISTS] = {0, 2, 6, 6, 6},
                                   [ISO_DISTINCTION_LISTS_AND_LABELS] = {0, 2, 4, 4, 0},
                                   [ISO_DISTINCTION_LISTS_AND_TIMES] = {0, 2, 5, 4, 0},
                                   [ISO_DISTINCTION_LISTS_LABELS_AND_TIMES] = {0, 2, 4, 3, 0}}};

const search_bounds search_some = {{[ISO_DISTINCTION_PLAIN] = {0, 3, 6, 5, 4},
                                    [ISO_DISTINCTION_LABELS] = {0, 2, 4, 0, 0},
                                    [ISO_DISTINCTION_TIMES] = {0, 2, 4, 3, 0},
                                    [ISO_DISTINCTION_LABELS_AND_TIMES] = {0, 1, 4, 0, 0},
                                    [ISO_DISTINCTION_LISTS] = {0, 2, 5, 4, 0},
                                    [ISO_DISTINCTION_LISTS_AND_TIMES] = {0, 1, 4, 0, 0}}};

typedef struct search {
  search_outcome *outcome;
  iso_distinction_kind kind;
  unsigned oracles; /* up to how many transactions they judge */
  small_timing timings[SMALL_TIMINGS];
  size_t timing_count;
} search;

static bool complain(const small_history *history, const small_frame *frame, const char *what, iso_level_set levels) {
  char text[SMALL_TEXT];
  small_text(history, frame, text);
  fprintf(stderr, "%s:", what);
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((levels & ISO_LEVEL_BIT(l)) != 0) fprintf(stderr, " %s", isoproof_level_at(l)->id);
  }
  fprintf(stderr, "\n%s", text);
  return false;
}

/* Marks the pairs that this history is the first to tell apart; whether there are any. */
static bool tells_anew(search *s, iso_level_set asked, iso_level_set holds) {
  bool anew = false;
  for (unsigned a = 0; a < ISO_LEVEL_COUNT; a++) {
    if ((holds & ISO_LEVEL_BIT(a)) == 0) continue;
    iso_level_set apart = asked & ~holds & ~s->outcome->told[a];
    for (unsigned b = 0; apart != 0 && b < ISO_LEVEL_COUNT; b++) {
      if ((apart & ISO_LEVEL_BIT(b)) == 0) continue;
      if (iso_distinction_kind_of((iso_level)a, (iso_level)b) != s->kind) continue;
      s->outcome->told[a] |= ISO_LEVEL_BIT(b);
      anew = true;
    }
  }
  return anew;
}

static bool judge_one(search *s, const small_history *history, const small_frame *frame) {
  search_outcome *outcome = s->outcome;
  judgement j;
  if (!judge_by_engines(history, frame, &j))
    return complain(history, frame, "not decided", judge_asked(history, frame) & ~j.decided);
  iso_level_set asked = j.decided, holds = j.holds;
  iso_level_set differs = history->txns <= s->oracles ? judge_by_oracles(history, frame, &j) : 0;
  if (differs != 0) return complain(history, frame, "engines and oracles differ on", differs);
  for (unsigned a = 0; a < ISO_LEVEL_COUNT; a++) {
    iso_level_set broken = iso_level_implied((iso_level)a) & asked & ~holds;
    if ((holds & ISO_LEVEL_BIT(a)) != 0 && broken != 0)
      return complain(history, frame, "contradicts implications to", broken);
  }
  outcome->judged[s->kind][history->txns]++;
  if (!tells_anew(s, asked, holds)) return true;
  if (outcome->count == SEARCH_ROWS) return complain(history, frame, "too many rows", 0);
  search_row *row = &outcome->rows[outcome->count++];
  *row = (search_row){s->kind, *history, *frame, asked, holds};
  if (frame->timed) small_in_order_of_time(&row->history, &row->frame);
  return true;
}

/* The next choice of a level for each transaction; false after the last.  Of more than two transactions, or with times,
 * each has the weakest or the strongest: a weaker level of a transaction never breaks `mixed`, and a stronger one never
 * mends it. */
static bool next_labels(unsigned txns, small_frame *frame) {
  unsigned levels = 0;
  while (isoproof_isolation_at(levels) != NULL) levels++;
  unsigned step = txns > 2 || frame->timed ? levels - 1 : 1;
  for (unsigned t = 0; t < txns; t++) {
    frame->label[t] = (uint8_t)(frame->label[t] + step);
    if (frame->label[t] < levels) return true;
    frame->label[t] = 0;
  }
  return false;
}

/* With every level for each transaction, where levels belong to the kind. */
static bool each_label(search *s, const small_history *history, small_frame frame) {
  frame.labelled = iso_distinction_has(s->kind, ISO_DISTINCTION_LABELS);
  do {
    if (!judge_one(s, history, &frame)) return false;
  } while (frame.labelled && next_labels(history->txns, &frame));
  return true;
}

/* With every real-time order, where times belong to the kind. */
static bool each_timing(search *s, const small_history *history) {
  small_frame frame = {.timed = iso_distinction_has(s->kind, ISO_DISTINCTION_TIMES)};
  if (!frame.timed) return each_label(s, history, frame);
  for (size_t i = 0; i < s->timing_count; i++) {
    if (!small_timing_suits(&s->timings[i], history)) continue;
    memcpy(frame.start, s->timings[i].start, sizeof frame.start);
    memcpy(frame.end, s->timings[i].end, sizeof frame.end);
    if (!each_label(s, history, frame)) return false;
  }
  return true;
}

static bool each_history(search *s, unsigned txns, unsigned most) {
  s->timing_count = small_timings(txns, s->timings);
  for (unsigned ops = txns; ops <= most; ops++) {
    small_list list;
    bool fine = small_enumerate(txns, ops, iso_distinction_has(s->kind, ISO_DISTINCTION_LISTS), &list);
    for (size_t i = 0; fine && i < list.count; i++) fine = each_timing(s, &list.histories[i]);
    free(list.histories);
    if (!fine) return false;
  }
  return true;
}

bool search_run(const search_bounds *bounds, unsigned oracles, search_outcome *outcome) {
  *outcome = (search_outcome){.count = 0};
  search s = {.outcome = outcome, .oracles = oracles};
  for (unsigned kind = 0; kind < ISO_DISTINCTION_KINDS; kind++) {
    s.kind = (iso_distinction_kind)kind;
    for (unsigned txns = 1; txns <= SMALL_TXNS; txns++) {
      if (!each_history(&s, txns, bounds->operations[kind][txns])) return false;
    }
  }
  return true;
}
