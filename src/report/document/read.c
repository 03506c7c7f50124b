/* Saved results, one after the other: a table of fields, each with a function. */
#include "report/document/read.h"

#include <stdio.h>

#include "base/abi.h"
#include "report/document/assessment.h"

struct isoproof_document_reader {
  iso_input *input;
  iso_tokenizer tokens;
  bool has_tokens;
  isoproof_document_read_options options;
  char *name, *history; /* where it was read from; options.history */
  isoproof_task *task;
};

/* One document while it is read. */
typedef struct reading {
  isoproof_document_reader *from;
  isoproof_document *document;
  iso_arena scratch; /* of the field */
  iso_name_list asked;
  uint64_t schema;
  uint64_t found; /* anomalies, where not all are there */
} reading;

static bool keep(reading *r, const iso_json *tree, size_t most, const char **out) {
  if (tree == NULL || tree->type != ISO_TREE_TEXT) return true;
  *out = iso_document_text(&r->document->arena, tree->text, tree->length, most);
  return *out != NULL;
}

static isoproof_verdict verdict_named(const iso_json *tree) {
  for (int i = ISOPROOF_VERDICT_NONE; tree != NULL && tree->type == ISO_TREE_TEXT && i <= ISOPROOF_UNDECIDED; i++) {
    if (strcmp(tree->text, isoproof_verdict_name((isoproof_verdict)i)) == 0) return (isoproof_verdict)i;
  }
  return ISOPROOF_VERDICT_NONE;
}

/* ---- fields: each returns false when memory is out ---- */

static bool read_schema(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->schema);
  return true;
}

static bool read_file(reading *r, const iso_json *tree) {
  if (!keep(r, tree, ISO_DOCUMENT_FACT, &r->document->file) || !keep(r, tree, SIZE_MAX, &r->document->given_file))
    return false;
  if (r->document->file[0] == '\0') r->document->given_file = NULL;
  return true;
}

static bool read_format(reading *r, const iso_json *tree) {
  return keep(r, tree, ISO_DOCUMENT_SCALAR, &r->document->format);
}

static bool read_sessions(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->counts.sessions);
  return true;
}

static bool read_transactions(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->counts.transactions);
  return true;
}

static bool read_operations(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->counts.operations);
  return true;
}

static bool read_committed(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->counts.committed);
  return true;
}

static bool read_aborted(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->counts.aborted);
  return true;
}

static bool read_unknown(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->counts.unknown);
  return true;
}

static bool read_verdict(reading *r, const iso_json *tree) {
  r->document->verdict = verdict_named(tree);
  return true;
}

static bool read_elle(reading *r, const iso_json *tree) {
  r->document->elle = iso_json_is(tree, "true")    ? ISOPROOF_SATISFIED
                      : iso_json_is(tree, "false") ? ISOPROOF_VIOLATED
                                                   : verdict_named(tree);
  return true;
}

static bool read_reason(reading *r, const iso_json *tree) {
  return keep(r, tree, ISO_DOCUMENT_FACT, &r->document->unknown_reason);
}

static bool read_unexplained(reading *r, const iso_json *tree) {
  return keep(r, tree, ISO_DOCUMENT_FACT, &r->document->unexplained);
}

static bool read_uncertified(reading *r, const iso_json *tree) {
  return keep(r, tree, ISO_DOCUMENT_FACT, &r->document->uncertified);
}

static bool read_searches(reading *r, const iso_json *tree) { return iso_read_searches(r->document, tree); }

static bool read_workload(reading *r, const iso_json *tree) {
  return keep(r, tree, ISO_DOCUMENT_SCALAR, &r->document->workload);
}

static bool read_levels(reading *r, const iso_json *tree) {
  enum { MOST_LEVELS = 1000 };
  if (tree->type != ISO_TREE_MAP) return true;
  for (const iso_json *child = tree->first; child != NULL && r->document->levels.count < MOST_LEVELS;
       child = child->next) {
    isoproof_level_verdict level = {.verdict = verdict_named(child)};
    level.level = iso_document_text(&r->document->arena, child->name, strlen(child->name), ISO_DOCUMENT_SCALAR);
    if (level.level != NULL) level.called = iso_level_everyday(level.level);
    if (level.level == NULL || !iso_vec_push(&r->document->levels, level)) return false;
  }
  return true;
}

static bool read_undecided(reading *r, const iso_json *tree) {
  enum { MOST_LEVELS = 1000 };
  if (tree->type != ISO_TREE_LIST) return true;
  for (const iso_json *child = tree->first; child != NULL && r->document->undecided.count < MOST_LEVELS;
       child = child->next) {
    iso_document_undecided one = {.level = NULL, .reason = ""};
    if (!keep(r, iso_json_find(child, "level"), ISO_DOCUMENT_SCALAR, &one.level) ||
        !keep(r, iso_json_find(child, "reason"), ISO_DOCUMENT_FACT, &one.reason))
      return false;
    if (one.level != NULL && !iso_vec_push(&r->document->undecided, one)) return false;
  }
  return true;
}

/* Comes after the levels that it is about. */
static bool read_called(reading *r, const iso_json *tree) {
  for (size_t i = 0; i < r->document->levels.count; i++) {
    isoproof_level_verdict *level = &r->document->levels.items[i];
    if (!keep(r, iso_json_find(tree, level->level), ISO_DOCUMENT_SCALAR, &level->called)) return false;
  }
  return true;
}

static bool read_names(reading *r, const iso_json *tree, iso_name_list *names) {
  enum { MOST_NAMES = 1000 };
  if (tree->type != ISO_TREE_LIST) return true;
  for (const iso_json *child = tree->first; child != NULL && names->count < MOST_NAMES; child = child->next) {
    const char *name = NULL;
    if (!keep(r, child, ISO_DOCUMENT_SCALAR, &name)) return false;
    if (name != NULL && !iso_vec_push(names, name)) return false;
  }
  return true;
}

static bool read_asked(reading *r, const iso_json *tree) { return read_names(r, tree, &r->asked); }

#define ISO_X(c_name, field)                                                                                           \
  static bool read_names_##c_name(reading *r, const iso_json *tree) {                                                  \
    return read_names(r, tree, &r->document->names[ISO_NAMES_##c_name]);                                               \
  }
ISO_DOCUMENT_NAMES(ISO_X)
#undef ISO_X

static bool read_times(reading *r, const iso_json *tree) {
  isoproof_document *d = r->document;
  d->has_times = iso_json_i64(iso_json_find(tree, "first_start"), &d->first_start) &&
                 iso_json_i64(iso_json_find(tree, "last_end"), &d->last_end) && d->first_start <= d->last_end;
  return true;
}

static bool read_effort(reading *r, const iso_json *tree) {
  iso_read_effort(r->document, tree);
  return true;
}

static bool read_facts(reading *r, const iso_json *tree) {
  if (tree->type != ISO_TREE_MAP) return true;
  for (const iso_json *child = tree->first; child != NULL && r->document->facts.count < ISO_DOCUMENT_FACTS;
       child = child->next) {
    isoproof_document_fact fact = {.struct_size = sizeof fact};
    fact.name = iso_document_text(&r->document->arena, child->name, strlen(child->name), ISO_DOCUMENT_SCALAR);
    if (fact.name == NULL || !keep(r, child, ISO_DOCUMENT_FACT, &fact.value)) return false;
    if (fact.value != NULL && !iso_vec_push(&r->document->facts, fact)) return false;
  }
  return true;
}

static bool read_faults(reading *r, const iso_json *tree) {
  if (tree->type != ISO_TREE_LIST) return true;
  for (const iso_json *child = tree->first; child != NULL && r->document->faults.count < ISO_DOCUMENT_FAULTS;
       child = child->next) {
    isoproof_document_fault fault = {.struct_size = sizeof fault, .kind = "", .target = "", .end = ISOPROOF_NO_TIME};
    if (!iso_json_i64(iso_json_find(child, "start"), &fault.start)) continue;
    (void)iso_json_i64(iso_json_find(child, "end"), &fault.end);
    if (!keep(r, iso_json_find(child, "kind"), ISO_DOCUMENT_SCALAR, &fault.kind) ||
        !keep(r, iso_json_find(child, "target"), ISO_DOCUMENT_SCALAR, &fault.target) ||
        !iso_vec_push(&r->document->faults, fault))
      return false;
  }
  return true;
}

static bool read_aborts(reading *r, const iso_json *tree) {
  if (tree->type != ISO_TREE_LIST) return true;
  for (const iso_json *child = tree->first; child != NULL && r->document->aborts.count < ISO_DOCUMENT_ABORTS;
       child = child->next) {
    isoproof_document_abort one = {.struct_size = sizeof one, .reason = ""};
    (void)iso_json_u64(iso_json_find(child, "count"), &one.count);
    if (!keep(r, iso_json_find(child, "code"), ISO_DOCUMENT_SCALAR, &one.reason) ||
        !iso_vec_push(&r->document->aborts, one))
      return false;
  }
  return true;
}

static bool read_notices(reading *r, const iso_json *tree) {
  if (tree->type != ISO_TREE_LIST) return true;
  for (const iso_json *child = tree->first; child != NULL; child = child->next) {
    const iso_json *code = iso_json_find(child, "code"), *message = iso_json_find(child, "message");
    uint64_t line = 0;
    (void)iso_json_u64(iso_json_find(child, "line"), &line);
    if (code == NULL || code->type != ISO_TREE_TEXT || message == NULL || message->type != ISO_TREE_TEXT) continue;
    if (!iso_document_add_notice(r->document, code->text, line, message->text, message->length)) return false;
  }
  return true;
}
static bool read_invariants(reading *r, const iso_json *tree) { return iso_read_invariants(r->document, tree); }
static bool read_bank(reading *r, const iso_json *tree) { return iso_read_bank(r->document, tree); }

static bool read_seconds(reading *r, const iso_json *tree) {
  (void)iso_json_number(iso_json_find(tree, "load"), &r->document->load_seconds);
  (void)iso_json_number(iso_json_find(tree, "check"), &r->document->check_seconds);
  return true;
}

static bool read_peak(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->document->peak_bytes);
  return true;
}

static void copy_text(char *to, size_t size, const iso_json *tree) {
  if (tree != NULL && tree->type == ISO_TREE_TEXT) snprintf(to, size, "%s", tree->text);
}

static bool read_error(reading *r, const iso_json *tree) {
  isoproof_error *problem = &r->document->problem;
  const iso_json *code = iso_json_find(tree, "code");
  problem->code = ISOPROOF_ERR_FORMAT;
  for (int i = ISOPROOF_ERR_USAGE; code != NULL && code->type == ISO_TREE_TEXT && i <= ISOPROOF_ERR_INTERFERENCE; i++)
    if (strcmp(code->text, isoproof_status_name((isoproof_status)i)) == 0) problem->code = (isoproof_status)i;
  copy_text(problem->file, sizeof problem->file, iso_json_find(tree, "file"));
  copy_text(problem->message, sizeof problem->message, iso_json_find(tree, "message"));
  (void)iso_json_u64(iso_json_find(tree, "line"), &problem->line);
  (void)iso_json_u64(iso_json_find(tree, "column"), &problem->column);
  (void)iso_json_i64(iso_json_find(tree, "offset"), &problem->offset);
  r->document->has_problem = true;
  return true;
}

static bool read_found(reading *r, const iso_json *tree) {
  (void)iso_json_u64(tree, &r->found);
  return true;
}

static bool read_found_is(reading *r, const iso_json *tree) {
  const char *least = isoproof_count_kind_name(ISOPROOF_COUNT_AT_LEAST);
  r->document->found_more = tree->type == ISO_TREE_TEXT && strcmp(tree->text, least) == 0;
  return true;
}

static const struct field {
  const char *name;
  bool (*read)(reading *r, const iso_json *tree);
} fields[] = {{"schema", read_schema},
              {"file", read_file},
              {"format", read_format},
              {"sessions", read_sessions},
              {"transactions", read_transactions},
              {"operations", read_operations},
              {"committed", read_committed},
              {"aborted", read_aborted},
              {"unknown", read_unknown},
              {"verdict", read_verdict},
              {"elle_valid", read_elle},
              {"unknown_reason", read_reason},
              {"unexplained", read_unexplained},
              {"uncertified_reason", read_uncertified},
              {"stats", read_searches},
              {"notices", read_notices},
              {"called", read_called},
              {"workload", read_workload},
              {"levels", read_levels},
              {"asked", read_asked},
              {"undecided", read_undecided},
#define ISO_X(c_name, field) {field, read_names_##c_name},
              ISO_DOCUMENT_NAMES(ISO_X)
#undef ISO_X
                  {"times", read_times},
              {"effort", read_effort},
              {"facts", read_facts},
              {"faults", read_faults},
              {"aborts", read_aborts},
              {"bank", read_bank},
              {"invariants", read_invariants},
              {"seconds", read_seconds},
              {"anomalies_found", read_found},
              {"anomalies_found_is", read_found_is},
              {"peak_bytes", read_peak},
              {"error", read_error}};

/* ---- objects ---- */

/* Anomalies one by one: a result may have a million of them. */
static isoproof_status read_anomalies(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->from->tokens;
  isoproof_document *d = r->document;
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of anomalies");
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    d->anomalies_found++;
    if (d->anomalies.count >= ISOPROOF_DOCUMENT_ANOMALIES) {
      ISO_TRY(iso_token_skip(t));
      continue;
    }
    iso_json *tree;
    iso_arena_free(&r->scratch);
    ISO_TRY(iso_json_read(t, &r->scratch, &tree, error));
    iso_full_anomaly made;
    if (!iso_read_anomaly(&d->arena, tree, &made) || !iso_vec_push(&d->anomalies, made)) return iso_fail_memory(error);
  }
}

static isoproof_status read_field(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->from->tokens;
  const struct field *known = NULL;
  bool anomalies = iso_token_is(t, "anomalies"), certificates = iso_token_is(t, "certificates");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (iso_token_is_n(t, fields[i].name, strlen(fields[i].name))) known = &fields[i];
  ISO_TRY(iso_json_next(t));
  if (anomalies) return read_anomalies(r, error);
  if (certificates) return iso_read_certificates(r->document, t, error);
  if (known == NULL) return iso_token_skip(t);
  iso_json *tree;
  iso_arena_free(&r->scratch);
  ISO_TRY(iso_json_read(t, &r->scratch, &tree, error));
  return known->read(r, tree) ? ISOPROOF_OK : iso_fail_memory(error);
}

static void mark_asked(reading *r) {
  for (size_t i = 0; i < r->document->levels.count; i++) {
    for (size_t k = 0; k < r->asked.count; k++) {
      isoproof_level_verdict *level = &r->document->levels.items[i];
      if (strcmp(level->level, r->asked.items[k]) == 0) level->asked = true;
    }
  }
}

/* Whether every instance is there: a code comes again then, and none has a number of its own. */
static void find_instances(isoproof_document *d) {
  bool again = false, counted = false;
  for (size_t i = 0; i < d->anomalies.count; i++) {
    again = again || (i > 0 && strcmp(d->anomalies.items[i].code, d->anomalies.items[i - 1].code) == 0);
    counted = counted || d->anomalies.items[i].count != 1;
  }
  d->every_instance = again && !counted;
}

static isoproof_status read_object(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->from->tokens;
  iso_place place = iso_token_place(t);
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, "the JSON of a result (docs/json.md)");
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) break;
    ISO_TRY(read_field(r, error));
  }
  if (r->schema != 1)
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "expected the JSON of a result with \"schema\":1, found %s",
                       r->schema == 0 ? "none" : "another schema");
  mark_asked(r);
  if (r->found > r->document->anomalies_found) r->document->anomalies_found = r->found;
  find_instances(r->document);
  if (!iso_document_make_title(r->document) || !iso_document_count_left_out(r->document)) return iso_fail_memory(error);
  if (r->document->has_problem) return ISOPROOF_OK;
  return iso_read_history(r->document, &r->from->options, r->from->name, r->from->task, error);
}

isoproof_status isoproof_document_reader_next(isoproof_document_reader *reader, isoproof_document **document,
                                              isoproof_error *error) {
  *document = NULL;
  reader->tokens.error = error;
  ISO_TRY(iso_json_next(&reader->tokens));
  if (reader->tokens.type == ISO_TOKEN_END_OF_INPUT) return ISOPROOF_OK;
  reading r = {.from = reader, .document = iso_document_new(), .scratch = ISO_ARENA_EMPTY};
  isoproof_status status = r.document != NULL ? read_object(&r, error) : iso_fail_memory(error);
  iso_arena_free(&r.scratch);
  iso_vec_free(&r.asked);
  if (status == ISOPROOF_OK)
    *document = r.document;
  else
    isoproof_document_free(r.document);
  return status;
}

/* ---- opening ---- */

/* Takes the input over. */
static isoproof_status start(iso_input *input, const char *name, const isoproof_document_read_options *options,
                             isoproof_task *task, isoproof_document_reader **reader, isoproof_error *error) {
  isoproof_document_reader *made = iso_alloc_zero(1, sizeof *made);
  *reader = NULL;
  if (made == NULL) {
    iso_input_close(input);
    return iso_fail_memory(error);
  }
  made->input = input;
  made->task = task;
  made->options = *options;
  made->name = strdup(name);
  if (options->history != NULL) made->history = strdup(options->history);
  isoproof_status status = made->name == NULL || (options->history != NULL && made->history == NULL)
                               ? iso_fail_memory(error)
                               : iso_tokenizer_init(&made->tokens, input, ISO_TOKEN_DIALECT_JSON, error);
  if (status != ISOPROOF_OK) {
    isoproof_document_reader_free(made);
    return status;
  }
  made->has_tokens = true;
  made->options.history = made->history;
  *reader = made;
  return ISOPROOF_OK;
}

isoproof_status isoproof_document_reader_open(const char *path, const isoproof_document_read_options *options,
                                              isoproof_task *task, isoproof_document_reader **reader,
                                              isoproof_error *error) {
  isoproof_document_read_options known = {.struct_size = sizeof known};
  iso_input *input;
  *reader = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_document_read_options, &known, options, error));
  ISO_TRY(iso_input_open_for(path, task, &input, error));
  return start(input, path, &known, task, reader, error);
}

isoproof_status isoproof_document_reader_open_memory(const void *data, size_t size, const char *name,
                                                     const isoproof_document_read_options *options, isoproof_task *task,
                                                     isoproof_document_reader **reader, isoproof_error *error) {
  isoproof_document_read_options known = {.struct_size = sizeof known};
  iso_input *input;
  *reader = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_document_read_options, &known, options, error));
  ISO_TRY(iso_input_open_memory(data, size, name, &input, error));
  return start(input, name, &known, task, reader, error);
}

void isoproof_document_reader_free(isoproof_document_reader *reader) {
  if (reader == NULL) return;
  if (reader->has_tokens) iso_tokenizer_free(&reader->tokens);
  iso_input_close(reader->input);
  free(reader->name);
  free(reader->history);
  free(reader);
}
