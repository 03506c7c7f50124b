/* The timeline of a run: which transactions are shown, and their columns in base64. */
#include <math.h>
#include <string.h>

#include "history/history.h"
#include "report/page/page_data.h"

enum { NEAR_IN_SESSION = 25, NEAR_IN_TIME = 4, MOST_SESSIONS = 20000 };

/* ---- choosing ---- */

typedef struct chooser {
  iso_sample *sample;
  const isoproof_history *history;
  uint64_t marked, most_marked;
} chooser;

static void mark(chooser *c, uint64_t txn) {
  if (c->marked >= c->most_marked || c->sample->shown[txn]) return;
  c->sample->shown[txn] = 1;
  c->marked++;
}

static void mark_near(chooser *c, uint32_t session, uint64_t txn, uint64_t reach) {
  uint64_t first = c->history->session_first_txn[session], end = c->history->session_first_txn[session + 1];
  uint64_t low = txn - first > reach ? txn - reach : first, high = end - txn > reach ? txn + reach + 1 : end;
  for (uint64_t t = low; t < high; t++) mark(c, t);
}

/* Those of every session that began about when this one did. */
static void mark_same_time(chooser *c, uint64_t txn) {
  const isoproof_history *h = c->history;
  if (h->txn_start_opt == NULL || h->txn_start_opt[txn] == ISOPROOF_NO_TIME) return;
  for (uint32_t s = 0; s < h->sessions && c->marked < c->most_marked; s++) {
    uint64_t low = h->session_first_txn[s], high = h->session_first_txn[s + 1];
    if (low == high || c->sample->session[s] == UINT32_MAX) continue;
    uint64_t end = high;
    while (low < high) {
      uint64_t middle = low + (high - low) / 2;
      if (h->txn_start_opt[middle] < h->txn_start_opt[txn])
        low = middle + 1;
      else
        high = middle;
    }
    mark_near(c, s, low < end ? low : end - 1, NEAR_IN_TIME);
  }
}

/* Calls for every transaction of an anomaly that the history has. */
static void for_involved(chooser *c, const isoproof_document *document, void (*act)(chooser *, uint64_t)) {
  for (size_t i = 0; i < document->anomalies.count; i++) {
    const isoproof_document_anomaly *a = &document->anomalies.items[i].limited;
    for (uint32_t k = 0; k < a->txn_count; k++)
      if (a->txns[k].number < c->history->txns) act(c, a->txns[k].number);
  }
}

static void keep_session(chooser *c, uint64_t txn) { c->sample->session[c->history->txn_session[txn]] = 0; }

static void mark_around(chooser *c, uint64_t txn) {
  mark(c, txn);
  mark_near(c, c->history->txn_session[txn], txn, NEAR_IN_SESSION);
  mark_same_time(c, txn);
}

/* All sessions, or those of the anomalies and an even sample. */
static void choose_sessions(chooser *c, const isoproof_document *document) {
  uint32_t sessions = c->history->sessions;
  c->sample->by_session = sessions > MOST_SESSIONS;
  uint32_t stride = c->sample->by_session ? sessions / (MOST_SESSIONS / 2) + 1 : 1;
  for (uint32_t s = 0; s < sessions; s++) c->sample->session[s] = s % stride == 0 ? 0 : UINT32_MAX;
  if (c->sample->by_session) for_involved(c, document, keep_session);
  for (uint32_t s = 0; s < sessions; s++)
    if (c->sample->session[s] == 0) c->sample->session[s] = c->sample->sessions++;
}

/* Evenly among those that are not shown yet, until `most` are. */
static void choose_evenly(chooser *c, uint64_t most) {
  const isoproof_history *h = c->history;
  uint64_t eligible = 0, sum = 0;
  for (uint32_t s = 0; s < h->sessions; s++)
    if (c->sample->session[s] != UINT32_MAX) eligible += h->session_first_txn[s + 1] - h->session_first_txn[s];
  uint64_t others = eligible - c->marked, wanted = most > c->marked ? most - c->marked : 0;
  if (wanted > others) wanted = others;
  for (uint32_t t = 0; t < h->txns && others > 0; t++) {
    if (c->sample->shown[t] || c->sample->session[h->txn_session[t]] == UINT32_MAX) continue;
    sum += wanted;
    if (sum < others) continue;
    sum -= others;
    c->sample->shown[t] = 1;
  }
  c->sample->count = c->marked + wanted;
}

bool iso_sample_choose(iso_sample *sample, const isoproof_document *document, uint64_t most) {
  const isoproof_history *h = document->history;
  if (h == NULL || h->txns == 0) return true;
  sample->shown = iso_alloc_zero(h->txns, 1);
  sample->session = iso_alloc(h->sessions, sizeof *sample->session);
  if (sample->shown == NULL || sample->session == NULL) return false;
  chooser c = {.sample = sample, .history = h, .most_marked = most / 2};
  choose_sessions(&c, document);
  for_involved(&c, document, mark_around);
  choose_evenly(&c, most);
  return true;
}

/* ---- writing ---- */

typedef struct base64 {
  iso_output *out;
  unsigned char bytes[3];
  unsigned count;
} base64;

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(base64 *b) {
  char text[4] = {letters[b->bytes[0] >> 2], letters[(b->bytes[0] & 3) << 4 | b->bytes[1] >> 4],
                  letters[(b->bytes[1] & 15) << 2 | b->bytes[2] >> 6], letters[b->bytes[2] & 63]};
  for (unsigned i = b->count + 1; i < 4; i++) text[i] = '=';
  iso_out_bytes(b->out, text, sizeof text);
  memset(b->bytes, 0, sizeof b->bytes);
  b->count = 0;
}

/* A number of `size` bytes, the lowest one first. */
static void put_number(base64 *b, uint64_t number, unsigned size) {
  for (unsigned i = 0; i < size; i++) {
    b->bytes[b->count++] = (unsigned char)(number >> (8 * i));
    if (b->count == 3) put_group(b);
  }
}

static void put_time(base64 *b, const isoproof_document *d, int64_t time) {
  double since = time == ISOPROOF_NO_TIME ? (double)NAN : (double)time - (double)d->first_start;
  /* Exact where it matters: runs are shorter than 104 days. */
  int64_t exact;
  if (time != ISOPROOF_NO_TIME && !__builtin_sub_overflow(time, d->first_start, &exact)) since = (double)exact;
  uint64_t bits;
  memcpy(&bits, &since, sizeof bits);
  put_number(b, bits, 8);
}

typedef enum field { SESSION, INDEX, STATUS, START, END } field;

static void put_column(const iso_page_data *page, const char *name, field which) {
  const isoproof_history *h = page->document->history;
  iso_json_field(page->json, name);
  base64 b = {.out = iso_json_begin_string(page->json)};
  for (uint32_t t = 0; t < h->txns && !iso_output_failed(page->out); t++) {
    if (!page->sample.shown[t]) continue;
    uint32_t session = h->txn_session[t];
    switch (which) {
    case SESSION:
      put_number(&b, page->sample.session[session], 4);
      break;
    case INDEX:
      put_number(&b, t - h->session_first_txn[session], 4);
      break;
    case STATUS:
      put_number(&b, h->txn_status[t], 1);
      break;
    case START:
      put_time(&b, page->document, h->txn_start_opt[t]);
      break;
    case END:
      put_time(&b, page->document, h->txn_end_opt[t]);
      break;
    }
  }
  if (b.count > 0) put_group(&b);
  iso_json_end_string(page->json);
}

static void put_sessions(const iso_page_data *page) {
  const isoproof_history *h = page->document->history;
  iso_json_field_list(page->json, "sessions");
  for (uint32_t s = 0; s < h->sessions; s++) {
    if (page->sample.session[s] == UINT32_MAX) continue;
    isoproof_scalar name = iso_history_scalar(h, h->session_name[s]);
    char text[ISO_DOCUMENT_SCALAR + 1];
    isoproof_scalar_format(name, text, sizeof text);
    isoproof_json_string(page->json, text);
  }
  isoproof_json_end(page->json);
}

void iso_page_data_timeline(const iso_page_data *page) {
  const isoproof_history *h = page->document->history;
  iso_json_field(page->json, "timeline");
  if (page->sample.shown == NULL || h == NULL) {
    isoproof_json_null(page->json);
    return;
  }
  isoproof_json_object(page->json);
  put_sessions(page);
  iso_json_field_u64(page->json, "total", h->txns);
  iso_json_field_u64(page->json, "shown", page->sample.count);
  put_column(page, "session", SESSION);
  put_column(page, "index", INDEX);
  put_column(page, "status", STATUS);
  if (page->document->has_times) {
    put_column(page, "start", START);
    put_column(page, "end", END);
  }
  isoproof_json_end(page->json);
}
