/* parse_command.c - the commands of sections: backslash commands, and statements that begin or end transactions. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "script/parse.h"

enum { NO_COMMAND = UINT32_MAX };

static iso_command *command_at(const iso_parser *p, uint32_t number) {
  return p->current != NULL ? &p->current->commands.items[number] : &p->preamble.items[number];
}

static uint32_t here(const iso_parser *p) {
  return (uint32_t)(p->current != NULL ? p->current->commands.count : p->preamble.count);
}

/* ---- \set ---- */

static isoproof_status parse_expression(iso_parser *p, const iso_scanned *found, const char *at, iso_command *command) {
  iso_expression *made = iso_arena_alloc(&p->script->arena, 1, sizeof *made);
  if (made == NULL) return iso_fail_memory(p->error);
  iso_place place = {p->scanner.file, found->line, (uint64_t)(at - found->source) + 2, -1};
  ISO_TRY(iso_expression_parse(at, strlen(at), place, made, p->error));
  command->expression = made;
  return ISOPROOF_OK;
}

/* An expression that was parsed belongs to a command that is added, or to nobody. */
static isoproof_status add_owner(iso_parser *p, iso_command command) {
  isoproof_status status = iso_parse_add(p, command);
  if (status != ISOPROOF_OK) iso_expression_free(command.expression);
  return status;
}

static isoproof_status parse_set(iso_parser *p, const iso_scanned *found, const char *at) {
  size_t length;
  const char *name = iso_parse_word(&at, &length);
  iso_command command = {.kind = ISO_COMMAND_SET, .line = found->line, .source = found->source};
  if (!iso_script_name_valid(name, length))
    return iso_parse_fail(p, found->line, "\\set: expected the name of a variable (letters, digits, _), found '%.*s'",
                          (int)(length < 40 ? length : 40), name);
  command.name = iso_arena_text(&p->script->arena, name, length);
  if (command.name == NULL) return iso_fail_memory(p->error);
  ISO_TRY(parse_expression(p, found, at, &command));
  return add_owner(p, command);
}

/* ---- conditions ---- */

static isoproof_status parse_if(iso_parser *p, const iso_scanned *found, const char *at) {
  iso_command command = {.kind = ISO_COMMAND_UNLESS, .line = found->line, .source = found->source};
  iso_open_if open = {found->line, here(p), NO_COMMAND};
  ISO_TRY(parse_expression(p, found, at, &command));
  ISO_TRY(add_owner(p, command));
  return iso_vec_push(&p->open, open) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

/* What is true goes on behind \endif; what is not goes on here. */
static isoproof_status end_branch(iso_parser *p, const iso_scanned *found, iso_open_if **open) {
  if (p->open.count == 0) return iso_parse_fail(p, found->line, "\\%s without \\if", found->source);
  *open = &p->open.items[p->open.count - 1];
  if ((*open)->test == NO_COMMAND) return iso_parse_fail(p, found->line, "\\%s after \\else", found->source);
  iso_command jump = {.kind = ISO_COMMAND_JUMP, .line = found->line, .source = found->source, .target = (*open)->jumps};
  ISO_TRY(iso_parse_add(p, jump));
  (*open)->jumps = here(p) - 1;
  command_at(p, (*open)->test)->target = here(p);
  return ISOPROOF_OK;
}

static isoproof_status parse_elif(iso_parser *p, const iso_scanned *found, const char *at) {
  iso_command command = {.kind = ISO_COMMAND_UNLESS, .line = found->line, .source = found->source};
  iso_open_if *open = NULL;
  ISO_TRY(end_branch(p, found, &open));
  open->test = here(p);
  ISO_TRY(parse_expression(p, found, at, &command));
  return add_owner(p, command);
}

static isoproof_status parse_else(iso_parser *p, const iso_scanned *found, const char *at) {
  iso_open_if *open = NULL;
  (void)at;
  ISO_TRY(end_branch(p, found, &open));
  open->test = NO_COMMAND;
  return ISOPROOF_OK;
}

static isoproof_status parse_endif(iso_parser *p, const iso_scanned *found, const char *at) {
  (void)at;
  if (p->open.count == 0) return iso_parse_fail(p, found->line, "\\endif without \\if");
  iso_open_if open = p->open.items[--p->open.count];
  if (open.test != NO_COMMAND) command_at(p, open.test)->target = here(p);
  for (uint32_t jump = open.jumps; jump != NO_COMMAND;) {
    uint32_t before = command_at(p, jump)->target;
    command_at(p, jump)->target = here(p);
    jump = before;
  }
  return ISOPROOF_OK;
}

/* ---- others ---- */

static isoproof_status parse_sleep(iso_parser *p, const iso_scanned *found, const char *at) {
  iso_command command = {.kind = ISO_COMMAND_SLEEP, .line = found->line, .source = found->source, .unit = 1};
  size_t length, unit;
  const char *number = iso_parse_word(&at, &length), *word = iso_parse_word(&at, &unit);
  if (length == 0) return iso_parse_fail(p, found->line, "\\sleep: expected a number, found nothing");
  if (iso_parse_is(word, unit, "us"))
    command.unit = 1e-6;
  else if (iso_parse_is(word, unit, "ms"))
    command.unit = 1e-3;
  else if (unit > 0 && !iso_parse_is(word, unit, "s"))
    return iso_parse_fail(p, found->line, "\\sleep: expected us, ms or s, found '%.*s'", (int)(unit < 40 ? unit : 40),
                          word);
  ISO_TRY(iso_scan_parts(&p->script->arena, number, length, &command.parts, &command.part_count, p->error));
  return iso_parse_add(p, command);
}

static isoproof_status parse_gset(iso_parser *p, const iso_scanned *found, const char *at) {
  bool last = tolower((unsigned char)found->source[0]) == 'a';
  uint32_t count = here(p);
  iso_command *query = count > 0 ? command_at(p, count - 1) : NULL;
  size_t length;
  const char *prefix = iso_parse_word(&at, &length);
  if (query == NULL || query->kind != ISO_COMMAND_SQL || query->sets)
    return iso_parse_fail(p, found->line, "\\%s belongs behind a query", last ? "aset" : "gset");
  if (length > 0 && !iso_script_name_valid(prefix, length))
    return iso_parse_fail(p, found->line, "\\gset: expected a prefix of letters, digits and _, found '%.*s'",
                          (int)(length < 40 ? length : 40), prefix);
  query->sets = true;
  query->last_row = last;
  query->prefix = iso_arena_text(&p->script->arena, prefix, length);
  return query->prefix != NULL ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status parse_refused(iso_parser *p, const iso_scanned *found, const char *at) {
  (void)at;
  return iso_parse_fail(p, found->line, "\\%.*s is not supported: %s", (int)strcspn(found->source, " "), found->source,
                        strcasestr(found->source, "pipeline") != NULL
                            ? "the answer to each statement is part of the history, and is waited for"
                            : "scripts of histories start no programs");
}

static const struct {
  const char *name;
  bool ends_sql; /* may stand behind a statement instead of a semicolon */
  isoproof_status (*parse)(iso_parser *p, const iso_scanned *found, const char *at);
} commands[] = {{"set", false, parse_set},
                {"gset", true, parse_gset},
                {"aset", true, parse_gset},
                {"if", false, parse_if},
                {"elif", false, parse_elif},
                {"else", false, parse_else},
                {"endif", false, parse_endif},
                {"sleep", false, parse_sleep},
                {"shell", false, parse_refused},
                {"setshell", false, parse_refused},
                {"startpipeline", false, parse_refused},
                {"syncpipeline", false, parse_refused},
                {"endpipeline", false, parse_refused}};

isoproof_status iso_parse_command(iso_parser *p, const iso_scanned *found, bool after_sql) {
  const char *at = found->source;
  size_t length = strcspn(at, " \t");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    if (!iso_parse_is(at, length, commands[i].name)) continue;
    if (after_sql && !commands[i].ends_sql)
      return iso_parse_fail(p, found->line, "expected ; before \\%s, found none", commands[i].name);
    return commands[i].parse(p, found, at + length);
  }
  return iso_parse_fail(p, found->line, "there is no command \\%.*s", (int)(length < 40 ? length : 40), at);
}

/* ---- statements ---- */

/* The next word of a statement, which *at goes behind. */
static const char *sql_word(const char **at, size_t *length) {
  while (**at == ' ' || **at == ',') ++*at;
  const char *start = *at;
  while (isalnum((unsigned char)**at) || **at == '_') ++*at;
  *length = (size_t)(*at - start);
  return start;
}

/* BEGIN and START TRANSACTION with what may follow: a level, READ ONLY, and SQLite's DEFERRED, IMMEDIATE, EXCLUSIVE. */
static isoproof_status parse_begin(iso_parser *p, const iso_scanned *found, const char *at, iso_command *command) {
  size_t length;
  for (;;) {
    const char *word = sql_word(&at, &length);
    if (length == 0 && *at == 0) return ISOPROOF_OK;
    bool known = iso_parse_is(word, length, "transaction") || iso_parse_is(word, length, "work") ||
                 iso_parse_is(word, length, "read") || iso_parse_is(word, length, "write") ||
                 iso_parse_is(word, length, "not") || iso_parse_is(word, length, "deferrable");
    if (iso_parse_is(word, length, "only")) {
      command->read_only = known = true;
    } else if (iso_parse_is(word, length, "deferred") || iso_parse_is(word, length, "immediate") ||
               iso_parse_is(word, length, "exclusive")) {
      command->isolation = iso_arena_text(&p->script->arena, word, length);
      known = true;
    } else if (iso_parse_is(word, length, "isolation")) {
      sql_word(&at, &length); /* LEVEL */
      while (*at == ' ') at++;
      const char *start = at;
      word = sql_word(&at, &length);
      bool two = iso_parse_is(word, length, "read") || iso_parse_is(word, length, "repeatable");
      if (two) sql_word(&at, &length);
      command->isolation = iso_arena_text(&p->script->arena, start, (size_t)(at - start));
      known = at > start;
    }
    if (!known)
      return iso_parse_fail(p, found->line, "expected BEGIN with a level and READ ONLY or READ WRITE, found '%.80s'",
                            found->source);
  }
}

/* What begins and ends transactions by words of its own, and why it cannot be here. */
static const struct {
  const char *words, *why;
} refused[] = {{"prepare transaction", "transactions in two phases are not recorded"},
               {"xa", "transactions in two phases are not recorded"},
               {"set transaction",
                "write the level behind BEGIN, or behind the name of the section: -- transaction NAME isolation "
                "LEVEL"},
               {"set session characteristics",
                "write the level behind the name of the section: -- transaction NAME isolation "
                "LEVEL"},
               {"set autocommit", "write BEGIN and COMMIT"},
               {"copy", "its rows do not come with the statement"}};

static bool begins_with(const char *sql, const char *words) {
  size_t length = strlen(words);
  return strncasecmp(sql, words, length) == 0 && !isalnum((unsigned char)sql[length]) && sql[length] != '_';
}

static isoproof_status check_sql(iso_parser *p, const iso_scanned *found) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (begins_with(found->source, refused[i].words))
      return iso_parse_fail(p, found->line, "%s is not supported in scripts: %s", refused[i].words, refused[i].why);
  return ISOPROOF_OK;
}

static isoproof_status parse_end(iso_parser *p, const iso_scanned *found, const char *at) {
  size_t length;
  const char *word = sql_word(&at, &length);
  if (iso_parse_is(word, length, "transaction") || iso_parse_is(word, length, "work")) word = sql_word(&at, &length);
  if (length == 0 && *at == 0) return ISOPROOF_OK;
  return iso_parse_fail(p, found->line, "expected the end of the statement, found '%.40s'", word);
}

isoproof_status iso_parse_sql(iso_parser *p, const iso_scanned *found) {
  const char *at = found->source;
  size_t length;
  const char *word = sql_word(&at, &length);
  iso_command command = {.kind = ISO_COMMAND_SQL,
                         .line = found->line,
                         .source = found->source,
                         .parts = found->parts,
                         .part_count = found->part_count,
                         .prefix = ""};
  if (p->current == NULL && p->sectioned)
    return iso_parse_fail(p, found->line,
                          "expected backslash commands only before the first section, found a statement");
  ISO_TRY(check_sql(p, found));
  if (iso_parse_is(word, length, "begin") || begins_with(found->source, "start transaction")) {
    command.kind = ISO_COMMAND_BEGIN;
    ISO_TRY(parse_begin(p, found, at, &command));
    if (p->current != NULL) p->current->begins = true;
  } else if (iso_parse_is(word, length, "commit") || iso_parse_is(word, length, "end")) {
    command.kind = ISO_COMMAND_COMMIT;
    ISO_TRY(parse_end(p, found, at));
  } else if (iso_parse_is(word, length, "abort") ||
             (iso_parse_is(word, length, "rollback") && strcasestr(found->source, " to ") == NULL)) {
    command.kind = ISO_COMMAND_ROLLBACK;
    ISO_TRY(parse_end(p, found, at));
  }
  return iso_parse_add(p, command);
}
