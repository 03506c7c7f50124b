/* Reads histories of single operations, EDN or JSON, and pairs invocations with completions. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/token.h"
#include "history/numbering.h"
#include "object/object.h"

typedef enum line_type { NO_TYPE, INVOKE, OK, FAIL, INFO } line_type;

/* One map of the file. */
typedef struct line {
  line_type type;
  bool has_f, is_nemesis;
  iso_object_f f; /* ISO_OBJECT_FS: none that we know */
  char f_text[64];
  iso_value process;
  iso_object_shape shape;
  iso_value key;
  uint64_t number;
} line;

typedef struct reader {
  iso_tokenizer t;
  iso_object_history *h;
  isoproof_object_model model;
  iso_numbering processes;
  ISO_VEC(uint32_t) open;     /* by process: its operation that has not completed, or NONE */
  ISO_VEC(iso_value) scratch; /* the values of the line at hand */
  line at;
  isoproof_error problem;
} reader;

#define NONE UINT32_MAX

static iso_place place_of(const reader *r) {
  return (iso_place){iso_input_name(r->t.window.input), r->at.number, 0, -1};
}

/* ---- values ---- */

static isoproof_status code_of(reader *r, iso_value *code) {
  if (r->t.scalar.type == ISOPROOF_NIL) {
    *code = ISO_VALUE_NIL;
    return ISOPROOF_OK;
  }
  return iso_pool_add(&r->h->pool, r->t.scalar, code, &r->problem);
}

static isoproof_status push_scalar(reader *r) {
  iso_value code;
  ISO_TRY(code_of(r, &code));
  return iso_vec_push(&r->scratch, code) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

/* The keys of maps are texts in JSON even where they are numbers elsewhere. */
static isoproof_status push_key(reader *r) {
  int64_t number;
  iso_value code;
  const isoproof_scalar *s = &r->t.scalar;
  bool text = r->t.dialect == ISO_TOKEN_DIALECT_JSON && s->type == ISOPROOF_STRING;
  if (!text || !iso_parse_i64(s->text, s->length, &number)) return push_scalar(r);
  ISO_TRY(iso_pool_add_i64(&r->h->pool, number, &code, &r->problem));
  return iso_vec_push(&r->scratch, code) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

/* The rest of [:r k v] after its opening bracket; *good false when it is something else. */
static isoproof_status micro(reader *r, bool *good) {
  iso_tokenizer *t = &r->t;
  ISO_TRY(iso_token_next(t));
  bool reads = iso_token_is(t, "r"), writes = iso_token_is(t, "w");
  *good = reads || writes;
  if (!*good) return ISOPROOF_OK;
  if (!iso_vec_push(&r->scratch, writes ? 1u : 0u)) return iso_fail_memory(&r->problem);
  for (unsigned i = 0; i < 2; i++) {
    ISO_TRY(iso_token_next(t));
    *good = t->type == ISO_TOKEN_SCALAR;
    if (!*good) return ISOPROOF_OK;
    ISO_TRY(push_scalar(r));
  }
  ISO_TRY(iso_token_next(t));
  *good = t->type == ISO_TOKEN_END;
  return ISOPROOF_OK;
}

static isoproof_status scalars(reader *r, bool *good) {
  for (;;) {
    ISO_TRY(iso_token_next(&r->t));
    *good = r->t.type == ISO_TOKEN_SCALAR;
    if (!*good) break;
    ISO_TRY(push_scalar(r));
  }
  *good = r->t.type == ISO_TOKEN_END;
  return ISOPROOF_OK;
}

/* The elements of the list or set that was just opened. */
static isoproof_status list(reader *r, iso_object_shape *shape) {
  iso_tokenizer *t = &r->t;
  bool good = true;
  *shape = ISO_SHAPE_LIST;
  for (uint64_t place = 0; good; place++) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    bool inner = t->type == ISO_TOKEN_BEGIN_LIST || t->type == ISO_TOKEN_BEGIN_SET;
    if (t->type == ISO_TOKEN_SCALAR && *shape == ISO_SHAPE_LIST) {
      ISO_TRY(push_scalar(r));
    } else if (inner && place == 1 && *shape == ISO_SHAPE_LIST) {
      *shape = ISO_SHAPE_KEYED;
      r->at.key = r->scratch.items[0];
      r->scratch.count = 0;
      ISO_TRY(scalars(r, &good));
    } else if (inner && (place == 0 || *shape == ISO_SHAPE_MICRO)) {
      *shape = ISO_SHAPE_MICRO;
      ISO_TRY(micro(r, &good));
    } else {
      good = false;
    }
  }
  *shape = ISO_SHAPE_OTHER;
  return ISOPROOF_OK;
}

static isoproof_status map(reader *r, iso_object_shape *shape) {
  iso_tokenizer *t = &r->t;
  *shape = ISO_SHAPE_MAP;
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (t->type != ISO_TOKEN_SCALAR) break;
    ISO_TRY(push_key(r));
    ISO_TRY(iso_token_next(t));
    if (t->type != ISO_TOKEN_SCALAR) break;
    ISO_TRY(push_scalar(r));
  }
  *shape = ISO_SHAPE_OTHER;
  return ISOPROOF_OK;
}

static isoproof_status value(reader *r) {
  iso_tokenizer *t = &r->t;
  r->scratch.count = 0;
  if (t->type == ISO_TOKEN_SCALAR) {
    r->at.shape = iso_token_is_nil(t) ? ISO_SHAPE_NOTHING : ISO_SHAPE_SCALAR;
    return r->at.shape == ISO_SHAPE_SCALAR ? push_scalar(r) : ISOPROOF_OK;
  }
  uint32_t outside = t->depth - 1;
  ISO_TRY(t->type == ISO_TOKEN_BEGIN_MAP ? map(r, &r->at.shape) : list(r, &r->at.shape));
  return t->depth > outside ? iso_token_leave(t, outside) : ISOPROOF_OK;
}

/* ---- lines ---- */

static isoproof_status field(reader *r, unsigned which) {
  iso_tokenizer *t = &r->t;
  if (which == 0) {
    r->at.type = iso_token_is(t, "invoke") ? INVOKE
                 : iso_token_is(t, "ok")   ? OK
                 : iso_token_is(t, "fail") ? FAIL
                 : iso_token_is(t, "info") ? INFO
                                           : NO_TYPE;
  } else if (which == 1) {
    r->at.has_f = !iso_token_is_nil(t);
#define ISO_X(name, text)                                                                                              \
  if (iso_token_is(t, text)) r->at.f = ISO_OBJECT_F_##name;
    ISO_OBJECT_F_LIST(ISO_X)
#undef ISO_X
    if (t->type == ISO_TOKEN_SCALAR) isoproof_scalar_format(t->scalar, r->at.f_text, sizeof r->at.f_text);
  } else if (which == 2) {
    r->at.is_nemesis = iso_token_is(t, "nemesis");
    if (t->type != ISO_TOKEN_SCALAR) return iso_token_expected(t, "a process (a number, text or keyword)");
    return code_of(r, &r->at.process);
  } else if (which == 3) {
    return value(r);
  }
  return iso_token_skip(t);
}

static isoproof_status read_line(reader *r) {
  iso_tokenizer *t = &r->t;
  static const char *const names[] = {"type", "f", "process", "value"};
  r->at = (line){.f = ISO_OBJECT_FS, .process = ISO_VALUE_NIL, .key = ISO_VALUE_NIL, .number = t->token_line};
  r->scratch.count = 0;
  for (;;) {
    unsigned which = 0;
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    while (which < 4 && !iso_token_is_n(t, names[which], strlen(names[which]))) which++;
    ISO_TRY(iso_token_skip(t));
    ISO_TRY(iso_token_next(t));
    ISO_TRY(field(r, which));
  }
}

/* The values of the line become those of an operation. */
static isoproof_status take_values(reader *r, iso_object_op *op) {
  iso_object_history *h = r->h;
  op->shape = (uint8_t)r->at.shape;
  op->key = r->at.key;
  op->first = h->values.count;
  op->count = (uint32_t)r->scratch.count;
  if (r->scratch.count >= UINT32_MAX) return iso_fail_memory(&r->problem);
  if (!iso_vec_reserve(&h->values, r->scratch.count)) return iso_fail_memory(&r->problem);
  for (size_t i = 0; i < r->scratch.count; i++) h->values.items[h->values.count++] = r->scratch.items[i];
  return ISOPROOF_OK;
}

static isoproof_status invocation(reader *r, uint32_t process, uint32_t place) {
  iso_object_op op = {.f = (uint8_t)r->at.f,
                      .outcome = ISOPROOF_TXN_UNKNOWN,
                      .invoked = place,
                      .completed = ISO_OBJECT_NEVER,
                      .line = r->at.number};
  ISO_TRY(take_values(r, &op));
  r->open.items[process] = (uint32_t)r->h->ops.count;
  return iso_vec_push(&r->h->ops, op) ? ISOPROOF_OK : iso_fail_memory(&r->problem);
}

static isoproof_status completion(reader *r, uint32_t process, uint32_t place) {
  if (r->open.items[process] == NONE) {
    if (iso_object_needs_time(r->model)) {
      return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place_of(r),
                         "expected the invocation of the operation before its completion, found none: the model %s is "
                         "about real time",
                         isoproof_object_model_at(r->model));
    }
    ISO_TRY(invocation(r, process, place));
  }
  iso_object_op *op = &r->h->ops.items[r->open.items[process]];
  r->open.items[process] = NONE;
  if (op->f != r->at.f) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place_of(r),
                       "expected the completion of the %s that its process invoked in line %llu, found that of a %s",
                       iso_object_f_text((iso_object_f)op->f), (unsigned long long)op->line,
                       iso_object_f_text(r->at.f));
  }
  op->outcome = (uint8_t)(r->at.type == OK     ? ISOPROOF_TXN_COMMITTED
                          : r->at.type == FAIL ? ISOPROOF_TXN_ABORTED
                                               : ISOPROOF_TXN_UNKNOWN);
  if (r->at.type == INFO) return ISOPROOF_OK;
  op->completed = place;
  op->line = r->at.number;
  bool says = r->at.shape != ISO_SHAPE_NOTHING || op->f == ISO_OBJECT_F_READ;
  return r->at.type == OK && says ? take_values(r, op) : ISOPROOF_OK;
}

/* Whether the line is about the object; errors where it should be and is not. */
static isoproof_status accept(reader *r, bool *accepted) {
  *accepted = false;
  if (r->at.is_nemesis) return ISOPROOF_OK;
  if (r->at.type == NO_TYPE) {
    return iso_fail_at(&r->problem, ISOPROOF_ERR_FORMAT, place_of(r),
                       "expected a type (invoke, ok, fail or info) in the operation, found none");
  }
  if (r->at.f < ISO_OBJECT_FS && (iso_object_fs(r->model) >> r->at.f & 1) != 0) {
    *accepted = true;
    return ISOPROOF_OK;
  }
  char quoted[256];
  bool transaction = r->at.f == ISO_OBJECT_F_TXN || !r->at.has_f;
  return iso_fail_at(&r->problem, transaction ? ISOPROOF_ERR_UNSUPPORTED : ISOPROOF_ERR_FORMAT, place_of(r),
                     "expected an operation of the model %s, found %s", isoproof_object_model_at(r->model),
                     transaction ? "a transaction" : iso_quote(r->at.f_text, strlen(r->at.f_text), quoted));
}

static isoproof_status operation(reader *r) {
  uint32_t process;
  bool accepted;
  ISO_TRY(read_line(r));
  if (r->h->places >= ISO_OBJECT_NEVER - 1) return iso_fail(&r->problem, ISOPROOF_ERR_LIMIT, "too many operations");
  uint32_t place = r->h->places++;
  ISO_TRY(accept(r, &accepted));
  if (!accepted) return ISOPROOF_OK;
  ISO_TRY(iso_numbering_add(&r->processes, r->at.process, &process, &r->problem));
  if (process == r->open.count && !iso_vec_push(&r->open, NONE)) return iso_fail_memory(&r->problem);
  return r->at.type == INVOKE ? invocation(r, process, place) : completion(r, process, place);
}

static isoproof_status operations(reader *r, isoproof_task *task) {
  for (uint64_t count = 0;; count++) {
    if ((count & 1023) == 0) ISO_TRY(iso_task_check(task, &r->problem));
    ISO_TRY(iso_token_next(&r->t));
    if (r->t.type == ISO_TOKEN_END_OF_INPUT) return ISOPROOF_OK;
    if (r->t.type == ISO_TOKEN_BEGIN_MAP) {
      ISO_TRY(operation(r));
    } else if (r->t.type != ISO_TOKEN_END && (r->t.type != ISO_TOKEN_BEGIN_LIST || r->t.depth != 1)) {
      return iso_token_expected(&r->t, "an operation (a map)");
    }
  }
}

static isoproof_status run(reader *r, iso_input *input, bool json, isoproof_task *task) {
  ISO_TRY(iso_pool_init(&r->h->pool, &r->problem));
  r->h->name = strdup(iso_input_name(input));
  if (r->h->name == NULL) return iso_fail_memory(&r->problem);
  ISO_TRY(iso_tokenizer_init(&r->t, input, json ? ISO_TOKEN_DIALECT_JSON : ISO_TOKEN_DIALECT_EDN, &r->problem));
  isoproof_status status = operations(r, task);
  iso_tokenizer_free(&r->t);
  return status;
}

isoproof_status iso_object_read(iso_input *input, bool json, isoproof_object_model model, isoproof_task *task,
                                iso_object_history *history, isoproof_error *error) {
  memset(history, 0, sizeof *history);
  reader *r = iso_alloc_zero(1, sizeof *r);
  if (r == NULL) return iso_fail_memory(error);
  r->h = history;
  r->model = model;
  iso_numbering_init(&r->processes);
  isoproof_status status = run(r, input, json, task);
  if (status != ISOPROOF_OK) {
    if (error != NULL) *error = r->problem;
    iso_object_free(history);
  }
  iso_numbering_free(&r->processes);
  iso_vec_free(&r->open);
  iso_vec_free(&r->scratch);
  free(r);
  return status;
}

void iso_object_free(iso_object_history *h) {
  iso_pool_free(&h->pool);
  iso_vec_free(&h->ops);
  iso_vec_free(&h->values);
  free(h->name);
  memset(h, 0, sizeof *h);
}
