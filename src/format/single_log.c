/* Lines of logs of single operations, paired to calls. */
#include "format/single_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/token.h"
#include "history/numbering.h"

enum { LINE_MOST = ISO_TOKEN_LONGEST };

typedef enum line_type { NO_TYPE, INVOKE, OK, FAIL, INFO } line_type;

typedef struct line {
  line_type type;
  iso_single_f f; /* ISO_SINGLE_FS: none that we know */
  bool is_client;
  iso_value process, key, value[2];
  unsigned values;
  bool has_key, has_value, timed_out;
} line;

typedef struct reader {
  iso_input *input;
  iso_window window;
  iso_tokenizer t;
  bool porcupine;
  iso_pool *pool;
  iso_numbering processes;
  ISO_VEC(uint32_t) open; /* by process: its call that has not ended, + 1 */
  iso_single_calls *calls;
  uint64_t number; /* of the line */
  bool strange;    /* some lines are about something else */
  line at;
  isoproof_error problem; /* of the tokenizer; what users are told is `error` */
  isoproof_error *error;
} reader;

static const struct {
  const char *text;
  bool porcupine;
  unsigned values;
} fs[ISO_SINGLE_FS] = {
#define ISO_X(name, text, porcupine, values) {text, porcupine, values},
    ISO_SINGLE_F_LIST(ISO_X)
#undef ISO_X
};

static isoproof_status wrong(reader *r, const char *what) {
  return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, (iso_place){iso_input_name(r->input), r->number, 0, -1},
                     "expected %s", what);
}

/* ---- fields ---- */

static isoproof_status code_of(reader *r, iso_value *code) {
  *code = ISO_VALUE_NIL;
  if (iso_token_is_nil(&r->t)) return ISOPROOF_OK;
  return iso_pool_add(r->pool, r->t.scalar, code, r->error);
}

static isoproof_status next(reader *r) {
  if (iso_token_next(&r->t) == ISOPROOF_OK) return ISOPROOF_OK;
  return wrong(r, r->porcupine ? "an operation, a map of EDN on one line"
                               : "an operation: process, type, function, value");
}

static isoproof_status take_process(reader *r) {
  r->at.is_client = r->t.type == ISO_TOKEN_SCALAR && r->t.scalar.type != ISOPROOF_KEYWORD;
  if (r->t.type != ISO_TOKEN_SCALAR || iso_token_is_nil(&r->t)) return wrong(r, "a process (a number)");
  return code_of(r, &r->at.process);
}

static void take_type(reader *r) {
  iso_tokenizer *t = &r->t;
  r->at.type = iso_token_is(t, "invoke") ? INVOKE
               : iso_token_is(t, "ok")   ? OK
               : iso_token_is(t, "fail") ? FAIL
               : iso_token_is(t, "info") ? INFO
                                         : NO_TYPE;
}

static void take_f(reader *r) {
  r->at.f = ISO_SINGLE_FS;
  for (unsigned i = 0; i < ISO_SINGLE_FS; i++) {
    if (fs[i].porcupine == r->porcupine && iso_token_is_n(&r->t, fs[i].text, strlen(fs[i].text))) {
      r->at.f = (iso_single_f)i;
    }
  }
}

/* nil, a scalar, or [old new]; anything else is the message of an error. */
static isoproof_status take_value(reader *r) {
  r->at.has_value = true;
  r->at.values = 0;
  if (r->t.type == ISO_TOKEN_SCALAR) {
    r->at.timed_out = r->t.scalar.type == ISOPROOF_KEYWORD;
    r->at.values = iso_token_is_nil(&r->t) || r->at.timed_out ? 0 : 1;
    return code_of(r, &r->at.value[0]);
  }
  uint32_t outside = r->t.depth - 1;
  bool list = r->t.type == ISO_TOKEN_BEGIN_LIST;
  while (r->t.depth > outside) {
    ISO_TRY(next(r));
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) return wrong(r, "a value that ends on its line");
    if (r->t.type != ISO_TOKEN_SCALAR) continue;
    if (!list || r->at.values >= 2) {
      list = false;
      continue;
    }
    ISO_TRY(code_of(r, &r->at.value[r->at.values++]));
  }
  r->at.timed_out = !list || r->at.values != 2;
  return ISOPROOF_OK;
}

static isoproof_status porcupine_line(reader *r) {
  ISO_TRY(next(r));
  if (r->t.type != ISO_TOKEN_BEGIN_MAP) return wrong(r, "an operation, a map of EDN on one line");
  for (;;) {
    ISO_TRY(next(r));
    if (r->t.type == ISO_TOKEN_END) break;
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) return wrong(r, "an operation that ends on its line");
    static const char *const names[] = {"process", "type", "f", "key", "value"};
    unsigned which = 0;
    while (which < 5 && !iso_token_is_n(&r->t, names[which], strlen(names[which]))) which++;
    ISO_TRY(next(r));
    if (which == 0) ISO_TRY(take_process(r));
    if (which == 1) take_type(r);
    if (which == 2) take_f(r);
    if (which == 3) {
      r->at.has_key = r->t.type == ISO_TOKEN_SCALAR && !iso_token_is_nil(&r->t);
      if (r->at.has_key) ISO_TRY(code_of(r, &r->at.key));
    }
    if (which == 4) ISO_TRY(take_value(r));
    if (which < 4 && r->t.type != ISO_TOKEN_SCALAR) return wrong(r, "plain values of :process, :type, :f and :key");
    if (which == 5 && iso_token_skip(&r->t) != ISOPROOF_OK) return wrong(r, "an operation, a map of EDN on one line");
  }
  return r->at.has_key ? ISOPROOF_OK : wrong(r, "a :key in the operation");
}

static isoproof_status jepsen_line(reader *r) {
  ISO_TRY(next(r));
  ISO_TRY(take_process(r));
  if (!r->at.is_client) return ISOPROOF_OK;
  ISO_TRY(next(r));
  take_type(r);
  ISO_TRY(next(r));
  take_f(r);
  ISO_TRY(next(r));
  return r->t.type == ISO_TOKEN_END_OF_INPUT ? ISOPROOF_OK : take_value(r);
}

/* ---- calls ---- */

static isoproof_status begin(reader *r, uint32_t process) {
  iso_single_call call = {.f = (uint8_t)r->at.f,
                          .outcome = ISOPROOF_TXN_UNKNOWN,
                          .process = r->at.process,
                          .key = r->at.key,
                          .value = {r->at.value[0], r->at.value[1]},
                          .invoked = r->calls->places++,
                          .completed = ISO_SINGLE_NEVER,
                          .line = r->number};
  if (r->open.items[process] != 0)
    return wrong(r, "the end of what the process had begun before, found another beginning");
  if (r->at.values != fs[r->at.f].values) return wrong(r, "as many values as the operation takes");
  if (!iso_vec_push(r->calls, call)) return iso_fail_memory(r->error);
  r->open.items[process] = (uint32_t)r->calls->count;
  return ISOPROOF_OK;
}

static isoproof_status end(reader *r, uint32_t process) {
  if (r->open.items[process] == 0) return wrong(r, "the beginning of the operation before its end");
  iso_single_call *call = &r->calls->items[r->open.items[process] - 1];
  r->open.items[process] = 0;
  if (call->f != r->at.f) return wrong(r, "the end of what the process had begun, found that of another operation");
  call->line = r->number;
  uint32_t place = r->calls->places++;
  bool reads = fs[call->f].values == 0 && call->f != ISO_SINGLE_DELETE;
  /* Who does not know whether it took effect may call that a failure; a read has none. */
  if (r->at.type == INFO || (r->at.type == FAIL && r->at.timed_out && !reads)) return ISOPROOF_OK;
  call->completed = place;
  call->missed = r->at.type == FAIL && call->f == ISO_SINGLE_CAS && r->at.values == 2;
  call->outcome = (uint8_t)(r->at.type == OK || call->missed ? ISOPROOF_TXN_COMMITTED : ISOPROOF_TXN_ABORTED);
  if (reads && r->at.type == OK) call->value[0] = r->at.values > 0 ? r->at.value[0] : ISO_VALUE_NIL;
  return ISOPROOF_OK;
}

static isoproof_status operation(reader *r, const char *text, size_t length) {
  uint32_t process;
  r->at = (line){
      .f = ISO_SINGLE_FS, .process = ISO_VALUE_NIL, .key = ISO_VALUE_NIL, .value = {ISO_VALUE_NIL, ISO_VALUE_NIL}};
  iso_tokenizer_on_text(&r->t, ISO_TOKEN_DIALECT_EDN, text, length, &r->problem);
  ISO_TRY(r->porcupine ? porcupine_line(r) : jepsen_line(r));
  if (!r->at.is_client && r->at.process != ISO_VALUE_NIL) return ISOPROOF_OK;
  if (r->at.process == ISO_VALUE_NIL) return wrong(r, "the process of the operation");
  if (r->at.type == NO_TYPE) return wrong(r, "a type (:invoke, :ok, :fail or :info)");
  if (r->at.f == ISO_SINGLE_FS) {
    return wrong(r, r->porcupine ? "get, put, append or delete" : "read, write or cas");
  }
  if (r->calls->places >= ISO_SINGLE_NEVER - 2) return iso_fail(r->error, ISOPROOF_ERR_LIMIT, "too many operations");
  ISO_TRY(iso_numbering_add(&r->processes, r->at.process, &process, r->error));
  if (process == r->open.count && !iso_vec_push(&r->open, 0)) return iso_fail_memory(r->error);
  return r->at.type == INVOKE ? begin(r, process) : end(r, process);
}

/* What follows "jepsen.util -" in a line; NULL where that is not in it. */
static const char *told(const char *text, const char *stop) {
  static const char name[] = "jepsen.util";
  const char *found = memmem(text, (size_t)(stop - text), name, sizeof name - 1);
  if (found == NULL) return NULL;
  found += sizeof name - 1;
  while (found < stop && (*found == ' ' || *found == '\t')) found++;
  if (found == stop || (*found != '-' && *found != ':')) return NULL;
  found++;
  while (found < stop && (*found == ' ' || *found == '\t')) found++;
  return found;
}

static isoproof_status lines(reader *r, isoproof_task *task) {
  iso_window *w = &r->window;
  for (r->number = 1;; r->number++) {
    if ((r->number & 1023) == 0) ISO_TRY(iso_task_check(task, r->error));
    const char *start = w->cur, *newline;
    size_t searched = 0;
    while ((newline = memchr(start + searched, '\n', (size_t)(w->end - start) - searched)) == NULL && !w->at_end) {
      searched = (size_t)(w->end - start);
      ISO_TRY(iso_window_more(w, &start, LINE_MOST, r->error));
    }
    const char *stop = newline != NULL ? newline : w->end;
    w->cur = newline != NULL ? newline + 1 : w->end;
    if (newline == NULL && start == stop) break;
    while (stop > start && (stop[-1] == '\r' || stop[-1] == ' ')) stop--;
    const char *from = r->porcupine ? start : told(start, stop);
    r->strange = r->strange || (from == NULL && start < stop);
    if (from != NULL && from < stop) ISO_TRY(operation(r, from, (size_t)(stop - from)));
  }
  bool nothing = r->calls->places == 0 && r->strange;
  return nothing ? wrong(r, "operations: lines with `jepsen.util - PROCESS TYPE FUNCTION VALUE`, found none")
                 : ISOPROOF_OK;
}

isoproof_status iso_single_log_read(iso_input *input, bool porcupine, iso_pool *pool, isoproof_task *task,
                                    iso_single_calls *calls, isoproof_error *error) {
  memset(calls, 0, sizeof *calls);
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->input = input;
  r->porcupine = porcupine;
  r->pool = pool;
  r->calls = calls;
  r->error = error;
  iso_numbering_init(&r->processes);
  isoproof_status status = iso_window_init(&r->window, input, error);
  if (status == ISOPROOF_OK) status = lines(r, task);
  iso_window_free(&r->window);
  iso_numbering_free(&r->processes);
  iso_vec_free(&r->open);
  iso_vec_free(&r->t.text);
  free(r);
  if (status != ISOPROOF_OK) iso_vec_free(calls);
  return status;
}

/* ---- detection ---- */

bool iso_single_log_is_porcupine(const char *text, size_t length) {
  const char *end = memchr(text, '\n', length);
  size_t line_length = end != NULL ? (size_t)(end - text) : length;
  if (memmem(text, line_length, ":key ", 5) == NULL) return false;
  for (unsigned i = 0; i < ISO_SINGLE_FS; i++) {
    char f[32];
    int written = snprintf(f, sizeof f, ":f :%s", fs[i].text);
    if (fs[i].porcupine && memmem(text, line_length, f, (size_t)written) != NULL) return true;
  }
  return false;
}

/* The first line that tells of an operation may be far down. */
bool iso_single_log_is_jepsen(const char *text, size_t length) {
  for (const char *at = text, *stop = text + length; at < stop;) {
    const char *newline = memchr(at, '\n', (size_t)(stop - at));
    const char *line_end = newline != NULL ? newline : stop;
    const char *from = told(at, line_end);
    if (from != NULL && memmem(from, (size_t)(line_end - from), ":invoke", 7) != NULL) return true;
    if (newline == NULL) break;
    at = newline + 1;
  }
  return false;
}
