/* What the statements of a setup say about tables. */
#include <string.h>
#include <strings.h>

#include "track/table.h"

typedef struct {
  iso_schema *tables;
  const iso_sql *sql;
  iso_table *table;
  const char *collation; /* of the table */
  isoproof_error *error;
} maker;

static const char *const column_ends[] = {
    "CONSTRAINT", "NOT",     "NULL",      "DEFAULT",        "PRIMARY",       "UNIQUE", "CHECK",
    "REFERENCES", "COLLATE", "GENERATED", "AUTO_INCREMENT", "AUTOINCREMENT", "ON",     "COMMENT",
    "AS",         "KEY",     "STORAGE",   "COMPRESSION",    "CHARSET",       NULL};

static bool starts_constraint(const iso_sql *sql, uint32_t at) {
  static const char *const words[] = {"CONSTRAINT", "PRIMARY",  "UNIQUE",  "CHECK", "FOREIGN", "EXCLUDE", "KEY",
                                      "INDEX",      "FULLTEXT", "SPATIAL", "LIKE",  "PERIOD",  NULL};
  for (size_t i = 0; words[i] != NULL; i++) {
    if (iso_sql_is(sql, at, words[i])) return true;
  }
  return false;
}

/* REFERENCES ... ON DELETE CASCADE and its like: rows change that no statement names. */
static void look_for_cascades(const maker *m, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i + 2 < end; i++) {
    bool reacts =
        iso_sql_is(m->sql, i, "ON") && (iso_sql_is(m->sql, i + 1, "DELETE") || iso_sql_is(m->sql, i + 1, "UPDATE"));
    if (reacts && (iso_sql_is(m->sql, i + 2, "CASCADE") || iso_sql_is(m->sql, i + 2, "SET"))) {
      iso_table_refuse(m->table,
                       "a foreign key changes its rows (ON DELETE or ON UPDATE) without a statement that says so");
    }
  }
}

/* PRIMARY KEY (a, b) whose first word is at `at`. */
static isoproof_status primary_key(const maker *m, uint32_t at, uint32_t end) {
  while (at < end && !iso_sql_symbol(m->sql, at, "(")) at++;
  if (at >= end) {
    iso_table_refuse(m->table, "its primary key was not understood");
    return ISOPROOF_OK;
  }
  uint32_t close = m->sql->tokens.items[at].match;
  for (at++; at < close; at = iso_sql_part(m->sql, at, close) + 1) {
    if (!iso_sql_is_name(m->sql, at)) {
      iso_table_refuse(m->table, "its primary key was not understood");
      return ISOPROOF_OK;
    }
    if (iso_sql_symbol(m->sql, at + 1, "(")) iso_table_refuse(m->table, "its primary key is a part of a column");
    const char *name = iso_sql_name(m->sql, at, &m->tables->arena);
    if (name == NULL) return iso_fail_memory(m->error);
    ISO_TRY(iso_table_add_key(m->tables, m->table, name, m->error));
  }
  return ISOPROOF_OK;
}

/* The type of a column: its tokens with single spaces. */
static const char *type_text(const maker *m, uint32_t first, uint32_t end) {
  const char *made = "";
  for (uint32_t i = first; i < end; i++) {
    const iso_sql_token *t = &m->sql->tokens.items[i];
    bool glued = i == first || iso_sql_symbol(m->sql, i, "(") || iso_sql_symbol(m->sql, i, "[");
    made = iso_schema_text(m->tables, "%s%s%.*s", made, glued ? "" : " ", (int)t->length, m->sql->text + t->start);
  }
  return made;
}

static isoproof_status column(const maker *m, uint32_t first, uint32_t end) {
  const iso_sql *sql = m->sql;
  const char *name = iso_sql_is_name(sql, first) ? iso_sql_name(sql, first, &m->tables->arena) : NULL;
  if (name == NULL) {
    m->table->known = false;
    return ISOPROOF_OK;
  }
  uint32_t type_end = iso_sql_find(sql, first + 1, end, column_ends);
  /* CHARACTER SET of MariaDB, not CHARACTER VARYING. */
  for (uint32_t i = first + 2; i + 1 < type_end; i++) {
    if (iso_sql_is(sql, i, "CHARACTER") && iso_sql_is(sql, i + 1, "SET")) type_end = i;
  }
  const char *type = type_text(m, first + 1, type_end), *collation = m->collation;
  bool generated = false, key = false;
  for (uint32_t i = type_end; i < end; i = iso_sql_skip(sql, i)) {
    key = key || (iso_sql_is(sql, i, "PRIMARY") && iso_sql_is(sql, i + 1, "KEY"));
    generated = generated || (iso_sql_is(sql, i, "AS") && iso_sql_symbol(sql, i + 1, "("));
    if (iso_sql_is(sql, i, "COLLATE") && iso_sql_is_name(sql, i + 1))
      collation = iso_sql_name(sql, i + 1, &m->tables->arena);
  }
  if (collation == NULL && m->collation != NULL) return iso_fail_memory(m->error);
  look_for_cascades(m, type_end, end);
  iso_column_kind kind = iso_column_kind_of(m->tables->dialect, type, collation);
  ISO_TRY(iso_table_add_column(m->tables, m->table, name, kind, generated, m->error));
  return key ? iso_table_add_key(m->tables, m->table, name, m->error) : ISOPROOF_OK;
}

static isoproof_status constraint(const maker *m, uint32_t first, uint32_t end) {
  look_for_cascades(m, first, end);
  if (iso_sql_is(m->sql, first, "LIKE") || iso_sql_is(m->sql, first, "PERIOD")) m->table->known = false;
  for (uint32_t i = first; i < end; i = iso_sql_skip(m->sql, i)) {
    if (iso_sql_is(m->sql, i, "PRIMARY") && iso_sql_is(m->sql, i + 1, "KEY")) return primary_key(m, i, end);
  }
  return ISOPROOF_OK;
}

/* What comes behind the columns. */
static void options(maker *m, uint32_t first) {
  const iso_sql *sql = m->sql;
  for (uint32_t i = first; i < sql->count; i = iso_sql_skip(sql, i)) {
    uint32_t value = iso_sql_symbol(sql, i + 1, "=") ? i + 2 : i + 1;
    if (iso_sql_is(sql, i, "AS") || iso_sql_is(sql, i, "SELECT") || iso_sql_is(sql, i, "LIKE")) m->table->known = false;
    if (iso_sql_is(sql, i, "INHERITS") ||
        (iso_sql_is(sql, i, "PARTITION") && m->tables->dialect == ISO_TRACK_POSTGRES)) {
      iso_table_refuse(m->table, "its rows are in several tables (partitions, or inheritance)");
    }
    if (iso_sql_is(sql, i, "VERSIONING"))
      iso_table_refuse(m->table, "it keeps old versions of its rows (system versioning)");
    if (iso_sql_is(sql, i, "ENGINE") && !iso_sql_is(sql, value, "INNODB"))
      iso_table_refuse(m->table, "its engine is not InnoDB");
    if (iso_sql_is(sql, i, "COLLATE") && iso_sql_is_name(sql, value))
      m->collation = iso_sql_name(sql, value, &m->tables->arena);
  }
}

static isoproof_status create_table(maker *m, uint32_t at, bool temporary) {
  const iso_sql *sql = m->sql;
  if (iso_sql_is(sql, at, "IF")) at += 3;
  uint32_t next;
  const char *name = iso_schema_name(m->tables, sql, at, &next);
  if (name == NULL) return ISOPROOF_OK;
  m->table = iso_schema_get(m->tables, name);
  if (m->table == NULL) return iso_fail_memory(m->error);
  if (m->table->known || m->table->columns.count > 0) {
    iso_table_refuse(m->table, "the setup makes it twice");
    return ISOPROOF_OK;
  }
  if (temporary) iso_table_refuse(m->table, "it is temporary: every session has one of its own");
  if (!iso_sql_symbol(sql, next, "(")) return ISOPROOF_OK;
  uint32_t close = sql->tokens.items[next].match;
  m->table->known = true;
  options(m, close + 1);
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t first = next + 1, end; first < close; first = end + 1) {
      end = iso_sql_part(sql, first, close);
      bool constrains = starts_constraint(sql, first);
      if (constrains == (pass == 1)) ISO_TRY(constrains ? constraint(m, first, end) : column(m, first, end));
    }
  }
  return ISOPROOF_OK;
}

/* ALTER TABLE: a primary key is understood, and constraints that change no row. */
static isoproof_status alter_table(maker *m, uint32_t at) {
  const iso_sql *sql = m->sql;
  if (iso_sql_is(sql, at, "IF")) at += 2;
  if (iso_sql_is(sql, at, "ONLY")) at++;
  uint32_t next;
  const char *name = iso_schema_name(m->tables, sql, at, &next);
  m->table = name != NULL ? iso_schema_find(m->tables, name) : NULL;
  if (m->table == NULL) return ISOPROOF_OK;
  bool adds = iso_sql_is(sql, next, "ADD") && starts_constraint(sql, next + 1) &&
              iso_sql_part(sql, next, sql->count) == sql->count;
  if (adds) return constraint(m, next + 1, sql->count);
  iso_table_refuse(m->table, "the setup changes it by an ALTER TABLE that was not understood");
  return ISOPROOF_OK;
}

/* What is made beside tables: it may write rows, or show them under another name. */
static isoproof_status create_other(maker *m, uint32_t at) {
  static const char *const harmless[] = {"INDEX",     "UNIQUE",    "SEQUENCE", "SCHEMA", "TYPE",
                                         "EXTENSION", "COLLATION", "DATABASE", NULL};
  for (size_t i = 0; harmless[i] != NULL; i++) {
    if (iso_sql_is(m->sql, at, harmless[i])) return ISOPROOF_OK;
  }
  for (uint32_t i = at; i < m->sql->count; i++) {
    if (iso_sql_is(m->sql, i, "FUNCTION") || iso_sql_is(m->sql, i, "PROCEDURE")) {
      uint32_t end;
      const char *name = iso_schema_name(m->tables, m->sql, i + 1, &end);
      if (name != NULL && !iso_vec_push(&m->tables->functions, name)) return iso_fail_memory(m->error);
      break;
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status drop(maker *m, uint32_t at) {
  if (iso_sql_is(m->sql, at, "IF")) at += 2;
  for (uint32_t next; at < m->sql->count; at = next + 1) {
    const char *name = iso_schema_name(m->tables, m->sql, at, &next);
    iso_table *table = name != NULL ? iso_schema_find(m->tables, name) : NULL;
    if (name == NULL) break;
    if (table == NULL) continue;
    table->known = false;
    table->columns.count = table->key.count = 0;
    table->why = NULL;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_schema_setup(iso_schema *tables, const iso_sql *sql, isoproof_error *error) {
  maker m = {.tables = tables, .sql = sql, .error = error};
  bool temporary = false;
  uint32_t at = 1;
  if (iso_sql_is(sql, 0, "ALTER") && iso_sql_is(sql, 1, "TABLE")) return alter_table(&m, 2);
  if (iso_sql_is(sql, 0, "DROP") && iso_sql_is(sql, 1, "TABLE")) return drop(&m, 2);
  if (!iso_sql_is(sql, 0, "CREATE")) return ISOPROOF_OK;
  if (iso_sql_is(sql, at, "OR")) at += 2;
  for (;; at++) {
    bool temp = iso_sql_is(sql, at, "TEMP") || iso_sql_is(sql, at, "TEMPORARY");
    temporary = temporary || temp;
    if (!temp && !iso_sql_is(sql, at, "UNLOGGED") && !iso_sql_is(sql, at, "GLOBAL") && !iso_sql_is(sql, at, "LOCAL"))
      break;
  }
  return iso_sql_is(sql, at, "TABLE") ? create_table(&m, at + 1, temporary) : create_other(&m, at);
}
