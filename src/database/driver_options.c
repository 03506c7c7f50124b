/* driver_options.c - layouts, access paths and ways of sending: their names, and which database has which. */
#include <string.h>

#include "database/driver_table.h"

/* ---- names ---- */

static const char *const layouts[] = {
#define ISO_X(name, id, text) id,
    ISO_LAYOUT_LIST(ISO_X)
#undef ISO_X
};

static const char *const accesses[] = {
#define ISO_X(name, id, text) id,
    ISO_ACCESS_LIST(ISO_X)
#undef ISO_X
};

static const char *const sendings[] = {
#define ISO_X(name, id, text) id,
    ISO_SENDING_LIST(ISO_X)
#undef ISO_X
};

static unsigned find(const char *const *names, unsigned count, const char *name) {
  unsigned i = 0;
  while (i < count && strcmp(names[i], name) != 0) i++;
  return i;
}

const char *iso_layout_name(iso_layout layout) { return (unsigned)layout < ISO_LAYOUTS ? layouts[layout] : NULL; }
const char *iso_access_name(iso_access access) { return (unsigned)access < ISO_ACCESSES ? accesses[access] : NULL; }
const char *iso_sending_name(iso_sending sending) {
  return (unsigned)sending < ISO_SENDINGS ? sendings[sending] : NULL;
}

bool iso_layout_find(const char *name, iso_layout *found) {
  unsigned number = find(layouts, ISO_LAYOUTS, name);
  if (number < ISO_LAYOUTS) *found = (iso_layout)number;
  return number < ISO_LAYOUTS;
}

bool iso_access_find(const char *name, iso_access *found) {
  unsigned number = find(accesses, ISO_ACCESSES, name);
  if (number < ISO_ACCESSES) *found = (iso_access)number;
  return number < ISO_ACCESSES;
}

bool iso_sending_find(const char *name, iso_sending *found) {
  unsigned number = find(sendings, ISO_SENDINGS, name);
  if (number < ISO_SENDINGS) *found = (iso_sending)number;
  return number < ISO_SENDINGS;
}

/* ---- what a database has ---- */

static isoproof_status check_layout(const iso_database *database, isoproof_error *error) {
  iso_layout layout = database->options.layout;
  if ((unsigned)layout >= ISO_LAYOUTS) return iso_fail(error, ISOPROOF_ERR_USAGE, "layout: there is no such");
  bool has = layout == ISO_LAYOUT_KEYED || (database->driver->layouts & 1U << layout) != 0;
  if (layout == ISO_LAYOUT_HASHED && database->dialect != ISO_SQL_POSTGRES) has = false;
  if (layout == ISO_LAYOUT_HASHED && database->product != NULL && !database->product->hashes) has = false;
  if (has) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "layout %s: expected %s, found %s", layouts[layout],
                  layout == ISO_LAYOUT_HASHED ? "a database with hash indexes (PostgreSQL)"
                                              : "a database whose tables isoproof lays out",
                  database->version);
}

static isoproof_status check_access(const iso_database *database, isoproof_error *error) {
  iso_access access = database->options.access;
  if ((unsigned)access >= ISO_ACCESSES) return iso_fail(error, ISOPROOF_ERR_USAGE, "access: there is no such");
  if (access == ISO_ACCESS_AUTO) return ISOPROOF_OK;
  if ((database->driver->accesses & 1U << access) == 0 || (database->product != NULL && !database->product->paths))
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "access %s: expected a database that can be told so (%s), found %s", accesses[access],
                    access == ISO_ACCESS_BITMAP ? "PostgreSQL" : "PostgreSQL, MariaDB, SQLite", database->version);
  if (access != ISO_ACCESS_SEQUENTIAL && database->options.layout == ISO_LAYOUT_HEAP)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "access %s: expected a layout with an index, found heap",
                    accesses[access]);
  return ISOPROOF_OK;
}

isoproof_status iso_database_check_options(iso_database *database, isoproof_error *error) {
  const iso_database_options *options = &database->options;
  iso_capabilities *can = &database->can;
  const iso_product *product = database->product;
  bool partitions = iso_sql_partitions(database->dialect) && (product == NULL || product->partitions);
  if (options->partitions > 1 && !partitions)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "partitions: expected a database that is known to have them (PostgreSQL, MariaDB), found %s",
                    database->version);
  ISO_TRY(check_layout(database, error));
  ISO_TRY(check_access(database, error));
  if ((unsigned)options->statements >= ISO_SENDINGS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "statements: there is no such way to send them");
  if (options->statements == ISO_SENDING_PLAIN && !database->driver->plain)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "statements %s: expected a database that takes statements as text, found %s",
                    sendings[ISO_SENDING_PLAIN], database->version);
  if (options->layout != ISO_LAYOUT_KEYED) {
    can->keyless = true;
    can->lists = false;
  }
  if (options->partitions > 1) can->rounds = false;
  can->joins = database->driver->setup == NULL;
  can->batches = database->driver->batch != NULL && (product == NULL || product->batches);
  return ISOPROOF_OK;
}
