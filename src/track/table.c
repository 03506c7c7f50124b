/* Tables by name, the kinds of their columns, and reasons not to track them. */
#include "track/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void iso_schema_free(iso_schema *tables) {
  for (size_t i = 0; i < tables->items.count; i++) {
    iso_vec_free(&tables->items.items[i]->columns);
    iso_vec_free(&tables->items.items[i]->key);
  }
  iso_vec_free(&tables->items);
  iso_vec_free(&tables->functions);
  iso_arena_free(&tables->arena);
}

const char *iso_schema_text(iso_schema *tables, const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  int length = vsnprintf(NULL, 0, format, list);
  char *made = length < 0 ? NULL : iso_arena_alloc(&tables->arena, (size_t)length + 1, 1);
  if (made != NULL) vsnprintf(made, (size_t)length + 1, format, again);
  va_end(again);
  va_end(list);
  return made != NULL ? made : "";
}

const char *iso_schema_name(iso_schema *tables, const iso_sql *sql, uint32_t at, uint32_t *end) {
  const char *name = NULL;
  *end = at;
  while (iso_sql_is_name(sql, at)) {
    const char *part = iso_sql_name(sql, at, &tables->arena);
    if (part == NULL) return NULL;
    name = name == NULL ? part : iso_schema_text(tables, "%s.%s", name, part);
    *end = ++at;
    if (!iso_sql_symbol(sql, at, ".") || !iso_sql_is_name(sql, at + 1)) break;
    at++;
  }
  return name;
}

iso_table *iso_schema_find(const iso_schema *tables, const char *name) {
  for (size_t i = 0; i < tables->items.count; i++) {
    if (iso_sql_same_name(tables->dialect, tables->items.items[i]->name, name)) return tables->items.items[i];
  }
  return NULL;
}

/* "schema"."table" */
static const char *in_quotes(iso_schema *tables, const char *name) {
  const char *made = NULL;
  for (const char *part = name; part != NULL;) {
    const char *dot = strchr(part, '.');
    char *one = iso_arena_text(&tables->arena, part, dot != NULL ? (size_t)(dot - part) : strlen(part));
    const char *quoted = one != NULL ? iso_sql_quote_name(tables->dialect, one, &tables->arena) : "";
    made = made == NULL ? quoted : iso_schema_text(tables, "%s.%s", made, quoted);
    part = dot != NULL ? dot + 1 : NULL;
  }
  return made;
}

iso_table *iso_schema_get(iso_schema *tables, const char *name) {
  iso_table *found = iso_schema_find(tables, name);
  if (found != NULL) return found;
  iso_table *made = iso_arena_alloc(&tables->arena, 1, sizeof *made);
  if (made == NULL || !iso_vec_push(&tables->items, made)) return NULL; // NOLINT(bugprone-sizeof-expression)
  const char *dot = strrchr(name, '.');
  *made = (iso_table){.name = name, .sql = in_quotes(tables, name), .last = dot != NULL ? dot + 1 : name};
  return made;
}

void iso_table_refuse(iso_table *table, const char *why) {
  if (table->why == NULL) table->why = why;
}

static bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (unsigned char)c >= 0x80;
}

/* Whether a text has another one in it, whatever the case of its letters. */
static bool has(const char *text, const char *part) {
  size_t length = strlen(part);
  for (; *text != '\0'; text++) {
    if (strncasecmp(text, part, length) == 0) return true;
  }
  return false;
}

bool iso_text_has_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; *at != '\0'; at++) {
    bool begins = at == text || !is_in_name(at[-1]);
    if (begins && strncasecmp(at, word, length) == 0 && !is_in_name(at[length])) return true;
  }
  return false;
}

void iso_schema_refuse_named(iso_schema *tables, const iso_sql *sql, const char *why) {
  for (size_t t = 0; t < tables->items.count; t++) {
    if (iso_text_has_word(sql->text, tables->items.items[t]->last)) iso_table_refuse(tables->items.items[t], why);
  }
}

void iso_schema_refuse_all(iso_schema *tables, const char *why) {
  if (tables->why_none == NULL) tables->why_none = why;
}

uint32_t iso_table_column(const iso_schema *tables, const iso_table *table, const char *name) {
  for (size_t i = 0; i < table->columns.count; i++) {
    /* Columns of MariaDB and SQLite have no case, those of PostgreSQL do. */
    if (iso_sql_same_name(tables->dialect, table->columns.items[i].name, name)) return (uint32_t)i;
  }
  return UINT32_MAX;
}

/* ---- types ---- */

static bool begins(const char *type, const char *with) {
  size_t length = strlen(with);
  char next = strncasecmp(type, with, length) == 0 ? type[length] : 'x';
  return next == '\0' || next == ' ' || next == '(';
}

static bool is_one_of(const char *type, const char *const *names) {
  while (*names != NULL && !begins(type, *names)) names++;
  return *names != NULL;
}

static iso_column_kind kind_in_postgres(const char *type, const char *collation) {
  static const char *const integers[] = {"smallint", "integer", "bigint",  "int",       "int2",        "int4", "int8",
                                         "serial",   "serial4", "serial8", "bigserial", "smallserial", NULL};
  static const char *const texts[] = {"text", "varchar", "character varying", NULL};
  static const char *const labels[] = {"uuid", "date", NULL};
  /* Collations of somebody's making may take different texts for equal. */
  bool plain = collation == NULL || strcmp(collation, "C") == 0 || strcmp(collation, "POSIX") == 0 ||
               strcmp(collation, "default") == 0;
  if (strchr(type, '[') != NULL) return ISO_COLUMN_OPAQUE;
  if (is_one_of(type, integers)) return ISO_COLUMN_INTEGER;
  if (begins(type, "boolean") || begins(type, "bool")) return ISO_COLUMN_BOOLEAN;
  if (is_one_of(type, texts)) return plain ? ISO_COLUMN_TEXT : ISO_COLUMN_OPAQUE;
  return is_one_of(type, labels) ? ISO_COLUMN_LABEL : ISO_COLUMN_OPAQUE;
}

/* By affinity; that what is in the column really is of that kind shows in every answer. */
static iso_column_kind kind_in_sqlite(const char *type, const char *collation) {
  bool plain = collation == NULL || strcasecmp(collation, "BINARY") == 0;
  if (has(type, "INT") || has(type, "BOOL")) return ISO_COLUMN_INTEGER;
  if (has(type, "CHAR") || has(type, "CLOB") || has(type, "TEXT")) return plain ? ISO_COLUMN_TEXT : ISO_COLUMN_OPAQUE;
  return ISO_COLUMN_OPAQUE;
}

static iso_column_kind kind_in_mariadb(const char *type, const char *collation) {
  static const char *const integers[] = {"tinyint", "smallint", "mediumint", "int", "integer",
                                         "bigint",  "bool",     "boolean",   NULL};
  static const char *const texts[] = {"varchar", "text", "tinytext", "mediumtext", "longtext", NULL};
  static const char *const labels[] = {"uuid", "date", "char", NULL};
  if (has(type, "zerofill")) return ISO_COLUMN_OPAQUE;
  if (is_one_of(type, integers))
    return begins(type, "bigint") && has(type, "unsigned") ? ISO_COLUMN_OPAQUE : ISO_COLUMN_INTEGER;
  size_t length = collation != NULL ? strlen(collation) : 0;
  /* Every other collation takes texts for equal that differ, be it by blanks at their ends. */
  bool plain = length > 9 && strcasecmp(collation + length - 9, "nopad_bin") == 0;
  if (is_one_of(type, texts)) return plain ? ISO_COLUMN_TEXT : ISO_COLUMN_LABEL;
  return is_one_of(type, labels) ? ISO_COLUMN_LABEL : ISO_COLUMN_OPAQUE;
}

iso_column_kind iso_column_kind_of(iso_track_dialect dialect, const char *type, const char *collation) {
  switch (dialect) {
  case ISO_TRACK_POSTGRES:
    return kind_in_postgres(type, collation);
  case ISO_TRACK_SQLITE:
    return kind_in_sqlite(type, collation);
  case ISO_TRACK_MARIADB:
    return kind_in_mariadb(type, collation);
  }
  return ISO_COLUMN_OPAQUE;
}

/* ---- columns and keys ---- */

isoproof_status iso_table_add_column(iso_schema *tables, iso_table *table, const char *name, iso_column_kind kind,
                                     bool generated, isoproof_error *error) {
  iso_column made = {.name = name,
                     .quoted = iso_sql_quote_name(tables->dialect, name, &tables->arena),
                     .kind = kind,
                     .generated = generated};
  if (made.quoted == NULL || !iso_vec_push(&table->columns, made)) return iso_fail_memory(error);
  return ISOPROOF_OK;
}

isoproof_status iso_table_add_key(iso_schema *tables, iso_table *table, const char *column, isoproof_error *error) {
  uint32_t number = iso_table_column(tables, table, column);
  if (number == UINT32_MAX) {
    iso_table_refuse(table, "its primary key was not understood");
    return ISOPROOF_OK;
  }
  return iso_vec_push(&table->key, number) ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_table_settle(iso_schema *tables, iso_table *table) {
  if (!table->known) {
    iso_table_refuse(table, "the setup does not make it, so that its columns are not known");
    return;
  }
  if (table->key.count == 0) iso_table_refuse(table, "it has no primary key, by which rows could be told apart");
  for (size_t i = 0; i < table->key.count; i++) {
    const iso_column *column = &table->columns.items[table->key.items[i]];
    if (column->kind == ISO_COLUMN_OPAQUE) {
      iso_table_refuse(
          table,
          iso_schema_text(tables, "the type of its key column %s is one in which the same value has several spellings",
                          column->name));
    }
    if (column->generated) iso_table_refuse(table, "its key is generated by an expression");
  }
  bool taken = iso_table_column(tables, table, ISO_TRACK_VERSION) != UINT32_MAX ||
               iso_table_column(tables, table, ISO_TRACK_PREVIOUS) != UINT32_MAX;
  if (taken) iso_table_refuse(table, "it has columns of the names isoproof_version or isoproof_previous already");
  for (size_t i = 0; i < tables->items.count; i++) {
    const iso_table *other = tables->items.items[i];
    if (other != table && strcasecmp(other->last, table->last) == 0) {
      iso_table_refuse(
          table, iso_schema_text(tables, "the script speaks of %s as well, which may be the same table", other->name));
    }
  }
}
