/* parse_section.c - lines that open sections, and those that say what invariants return. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "script/parse.h"

const char *iso_parse_word(const char **at, size_t *length) {
  while (**at == ' ' || **at == '\t') ++*at;
  bool quoted = **at == '"';
  const char *start = *at + quoted;
  size_t n = strcspn(start, quoted ? "\"" : " \t");
  *at = start + n + (quoted && start[n] == '"');
  *length = n;
  return start;
}

bool iso_parse_is(const char *word, size_t length, const char *text) {
  return strlen(text) == length && strncasecmp(word, text, length) == 0;
}

/* ---- openings ---- */

static isoproof_status take_name(iso_parser *p, uint64_t line, const char **at, iso_section *section) {
  size_t length;
  const char *word = iso_parse_word(at, &length);
  static const char *const kinds[] = {
#define ISO_X(name, word) word,
      ISO_SECTION_LIST(ISO_X)
#undef ISO_X
  };
  const char *kind = kinds[section->kind];
  if (length == 0 || length >= ISO_SCRIPT_NAME_BYTES)
    return iso_parse_fail(p, line, "expected a name of at most %d bytes after '-- %s'", ISO_SCRIPT_NAME_BYTES - 1,
                          kind);
  if (!iso_utf8_valid(word, length)) return iso_parse_fail(p, line, "expected a name in UTF-8");
  section->name = iso_arena_text(&p->script->arena, word, length);
  if (section->name == NULL) return iso_fail_memory(p->error);
  for (size_t i = 0; i < p->script->sections.count; i++) {
    const iso_section *other = &p->script->sections.items[i];
    if (other->kind == section->kind && strcmp(other->name, section->name) == 0)
      return iso_parse_fail(p, line, "the %s %s is there already, in %s line %llu", kind, section->name, other->file,
                            (unsigned long long)other->line);
  }
  return ISOPROOF_OK;
}

/* The words of a level go up to `weight` or the end. */
static isoproof_status take_isolation(iso_parser *p, uint64_t line, const char **at, iso_section *section) {
  const char *start = NULL, *end = NULL;
  for (;;) {
    const char *before = *at;
    size_t length;
    const char *word = iso_parse_word(at, &length);
    if (length == 0 || iso_parse_is(word, length, "weight")) {
      *at = before;
      break;
    }
    if (start == NULL) start = word;
    end = word + length;
  }
  if (start == NULL) return iso_parse_fail(p, line, "expected the name of a level after 'isolation'");
  section->isolation = iso_arena_text(&p->script->arena, start, (size_t)(end - start));
  p->script->levels = true;
  return section->isolation != NULL ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status take_weight(iso_parser *p, uint64_t line, const char **at, iso_section *section) {
  size_t length;
  const char *word = iso_parse_word(at, &length);
  uint64_t weight;
  if (!iso_parse_u64(word, length, &weight) || weight > ISO_SCRIPT_MOST_WEIGHT)
    return iso_parse_fail(p, line, "expected a weight from 0 to %d after 'weight'", ISO_SCRIPT_MOST_WEIGHT);
  section->weight = weight * p->file_weight;
  return ISOPROOF_OK;
}

static isoproof_status take_properties(iso_parser *p, uint64_t line, const char *at, iso_section *section) {
  for (;;) {
    size_t length;
    const char *word = iso_parse_word(&at, &length);
    bool of_transaction = section->kind == ISO_SECTION_TRANSACTION;
    if (length == 0) return ISOPROOF_OK;
    if (of_transaction && iso_parse_is(word, length, "isolation"))
      ISO_TRY(take_isolation(p, line, &at, section));
    else if (of_transaction && iso_parse_is(word, length, "weight"))
      ISO_TRY(take_weight(p, line, &at, section));
    else if (section->kind == ISO_SECTION_INVARIANT && iso_parse_is(word, length, "finally"))
      section->in_the_end = true;
    else
      return iso_parse_fail(p, line,
                            "expected %s, found '%.*s'; a comment that opens no section begins with another word",
                            of_transaction ? "'isolation LEVEL', 'weight N' or the end of the line"
                            : section->kind == ISO_SECTION_INVARIANT ? "'finally' or the end of the line"
                                                                     : "the end of the line",
                            (int)(length < 40 ? length : 40), word);
  }
}

static isoproof_status open_section(iso_parser *p, const iso_scanned *found, iso_section_kind kind, const char *at) {
  ISO_TRY(iso_parse_end_section(p));
  iso_section section = {.kind = kind, .file = p->scanner.file, .line = found->line, .weight = p->file_weight};
  if (kind == ISO_SECTION_TRANSACTION || kind == ISO_SECTION_INVARIANT)
    ISO_TRY(take_name(p, found->line, &at, &section));
  ISO_TRY(take_properties(p, found->line, at, &section));
  if (p->script->sections.count >= ISO_SCRIPT_MOST_SECTIONS)
    return iso_parse_fail(p, found->line, "more than %d sections", ISO_SCRIPT_MOST_SECTIONS);
  if (!iso_vec_push(&p->script->sections, section)) return iso_fail_memory(p->error);
  p->current = &p->script->sections.items[p->script->sections.count - 1];
  /* What stands before the first section is a part of each; targets are those of the preamble itself. */
  for (size_t i = 0; i < p->preamble.count; i++) {
    iso_command copy = p->preamble.items[i];
    if (copy.expression != NULL) {
      iso_expression *again = iso_arena_alloc(&p->script->arena, 1, sizeof *again);
      if (again == NULL || !iso_vec_reserve(&again->code, copy.expression->code.count))
        return iso_fail_memory(p->error);
      memcpy(again->code.items, copy.expression->code.items, copy.expression->code.count * sizeof *again->code.items);
      again->code.count = copy.expression->code.count;
      copy.expression = again;
    }
    if (!iso_vec_push(&p->current->commands, copy)) return iso_fail_memory(p->error);
  }
  return ISOPROOF_OK;
}

/* ---- what is expected ---- */

static isoproof_status take_cell(iso_parser *p, const char *text, size_t length, iso_expected_cell *cell) {
  static const char *const signs[] = {
#define ISO_X(name, sign) sign,
      ISO_EXPECT_LIST(ISO_X)
#undef ISO_X
  };
  while (length > 0 && isspace((unsigned char)*text)) text++, length--;
  while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
  cell->sign = ISO_EXPECT_EQUAL;
  for (int i = 0; i < ISO_EXPECT_SIGNS; i++) {
    size_t n = strlen(signs[i]);
    if (length <= n || memcmp(text, signs[i], n) != 0) continue;
    cell->sign = (iso_expect_sign)i;
    text += n;
    length -= n;
    while (length > 0 && isspace((unsigned char)*text)) text++, length--;
    break;
  }
  /* 'text' is a text, even if it looks like null or a sign. */
  if (length >= 2 && text[0] == '\'' && text[length - 1] == '\'') text++, length -= 2;
  cell->text = iso_arena_text(&p->script->arena, text, length);
  return cell->text != NULL ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status take_expected(iso_parser *p, uint64_t line, const char *at) {
  iso_section *section = p->current;
  if (section == NULL || section->kind != ISO_SECTION_INVARIANT)
    return iso_parse_fail(p, line, "'-- expect' belongs to an invariant");
  while (isspace((unsigned char)*at)) at++;
  if (section->expects_empty || (iso_parse_is(at, strlen(at), "empty") && section->rows.count > 0))
    return iso_parse_fail(p, line, "'-- expect empty' stands alone");
  section->expects = true;
  if (iso_parse_is(at, strlen(at), "empty")) {
    section->expects_empty = true;
    return ISOPROOF_OK;
  }
  if (*at == 0) return iso_parse_fail(p, line, "expected a value, or 'empty', after '-- expect'");
  size_t count = 1;
  for (const char *c = at; *c != 0; c++) count += *c == '|';
  iso_expected_cell *cells = iso_arena_alloc(&p->script->arena, count, sizeof *cells);
  if (cells == NULL) return iso_fail_memory(p->error);
  for (size_t i = 0; i < count; i++) {
    size_t length = strcspn(at, "|");
    ISO_TRY(take_cell(p, at, length, &cells[i]));
    at += length + 1;
  }
  iso_expected_row row = {cells, count};
  return iso_vec_push(&section->rows, row) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

/* ---- comments ---- */

isoproof_status iso_parse_comment(iso_parser *p, const iso_scanned *found) {
  static const char *const words[] = {
#define ISO_X(name, word) word,
      ISO_SECTION_LIST(ISO_X)
#undef ISO_X
  };
  const char *at = found->source;
  size_t length = strcspn(at, " \t");
  for (int i = 0; i < ISO_SECTION_KINDS; i++)
    if (iso_parse_is(at, length, words[i])) return open_section(p, found, (iso_section_kind)i, at + length);
  if (iso_parse_is(at, length, "expect")) return take_expected(p, found->line, at + length);
  return ISOPROOF_OK;
}

static size_t count_sql(const iso_section *section) {
  size_t count = 0;
  for (size_t i = 0; i < section->commands.count; i++) count += section->commands.items[i].kind == ISO_COMMAND_SQL;
  return count;
}

isoproof_status iso_parse_end_section(iso_parser *p) {
  const iso_section *section = p->current;
  if (p->open.count > 0)
    return iso_parse_fail(p, p->open.items[p->open.count - 1].line, "this \\if has no \\endif in its section");
  if (section == NULL) return ISOPROOF_OK;
  if (section->kind == ISO_SECTION_INVARIANT) {
    if (count_sql(section) != 1 || section->begins)
      return iso_parse_fail(p, section->line, "the invariant %s: expected one query, found %zu statements",
                            section->name, count_sql(section));
    if (!section->expects)
      return iso_parse_fail(p, section->line,
                            "the invariant %s: expected '-- expect VALUE' or '-- expect empty' behind "
                            "its query, found none",
                            section->name);
  }
  if (section->kind == ISO_SECTION_TRANSACTION && count_sql(section) == 0)
    return iso_parse_fail(p, section->line, "the transaction %s has no statement", section->name);
  return ISOPROOF_OK;
}
