/* What the catalogue of a database says about a table that the script did not make. */
#include <string.h>
#include <strings.h>

#include "track/table.h"

/* Every answer: one row per column in their order: name, type, collation, place in the primary key (from 1, else NULL
 * or 0), whether it is generated, and why the table is not tracked (NULL: nothing against it). */

static const char in_postgres[] =
    "SELECT a.attname, format_type(a.atttypid, a.atttypmod), l.collname,"
    " (SELECT array_position(i.indkey::int2[], a.attnum) + 1 FROM pg_index i WHERE i.indrelid = c.oid AND "
    "i.indisprimary),"
    " CASE WHEN a.attgenerated <> '' THEN 1 ELSE 0 END,"
    " CASE WHEN c.relkind <> 'r' THEN 'it is no plain table'"
    " WHEN c.relhassubclass OR c.relispartition OR EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid) THEN "
    "'its rows are in several tables (partitions, or inheritance)'"
    " WHEN EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal) THEN 'it has triggers, "
    "which may write'"
    " WHEN c.relhasrules THEN 'it has rules, which may write'"
    " WHEN EXISTS (SELECT FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f' AND (f.confdeltype IN "
    "('c', 'n', 'd') OR f.confupdtype IN ('c', 'n', 'd')))"
    " THEN 'a foreign key changes its rows (ON DELETE or ON UPDATE) without a statement that says so' END"
    " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation"
    " WHERE c.oid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

static const char in_sqlite[] =
    "SELECT x.name, x.type, CASE WHEN upper(s.sql) LIKE '%%COLLATE%%' THEN 'unknown' END, x.pk, CASE WHEN x.hidden > 1 "
    "THEN 1 ELSE 0 END,"
    " CASE WHEN s.type <> 'table' THEN 'it is no plain table' WHEN upper(s.sql) LIKE 'CREATE VIRTUAL%%' THEN 'it is a "
    "virtual table'"
    " WHEN EXISTS (SELECT 1 FROM sqlite_master g WHERE g.type = 'trigger' AND lower(g.tbl_name) = lower(s.name)) THEN "
    "'it has triggers, which may write'"
    " WHEN EXISTS (SELECT 1 FROM pragma_foreign_key_list(s.name) f WHERE f.on_delete <> 'NO ACTION' AND f.on_delete <> "
    "'RESTRICT' OR f.on_update <> 'NO ACTION' AND f.on_update <> 'RESTRICT')"
    " THEN 'a foreign key changes its rows (ON DELETE or ON UPDATE) without a statement that says so' END"
    " FROM sqlite_master s, pragma_table_xinfo(s.name) x WHERE lower(s.name) = lower(%s) AND s.type IN ('table', "
    "'view') ORDER BY x.cid";

static const char in_mariadb[] =
    "SELECT c.column_name, c.column_type, c.collation_name, CASE WHEN c.column_key = 'PRI' THEN (SELECT "
    "k.ordinal_position FROM information_schema.key_column_usage k"
    " WHERE k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name AND "
    "k.constraint_name = 'PRIMARY') END,"
    " CASE WHEN c.generation_expression IS NOT NULL THEN 1 ELSE 0 END,"
    " CASE WHEN t.table_type <> 'BASE TABLE' THEN 'it is no plain table' WHEN t.engine <> 'InnoDB' THEN 'its engine is "
    "not InnoDB'"
    " WHEN EXISTS (SELECT 1 FROM information_schema.triggers g WHERE g.event_object_schema = t.table_schema AND "
    "g.event_object_table = t.table_name) THEN 'it has triggers, which may write'"
    " WHEN EXISTS (SELECT 1 FROM information_schema.referential_constraints f WHERE f.constraint_schema = "
    "t.table_schema AND f.table_name = t.table_name"
    " AND (f.delete_rule IN ('CASCADE', 'SET NULL') OR f.update_rule IN ('CASCADE', 'SET NULL')))"
    " THEN 'a foreign key changes its rows (ON DELETE or ON UPDATE) without a statement that says so' END"
    " FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND "
    "t.table_name = c.table_name"
    " WHERE c.table_schema = coalesce(nullif(%s, ''), database()) AND c.table_name = %s ORDER BY c.ordinal_position";

/* A string of SQL. */
static const char *literal(iso_schema *tables, const char *text, size_t length) {
  char *made = iso_arena_alloc(&tables->arena, 2 * length + 3, 1);
  size_t out = 0;
  if (made == NULL) return "''";
  made[out++] = '\'';
  for (size_t i = 0; i < length; i++) {
    bool doubled = text[i] == '\'' || (text[i] == '\\' && tables->dialect == ISO_TRACK_MARIADB);
    if (doubled) made[out++] = text[i];
    made[out++] = text[i];
  }
  made[out] = '\'';
  return made;
}

const char *iso_table_catalogue_sql(iso_schema *tables, const iso_table *table) {
  size_t schema = (size_t)(table->last - table->name);
  if (tables->dialect == ISO_TRACK_POSTGRES)
    return iso_schema_text(tables, in_postgres, literal(tables, table->sql, strlen(table->sql)));
  if (tables->dialect == ISO_TRACK_SQLITE)
    return iso_schema_text(tables, in_sqlite, literal(tables, table->last, strlen(table->last)));
  return iso_schema_text(tables, in_mariadb, literal(tables, table->name, schema > 0 ? schema - 1 : 0),
                         literal(tables, table->last, strlen(table->last)));
}

static const char *copy(iso_schema *tables, const char *text) {
  return text != NULL ? iso_arena_text(&tables->arena, text, strlen(text)) : NULL;
}

isoproof_status iso_table_catalogue(iso_schema *tables, iso_table *table, const iso_reply *reply,
                                    isoproof_error *error) {
  size_t rows = reply->columns >= 6 ? reply->cells.count / reply->columns : 0, keys = 0;
  table->columns.count = table->key.count = 0;
  table->why = NULL;
  table->known = rows > 0;
  table->catalogued = true;
  if (rows == 0) table->why = "the database has no such table";
  for (size_t i = 0; i < rows; i++) {
    const char *name = copy(tables, iso_reply_cell(reply, i, 0)), *type = iso_reply_cell(reply, i, 1),
               *generated = iso_reply_cell(reply, i, 4), *why = iso_reply_cell(reply, i, 5);
    if (name == NULL) return iso_fail_memory(error);
    iso_column_kind kind = iso_column_kind_of(tables->dialect, type != NULL ? type : "", iso_reply_cell(reply, i, 2));
    ISO_TRY(iso_table_add_column(tables, table, name, kind, generated != NULL && generated[0] == '1', error));
    if (why != NULL) iso_table_refuse(table, copy(tables, why));
    table->reacts = table->reacts || why != NULL;
    const char *place = iso_reply_cell(reply, i, 3);
    keys += place != NULL && place[0] != '0' && place[0] != '\0';
  }
  /* The columns of the key in its order. */
  for (size_t k = 1; k <= keys; k++) {
    for (size_t i = 0; i < rows; i++) {
      const char *place = iso_reply_cell(reply, i, 3);
      if (place != NULL && (size_t)strtoul(place, NULL, 10) == k && !iso_vec_push(&table->key, (uint32_t)i))
        return iso_fail_memory(error);
    }
  }
  if (table->key.count != keys) iso_table_refuse(table, "its primary key was not understood");
  return ISOPROOF_OK;
}
