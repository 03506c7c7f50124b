/* parse.c - from files to a script: sections, and a file without any as one transaction. */
#include "script/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

isoproof_status iso_parse_fail(const iso_parser *p, uint64_t line, const char *format, ...) {
  char text[ISOPROOF_ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  iso_place place = {p->scanner.file, line, 1, -1};
  return iso_fail_at(p->error, ISOPROOF_ERR_USAGE, place, "%s", text);
}

isoproof_status iso_parse_add(iso_parser *p, iso_command command) {
  size_t count = p->current != NULL ? p->current->commands.count : p->preamble.count;
  if (count >= ISO_SCRIPT_MOST_COMMANDS)
    return iso_parse_fail(p, command.line, "more than %d commands in one section", ISO_SCRIPT_MOST_COMMANDS);
  bool good = p->current != NULL ? iso_vec_push(&p->current->commands, command) : iso_vec_push(&p->preamble, command);
  return good ? ISOPROOF_OK : iso_fail_memory(p->error);
}

/* ---- one file ---- */

/* Whether a line opens a section. */
static bool has_sections(const char *text, size_t length) {
  static const char *const words[] = {
#define ISO_X(name, word) word,
      ISO_SECTION_LIST(ISO_X)
#undef ISO_X
  };
  for (const char *at = text, *end = text + length; at < end;) {
    const char *line = at, *next = memchr(at, '\n', (size_t)(end - at));
    at = next != NULL ? next + 1 : end;
    while (line < at && (*line == ' ' || *line == '\t')) line++;
    if (at - line < 3 || line[0] != '-' || line[1] != '-') continue;
    line += 2;
    while (line < at && (*line == ' ' || *line == '\t')) line++;
    size_t n = 0;
    while (line + n < at && isalpha((unsigned char)line[n])) n++;
    for (int i = 0; i < ISO_SECTION_KINDS; i++)
      if (iso_parse_is(line, n, words[i])) return true;
  }
  return false;
}

/* A file without sections is a transaction with the name of the file. */
static isoproof_status make_only_section(iso_parser *p) {
  const char *slash = strrchr(p->scanner.file, '/'), *base = slash != NULL ? slash + 1 : p->scanner.file;
  size_t length = strlen(base);
  if (length > 4 && strcasecmp(base + length - 4, ".sql") == 0) length -= 4;
  if (length >= ISO_SCRIPT_NAME_BYTES) length = ISO_SCRIPT_NAME_BYTES - 1;
  while (length > 0 && !iso_utf8_valid(base, length)) length--;
  iso_section section = {.kind = ISO_SECTION_TRANSACTION,
                         .file = p->scanner.file,
                         .line = 1,
                         .weight = p->file_weight,
                         .name =
                             iso_arena_text(&p->script->arena, length > 0 ? base : "script", length > 0 ? length : 6)};
  if (section.name == NULL || !iso_vec_push(&p->script->sections, section)) return iso_fail_memory(p->error);
  p->current = &p->script->sections.items[p->script->sections.count - 1];
  return ISOPROOF_OK;
}

static isoproof_status parse_all(iso_parser *p) {
  bool after_sql = false;
  for (;;) {
    iso_scanned found;
    ISO_TRY(iso_scan(&p->scanner, &found));
    switch (found.kind) {
    case ISO_SCANNED_END:
      return iso_parse_end_section(p);
    case ISO_SCANNED_COMMENT:
      if (p->sectioned) ISO_TRY(iso_parse_comment(p, &found));
      break;
    case ISO_SCANNED_COMMAND:
      ISO_TRY(iso_parse_command(p, &found, after_sql));
      break;
    case ISO_SCANNED_SQL:
      ISO_TRY(iso_parse_sql(p, &found));
      break;
    }
    after_sql = found.kind == ISO_SCANNED_SQL && found.open;
  }
}

static isoproof_status parse_file(iso_script *script, const char *name, const char *text, size_t length,
                                  uint64_t weight, iso_script_quoting quoting, isoproof_error *error) {
  const char *file = iso_arena_text(&script->arena, name, strlen(name));
  if (file == NULL) return iso_fail_memory(error);
  iso_parser p = {.script = script,
                  .scanner = {.arena = &script->arena,
                              .file = file,
                              .start = text,
                              .at = text,
                              .end = text + length,
                              .line = 1,
                              .quoting = quoting,
                              .error = error},
                  .file_weight = weight,
                  .sectioned = has_sections(text, length),
                  .error = error};
  isoproof_status status = ISOPROOF_OK;
  if (!iso_utf8_valid(text, length) || memchr(text, 0, length) != NULL)
    status = iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected text in UTF-8", name);
  if (status == ISOPROOF_OK && !p.sectioned) status = make_only_section(&p);
  if (status == ISOPROOF_OK) status = parse_all(&p);
  for (size_t i = 0; i < p.preamble.count; i++)
    if (p.preamble.items[i].expression != NULL) iso_expression_free(p.preamble.items[i].expression);
  iso_vec_free(&p.preamble);
  iso_vec_free(&p.open);
  return status;
}

/* ---- all files ---- */

/* What only all files together can have. */
static isoproof_status conclude(iso_script *script, isoproof_error *error) {
  for (size_t i = 0; i < script->sections.count; i++)
    if (script->sections.items[i].kind == ISO_SECTION_TRANSACTION) script->weight += script->sections.items[i].weight;
  if (iso_script_count(script, ISO_SECTION_TRANSACTION) == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a section '-- transaction NAME', found none in the scripts");
  if (script->weight == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "all transactions of the scripts have the weight 0");
  return ISOPROOF_OK;
}

static isoproof_status read_file(const char *path, char **text, size_t *length, isoproof_error *error) {
  FILE *in = fopen(path, "re");
  if (in == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: cannot open it: %s", path, strerror(errno));
  *text = iso_alloc(ISO_SCRIPT_MOST_BYTES + 1, 1);
  isoproof_status status = *text != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    *length = fread(*text, 1, ISO_SCRIPT_MOST_BYTES + 1, in);
    if (ferror(in))
      status = iso_fail(error, ISOPROOF_ERR_USAGE, "%s: cannot read it: %s", path, strerror(errno));
    else if (*length > ISO_SCRIPT_MOST_BYTES)
      status = iso_fail(error, ISOPROOF_ERR_LIMIT, "%s: expected at most 16 MiB of script", path);
  }
  fclose(in);
  return status;
}

/* PATH@WEIGHT, as pgbench's -f takes it. */
static isoproof_status split_weight(const char *given, char *path, size_t size, uint64_t *weight,
                                    isoproof_error *error) {
  const char *sign = strrchr(given, '@');
  size_t length = strlen(given);
  *weight = 1;
  if (sign != NULL && sign[1] != 0 && strspn(sign + 1, "0123456789") == strlen(sign + 1)) {
    if (!iso_parse_u64(sign + 1, strlen(sign + 1), weight) || *weight > ISO_SCRIPT_MOST_WEIGHT)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected a weight from 0 to %d behind @", given,
                      ISO_SCRIPT_MOST_WEIGHT);
    length = (size_t)(sign - given);
  }
  if (length >= size) return iso_fail(error, ISOPROOF_ERR_USAGE, "the path of a script is too long");
  memcpy(path, given, length);
  path[length] = 0;
  return ISOPROOF_OK;
}

static isoproof_status read_one(iso_script *script, const char *given, iso_script_quoting quoting,
                                isoproof_error *error) {
  enum { PATH_BYTES = 4096 };
  char path[PATH_BYTES], *text = NULL;
  size_t length = 0;
  uint64_t weight;
  ISO_TRY(split_weight(given, path, sizeof path, &weight, error));
  isoproof_status status = read_file(path, &text, &length, error);
  if (status == ISOPROOF_OK) status = parse_file(script, path, text, length, weight, quoting, error);
  free(text);
  return status;
}

static isoproof_status finish(iso_script *made, isoproof_status status, iso_script **script, isoproof_error *error) {
  if (status == ISOPROOF_OK) status = conclude(made, error);
  if (status == ISOPROOF_OK)
    *script = made;
  else
    iso_script_free(made);
  return status;
}

isoproof_status iso_script_read(const char *const *paths, size_t count, iso_script_quoting quoting, iso_script **script,
                                isoproof_error *error) {
  iso_script *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < count && status == ISOPROOF_OK; i++) status = read_one(made, paths[i], quoting, error);
  return finish(made, status, script, error);
}

isoproof_status iso_script_parse(const char *name, const char *text, size_t length, iso_script_quoting quoting,
                                 iso_script **script, isoproof_error *error) {
  iso_script *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  return finish(made, parse_file(made, name, text, length, 1, quoting, error), script, error);
}

void iso_script_free(iso_script *script) {
  if (script == NULL) return;
  for (size_t i = 0; i < script->sections.count; i++) {
    iso_section *section = &script->sections.items[i];
    for (size_t k = 0; k < section->commands.count; k++)
      if (section->commands.items[k].expression != NULL) iso_expression_free(section->commands.items[k].expression);
    iso_vec_free(&section->commands);
    iso_vec_free(&section->rows);
  }
  iso_vec_free(&script->sections);
  iso_arena_free(&script->arena);
  free(script);
}

const iso_section *iso_script_transaction(const iso_script *script, uint64_t drawn) {
  const iso_section *last = NULL;
  for (size_t i = 0; i < script->sections.count; i++) {
    const iso_section *section = &script->sections.items[i];
    if (section->kind != ISO_SECTION_TRANSACTION || section->weight == 0) continue;
    if (drawn < section->weight) return section;
    drawn -= section->weight;
    last = section;
  }
  return last;
}

size_t iso_script_count(const iso_script *script, iso_section_kind kind) {
  size_t count = 0;
  for (size_t i = 0; i < script->sections.count; i++) count += script->sections.items[i].kind == kind;
  return count;
}
