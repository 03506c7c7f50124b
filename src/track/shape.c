/* Tells statements apart, and what they call. */
#include "track/shape.h"

#include <string.h>
#include <strings.h>

void iso_shape_free(iso_shape *shape) {
  iso_vec_free(&shape->sources);
  iso_vec_free(&shape->stars);
  iso_vec_free(&shape->where);
}

bool iso_shape_other(iso_shaper *s, const char *why) {
  s->shape->kind = ISO_SHAPE_OTHER;
  if (s->shape->why == NULL) s->shape->why = why;
  return false;
}

/* ---- what is called ---- */

iso_call iso_call_of(const iso_sql *sql, uint32_t at) {
  static const struct {
    const char *name;
    iso_call call;
  } known[] = {
#define PLAIN(name) {name, ISO_CALL_PLAIN},
#define AGGREGATE(name) {name, ISO_CALL_AGGREGATE},
#define NO_FUNCTION(name) {name, ISO_CALL_NO_FUNCTION},
#include "track/functions.def"
#undef PLAIN
#undef AGGREGATE
#undef NO_FUNCTION
  };
  const iso_sql_token *t = &sql->tokens.items[at];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strlen(known[i].name) != t->length || strncasecmp(known[i].name, sql->text + t->start, t->length) != 0)
      continue;
    iso_call call = known[i].call;
    /* min(a, b) of SQLite is the smaller of two. */
    bool several = sql->dialect == ISO_TRACK_SQLITE &&
                   iso_sql_part(sql, at + 2, sql->tokens.items[at + 1].match) < sql->tokens.items[at + 1].match;
    bool extreme = strcmp(known[i].name, "min") == 0 || strcmp(known[i].name, "max") == 0;
    return extreme && several ? ISO_CALL_PLAIN : call;
  }
  return ISO_CALL_UNKNOWN;
}

/* Whether a parenthesis behind a name opens columns or values, not arguments: INSERT INTO t (, ON CONFLICT (, AS x (.
 */
static bool is_table_name(const iso_sql *sql, uint32_t at) {
  while (at >= 2 && iso_sql_symbol(sql, at - 1, ".")) at -= 2;
  return at > 0 && (iso_sql_is(sql, at - 1, "INTO") || (at > 1 && iso_sql_is(sql, at - 2, "INTO")) ||
                    (at > 2 && iso_sql_is(sql, at - 1, "AS") && iso_sql_is(sql, 0, "INSERT")));
}

static bool is_function_of_script(const iso_schema *tables, const char *name) {
  for (size_t i = 0; i < tables->functions.count; i++) {
    if (strcasecmp(tables->functions.items[i], name) == 0) return true;
  }
  return false;
}

bool iso_shape_check_calls(iso_shaper *s) {
  const iso_sql *sql = s->sql;
  for (uint32_t i = 0; i + 1 < sql->count; i++) {
    if (!iso_sql_is_name(sql, i) || !iso_sql_symbol(sql, i + 1, "(")) continue;
    bool quoted = sql->tokens.items[i].type == ISO_SQL_QUOTED, dotted = i > 0 && iso_sql_symbol(sql, i - 1, ".");
    if (is_table_name(sql, i) || (!quoted && !dotted && iso_call_of(sql, i) != ISO_CALL_UNKNOWN)) continue;
    const char *name = iso_sql_name(sql, i, &s->tables->arena);
    if (name == NULL) return iso_shape_other(s, "memory is out");
    const char *why =
        iso_schema_text(s->tables, "it calls %s, of which isoproof does not know what it reads and writes", name);
    if (!is_function_of_script(s->tables, name)) {
      iso_schema_refuse_all(s->tables,
                            iso_schema_text(s->tables, "a statement calls %s, which may write any table", name));
    }
    return iso_shape_other(s, why);
  }
  return true;
}

bool iso_shape_has_query(const iso_sql *sql, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    if (iso_sql_is(sql, i, "SELECT") || iso_sql_is(sql, i, "WITH") || iso_sql_is(sql, i, "TABLE")) return true;
  }
  return false;
}

/* ---- kinds of statements ---- */

static bool is_one_of(const iso_sql *sql, uint32_t at, const char *const *words) {
  while (*words != NULL && !iso_sql_is(sql, at, *words)) words++;
  return *words != NULL;
}

/* Settings that change what names and strings mean, or what a transaction is. */
static bool changes_meaning(const iso_sql *sql) {
  static const char *const settings[] = {"SQL_MODE", "SEARCH_PATH", "SCHEMA",    "STANDARD_CONFORMING_STRINGS",
                                         "ROLE",     "AUTOCOMMIT",  "CHARACTER", NULL};
  bool mariadb = sql->dialect == ISO_TRACK_MARIADB;
  if (iso_sql_is(sql, 0, "USE") || (mariadb && (iso_sql_is(sql, 0, "LOCK") || iso_sql_is(sql, 0, "UNLOCK"))))
    return true;
  for (uint32_t i = 1; i < sql->count; i++) {
    if (is_one_of(sql, i, settings)) return true;
  }
  return iso_sql_is(sql, 0, "PRAGMA") && sql->count > 2;
}

/* Statements about transactions, sessions and plans. */
static bool read_control(iso_shaper *s) {
  static const char *const harmless[] = {"BEGIN",  "START", "COMMIT", "END",      "ROLLBACK", "ABORT",
                                         "SET",    "SHOW",  "LOCK",   "RESET",    "PRAGMA",   "NOTIFY",
                                         "LISTEN", "USE",   "UNLOCK", "UNLISTEN", NULL};
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  uint32_t last = sql->count - 1;
  bool named = sql->count >= 2 && iso_sql_is_name(sql, last);
  uint32_t to = iso_sql_is(sql, 1, "TO") ? 1 : iso_sql_is(sql, 2, "TO") ? 2 : 0;
  if (iso_sql_is(sql, 0, "SAVEPOINT") && named) {
    shape->kind = ISO_SHAPE_SAVEPOINT;
  } else if (iso_sql_is(sql, 0, "RELEASE") && named) {
    shape->kind = ISO_SHAPE_RELEASE;
  } else if ((iso_sql_is(sql, 0, "ROLLBACK") || iso_sql_is(sql, 0, "ABORT")) && to > 0 && named) {
    shape->kind = ISO_SHAPE_ROLLBACK_TO;
  } else {
    shape->kind = ISO_SHAPE_NOTHING;
    if (!is_one_of(sql, 0, harmless) || iso_shape_has_query(sql, 0, sql->count)) return false;
    if (changes_meaning(sql)) {
      iso_schema_refuse_all(s->tables, "a statement changes what other statements mean, or ends transactions");
    }
    return true;
  }
  shape->savepoint = iso_sql_name(sql, last, &s->tables->arena);
  return shape->savepoint != NULL;
}

/* Whether all tables that a statement names are such that who writes them writes nothing else, and there are some. */
static bool names_plain_tables(const iso_shaper *s) {
  bool some = false;
  for (size_t i = 0; i < s->tables->items.count; i++) {
    const iso_table *table = s->tables->items.items[i];
    if (!iso_text_has_word(s->sql->text, table->last)) continue;
    if (!table->known || table->reacts) return false;
    some = true;
  }
  return some;
}

/* A statement that is not understood: which tables may it write? */
static void refuse_written(iso_shaper *s) {
  static const char *const writers[] = {
      "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "TRUNCATE", "COPY",    "LOAD",   "ALTER",  "DROP",    "CREATE",
      "INTO",   "RENAME", "CALL",   "DO",    "EXECUTE", "PREPARE",  "EXPLAIN", "IMPORT", "VACUUM", "HANDLER", NULL};
  const iso_sql *sql = s->sql;
  bool writes = sql->problem != NULL, anything = false;
  for (uint32_t i = 0; i < sql->count; i++) {
    bool locks = i > 0 && (iso_sql_is(sql, i - 1, "FOR") || iso_sql_is(sql, i - 1, "KEY"));
    writes = writes || (is_one_of(sql, i, writers) && !locks);
    anything = anything ||
               ((iso_sql_is(sql, i, "CALL") || iso_sql_is(sql, i, "EXECUTE")) || (i == 0 && iso_sql_is(sql, i, "DO")));
  }
  bool known = iso_sql_is(sql, 0, "SELECT") || iso_sql_is(sql, 0, "WITH") || iso_sql_is(sql, 0, "VALUES") ||
               iso_sql_is(sql, 0, "TABLE");
  /* Statements about tables end the transaction in MariaDB, so that what came before is not undone any more. */
  bool of_rows = known || iso_sql_is(sql, 0, "INSERT") || iso_sql_is(sql, 0, "UPDATE") ||
                 iso_sql_is(sql, 0, "DELETE") || iso_sql_is(sql, 0, "REPLACE");
  if (!of_rows && sql->dialect == ISO_TRACK_MARIADB) {
    iso_schema_refuse_all(s->tables, "a statement of a transaction may end it before its time");
  }
  if (anything) iso_schema_refuse_all(s->tables, "a statement calls a procedure, which may write any table");
  if (writes && !names_plain_tables(s)) {
    iso_schema_refuse_all(s->tables, "a statement that is not understood may write any table");
  }
  if (writes || !known)
    iso_schema_refuse_named(
        s->tables, sql,
        iso_schema_text(s->tables, "a statement that is not understood may write it: %s", s->shape->why));
  /* Columns that are added would change what these mean. */
  for (uint32_t i = 1; i < sql->count; i++) {
    bool counts = iso_sql_symbol(sql, i - 1, "(") && iso_sql_symbol(sql, i + 1, ")");
    bool lists = iso_sql_is(sql, i - 1, "SELECT") || iso_sql_is(sql, i - 1, "DISTINCT") ||
                 iso_sql_is(sql, i - 1, "ALL") || iso_sql_symbol(sql, i - 1, ",") || iso_sql_symbol(sql, i - 1, ".") ||
                 iso_sql_is(sql, i - 1, "RETURNING");
    bool star = iso_sql_symbol(sql, i, "*") && !counts && lists;
    if (star || iso_sql_is(sql, i, "NATURAL") || iso_sql_is(sql, i, "TABLE")) {
      iso_schema_refuse_named(
          s->tables, sql,
          "a statement that is not understood asks for all of its columns (*), and must not see more of them");
    }
  }
  if (iso_sql_is(sql, 0, "TABLE")) iso_schema_refuse_named(s->tables, sql, "a statement asks for all of its columns");
}

static bool read_statement(iso_shaper *s) {
  const iso_sql *sql = s->sql;
  if (sql->problem != NULL) return iso_shape_other(s, sql->problem);
  if (sql->count == 0) {
    s->shape->kind = ISO_SHAPE_NOTHING;
    return true;
  }
  if (iso_sql_is(sql, 0, "SELECT")) return iso_shape_check_calls(s) && iso_shape_select(s, 1, sql->count);
  if (iso_sql_is(sql, 0, "INSERT")) return iso_shape_check_calls(s) && iso_shape_insert(s);
  if (iso_sql_is(sql, 0, "UPDATE")) return iso_shape_check_calls(s) && iso_shape_update(s);
  if (iso_sql_is(sql, 0, "DELETE")) return iso_shape_check_calls(s) && iso_shape_delete(s);
  if (iso_sql_is(sql, 0, "WITH"))
    return iso_shape_check_calls(s) &&
           iso_shape_other(s, "what common table expressions (WITH) read is not told by the answer");
  if (read_control(s)) return true;
  const iso_sql_token *t = &sql->tokens.items[0];
  return iso_shape_other(s, iso_schema_text(s->tables, "%.*s is not a statement that isoproof understands",
                                            (int)t->length, sql->text + t->start));
}

isoproof_status iso_shape_read(iso_schema *tables, const iso_sql *sql, iso_shape *shape, isoproof_error *error) {
  iso_shaper s = {.tables = tables, .sql = sql, .shape = shape, .error = error};
  *shape = (iso_shape){.kind = ISO_SHAPE_OTHER, .returning = sql->count};
  if (!read_statement(&s)) refuse_written(&s);
  return ISOPROOF_OK;
}
