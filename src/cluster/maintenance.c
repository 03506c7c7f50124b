/* maintenance.c - what administrators do to tables while they are in use, done to the tables of the run alone. */
#include <stdio.h>
#include <string.h>

#include "cluster/fault.h"

enum { STATEMENT_MS = 60 * 1000, SQL_BYTES = 512, TABLE_BYTES = 128 };

bool iso_fault_is_maintenance(isoproof_fault_kind kind) {
  return kind >= ISOPROOF_FAULT_VACUUM && kind <= ISOPROOF_FAULT_OPTIMIZE;
}

unsigned iso_fault_expand(const isoproof_cluster *cluster, unsigned faults) {
  if ((faults & 1U << ISOPROOF_FAULT_MAINTENANCE) == 0) return faults;
  faults &= ~(1U << ISOPROOF_FAULT_MAINTENANCE);
  for (unsigned kind = ISOPROOF_FAULT_VACUUM; kind <= ISOPROOF_FAULT_OPTIMIZE; kind++)
    faults |= cluster->type->faults & 1U << kind;
  return faults;
}

/* What is done when it begins; `detail` chooses. */
const char *iso_maintenance_words(isoproof_fault_kind kind, int detail) {
  switch (kind) {
  case ISOPROOF_FAULT_VACUUM:
    return detail == ISO_VACUUM_FULL ? "VACUUM (FULL, FREEZE)" : "VACUUM (FREEZE)";
  case ISOPROOF_FAULT_REINDEX:
    return "REINDEX CONCURRENTLY";
  case ISOPROOF_FAULT_INDEX:
    return "CREATE INDEX CONCURRENTLY";
  case ISOPROOF_FAULT_CLUSTER:
    return "CLUSTER";
  case ISOPROOF_FAULT_ANALYZE:
    return "ANALYZE";
  default:
    return "OPTIMIZE TABLE";
  }
}

/* The order of CLUSTER is that of an index, which not every table has. */
static isoproof_status find_order(const iso_node *node, const char *table, char *index, size_t size,
                                  isoproof_error *error) {
  char sql[SQL_BYTES];
  snprintf(sql, sizeof sql,
           "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam "
           "WHERE i.indrelid = to_regclass('%s') AND i.indisvalid AND a.amname = 'btree' ORDER BY i.indisprimary DESC "
           "LIMIT 1",
           table);
  return iso_node_ask(node, sql, 0, index, size, error);
}

/* The statement for one table; "" where there is nothing to do. */
static isoproof_status statement(const isoproof_cluster *cluster, const iso_fault *fault, const char *table,
                                 char sql[SQL_BYTES], isoproof_error *error) {
  bool maria = cluster->type->maintenance_schema != NULL;
  char index[TABLE_BYTES] = "";
  sql[0] = 0;
  switch (fault->kind) {
  case ISOPROOF_FAULT_REINDEX:
    snprintf(sql, SQL_BYTES, "REINDEX TABLE CONCURRENTLY %s", table);
    break;
  case ISOPROOF_FAULT_INDEX:
    snprintf(sql, SQL_BYTES, "CREATE INDEX CONCURRENTLY %s_by_v ON %s (v)", table, table);
    break;
  case ISOPROOF_FAULT_CLUSTER:
    ISO_TRY(find_order(fault->node, table, index, sizeof index, error));
    if (index[0] != 0) snprintf(sql, SQL_BYTES, "CLUSTER %s USING %s", table, index);
    break;
  default:
    snprintf(sql, SQL_BYTES, "%s%s %s%s%s", iso_maintenance_words(fault->kind, fault->detail),
             maria && fault->kind == ISOPROOF_FAULT_ANALYZE ? " TABLE" : "",
             maria ? cluster->type->maintenance_schema : "", maria ? "." : "", table);
    break;
  }
  return ISOPROOF_OK;
}

/* Whether it gives tables new files, as emptying them would. */
static bool writes_anew(const iso_fault *fault) {
  return fault->kind == ISOPROOF_FAULT_OPTIMIZE || fault->kind == ISOPROOF_FAULT_CLUSTER ||
         (fault->kind == ISOPROOF_FAULT_VACUUM && fault->detail == ISO_VACUUM_FULL);
}

isoproof_status iso_maintenance_begin(const isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error) {
  char table[TABLE_BYTES], sql[SQL_BYTES];
  /* Whatever somebody else did until now is found out before it cannot be told from what we do. */
  bool rewrites = writes_anew(fault);
  if (rewrites) isoproof_run_tables_change(fault->run, false);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; status == ISOPROOF_OK && isoproof_run_table_at(fault->run, i, table, sizeof table); i++) {
    status = statement(cluster, fault, table, sql, error);
    if (status == ISOPROOF_OK && sql[0] != 0) status = iso_node_execute(fault->node, sql, STATEMENT_MS, error);
  }
  if (rewrites) isoproof_run_tables_change(fault->run, true);
  return status;
}

isoproof_status iso_maintenance_end(const iso_fault *fault, isoproof_error *error) {
  char table[TABLE_BYTES], sql[SQL_BYTES];
  if (fault->kind != ISOPROOF_FAULT_INDEX) return ISOPROOF_OK;
  for (size_t i = 0; isoproof_run_table_at(fault->run, i, table, sizeof table); i++) {
    snprintf(sql, sizeof sql, "DROP INDEX CONCURRENTLY IF EXISTS %s_by_v", table);
    ISO_TRY(iso_node_execute(fault->node, sql, STATEMENT_MS, error));
  }
  return ISOPROOF_OK;
}
