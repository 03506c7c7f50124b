/* jepsen_write.h - what writing a Jepsen history needs besides putting words down: which texts can be written and how,
 * and in which order the lines come.
 *
 * Both structs belong to the caller, who frees them with the functions here; they refer to the history.
 */
#ifndef ISO_FORMAT_JEPSEN_WRITE_H
#define ISO_FORMAT_JEPSEN_WRITE_H

#include "format/format.h"
#include "format/token.h"

/* How an entry of the pool is written. */
typedef enum iso_text_style {
  ISO_TEXT_QUOTED,  /* as a string */
  ISO_TEXT_BARE,    /* as it is */
  ISO_TEXT_KEYWORD, /* after a colon */
  ISO_TEXT_NOT      /* the dialect cannot say it */
} iso_text_style;

/* One style for each entry of the pool.  JSON has no keywords and few symbols: they become strings, and where a
 * string of the same text plays the same role (key, value or session) that is ISOPROOF_ERR_UNSUPPORTED, unless lossy.
 * Free with free(). */
isoproof_status iso_text_styles(const isoproof_history *history, iso_token_dialect dialect, bool lossy,
                                uint8_t **styles, isoproof_error *error);

/* An invocation or a completion. */
typedef struct iso_event {
  uint32_t txn;
  bool end;
} iso_event;

/* All invocations and completions, each session in its own order, sessions merged by index, or by time where there are
 * no indexes, or one after the other where there is neither.  What happens at the same time overlaps: invocations come
 * first.  O(n log sessions) for n lines. */
typedef struct iso_events {
  const isoproof_history *history;
  const int64_t *starts, *ends; /* NULL: no order */
  struct iso_event_head {
    int64_t key;
    uint32_t session;
    iso_event event;
  } * heap;
  size_t count;
} iso_events;

isoproof_status iso_events_init(iso_events *events, const isoproof_history *history, isoproof_error *error);
void iso_events_free(iso_events *events);
/* False after the last one. */
bool iso_events_next(iso_events *events, iso_event *event);

#endif
