/* The order of the lines of a Jepsen history: the sessions merged by a heap. */
#include "base/vector.h"
#include "format/jepsen_write.h"

typedef struct iso_event_head head;

static int64_t key_of(const iso_events *events, iso_event event) {
  if (events->starts == NULL) return INT64_MIN;
  int64_t key = event.end ? events->ends[event.txn] : events->starts[event.txn];
  /* What has no place in the order comes as soon as its session gets there. */
  bool unplaced = events->starts == events->history->txn_start_index_opt && key < 0;
  return unplaced ? INT64_MIN : key;
}

static bool before(const head *a, const head *b) {
  if (a->key != b->key) return a->key < b->key;
  if (a->event.end != b->event.end) return b->event.end;
  return a->session < b->session;
}

static void sift_down(iso_events *events, size_t at) {
  head moving = events->heap[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= events->count) break;
    if (child + 1 < events->count && before(&events->heap[child + 1], &events->heap[child])) child++;
    if (!before(&events->heap[child], &moving)) break;
    events->heap[at] = events->heap[child];
    at = child;
  }
  events->heap[at] = moving;
}

isoproof_status iso_events_init(iso_events *events, const isoproof_history *history, isoproof_error *error) {
  *events = (iso_events){.history = history};
  if (history->txn_start_index_opt != NULL) {
    events->starts = history->txn_start_index_opt;
    events->ends = history->txn_end_index_opt;
  } else if (history->txn_start_opt != NULL) {
    events->starts = history->txn_start_opt;
    events->ends = history->txn_end_opt;
  }
  events->heap = iso_alloc(history->sessions, sizeof *events->heap);
  if (events->heap == NULL) return iso_fail_memory(error);
  for (uint32_t s = 0; s < history->sessions; s++) {
    uint32_t first = history->session_first_txn[s];
    if (first == history->session_first_txn[s + 1]) continue;
    iso_event event = {first, false};
    events->heap[events->count++] = (head){key_of(events, event), s, event};
  }
  for (size_t i = events->count / 2; i-- > 0;) sift_down(events, i);
  return ISOPROOF_OK;
}

void iso_events_free(iso_events *events) {
  free(events->heap);
  events->heap = NULL;
}

bool iso_events_next(iso_events *events, iso_event *event) {
  if (events->count == 0) return false;
  head *top = &events->heap[0];
  *event = top->event;
  if (!top->event.end) {
    top->event.end = true;
  } else {
    top->event = (iso_event){top->event.txn + 1, false};
  }
  if (top->event.txn == events->history->session_first_txn[top->session + 1]) {
    *top = events->heap[--events->count];
  } else {
    top->key = key_of(events, top->event);
  }
  if (events->count > 0) sift_down(events, 0);
  return true;
}
