/* driver.c - the list of drivers; opening databases, their levels and settings; connecting. */
#include "database/driver.h"

#include <ctype.h>
#include <inttypes.h>
#include <isoproof/level.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/hash.h"
#include "database/driver_table.h"
#include "database/redact.h"

enum { LIST_BYTES = 256 };

/* ---- drivers ---- */

static const iso_driver *const drivers[ISO_DRIVERS] = {
    [ISO_DRIVER_SIM] = &iso_driver_sim,           [ISO_DRIVER_EXEC] = &iso_driver_exec,
#ifdef ISO_HAVE_SQLITE
    [ISO_DRIVER_SQLITE] = &iso_driver_sqlite,
#endif
#ifdef ISO_HAVE_DUCKDB
    [ISO_DRIVER_DUCKDB] = &iso_driver_duckdb,
#endif
#ifdef ISO_HAVE_ROCKSDB
    [ISO_DRIVER_ROCKSDB] = &iso_driver_rocksdb,
#endif
#ifdef ISO_HAVE_POSTGRES
    [ISO_DRIVER_POSTGRES] = &iso_driver_postgres,
#endif
#ifdef ISO_HAVE_MARIADB
    [ISO_DRIVER_MARIADB] = &iso_driver_mariadb,
#endif
#ifdef ISO_HAVE_ODBC
    [ISO_DRIVER_ODBC] = &iso_driver_odbc,
#endif
#ifdef ISO_HAVE_FIREBIRD
    [ISO_DRIVER_FIREBIRD] = &iso_driver_firebird,
#endif
#ifdef ISO_HAVE_REDIS
    [ISO_DRIVER_REDIS] = &iso_driver_redis,
#endif
#ifdef ISO_HAVE_ETCD
    [ISO_DRIVER_ETCD] = &iso_driver_etcd,
#endif
};

static const struct {
  const char *name, *alias;
  iso_url_style style;
} facts[ISO_DRIVERS] = {
#define ISO_X(name, id, alias, style, title) {#id, alias, ISO_URL_##style},
    ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
};

const iso_driver *iso_driver_get(iso_driver_id id) { return (unsigned)id < ISO_DRIVERS ? drivers[id] : NULL; }
const char *iso_driver_name(const iso_driver *driver) { return facts[driver->id].name; }
const char *iso_driver_url_form(const iso_driver *driver) { return driver->url_form; }
iso_capabilities iso_driver_capabilities(const iso_driver *driver) { return driver->can; }

void iso_driver_library(const iso_driver *driver, char *buffer, size_t size) {
  if (size > 0) buffer[0] = 0;
  if (driver->library != NULL) driver->library(buffer, size);
}

static bool is_scheme(const char *scheme, const char *url, size_t length) {
  return scheme != NULL && strlen(scheme) == length && strncasecmp(scheme, url, length) == 0;
}

/* "sim:, sqlite:, ... or odbc:", for messages. */
static const char *list_schemes(char list[LIST_BYTES]) {
  size_t used = 0;
  for (size_t i = 0; i < ISO_DRIVERS && used < LIST_BYTES; i++) {
    const char *before = i == 0 ? "" : i + 1 < ISO_DRIVERS ? ", " : " or ";
    used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%s:%s", before, facts[i].name,
                             facts[i].style == ISO_URL_PATH || facts[i].style == ISO_URL_RAW ? "" : "//");
  }
  return list;
}

isoproof_status iso_driver_for(const char *url, const iso_driver **driver, isoproof_error *error) {
  size_t length = iso_url_scheme(url);
  for (size_t i = 0; i < ISO_DRIVERS; i++) {
    bool other = is_scheme(facts[i].alias, url, length);
    if (!other && !is_scheme(facts[i].name, url, length)) continue;
    *driver = drivers[i];
    if (*driver != NULL) return ISOPROOF_OK;
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "the driver for %s: is not in this build: its client library was not found when it was built",
                    other ? facts[i].alias : facts[i].name);
  }
  char list[LIST_BYTES], quoted[256], shown[256];
  iso_redact_show(url, shown, sizeof shown);
  return iso_fail(error, ISOPROOF_ERR_USAGE, "database URL: expected %s at its beginning, found %s", list_schemes(list),
                  iso_quote(shown, length > 0 && length < sizeof shown ? length : strcspn(shown, ":/@?"), quoted));
}

/* ---- opening ---- */

static isoproof_status take_table(iso_database *database, const char *table, isoproof_error *error) {
  char unique[ISO_TABLE_BYTES];
  if (table == NULL) {
    const char *family = database->options.family != NULL ? database->options.family : "isoproof";
    snprintf(unique, sizeof unique, "%.16s_%012" PRIx64, family, database->run >> 16);
    table = unique;
  }
  size_t length = strlen(table);
  bool good = length > 0 && length < ISO_TABLE_BYTES - 4 && !isdigit((unsigned char)table[0]);
  for (size_t i = 0; good && i < length; i++) good = isalnum((unsigned char)table[i]) || table[i] == '_';
  if (!good) {
    char quoted[256];
    return iso_fail(error, ISOPROOF_ERR_USAGE, "table: expected at most %d letters, digits and '_', found %s",
                    ISO_TABLE_BYTES - 5, iso_quote(table, length, quoted));
  }
  memcpy(database->table, table, length + 1);
  database->options.table = database->table;
  return ISOPROOF_OK;
}

static isoproof_status take_options(iso_database *database, const iso_database_options *options,
                                    isoproof_error *error) {
  if (options != NULL) database->options = *options;
  iso_database_options *taken = &database->options;
  if (taken->tables == 0) taken->tables = 1;
  if (taken->connect_timeout_ms == 0) taken->connect_timeout_ms = 5000;
  if (taken->tag_bits > ISO_MOST_TAG_BITS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "tag_bits: expected at most %d, found %u", ISO_MOST_TAG_BITS,
                    taken->tag_bits);
  /* A database without tables that others can reach needs no tags. */
  database->run = taken->run != 0 ? taken->run : iso_hash_seed() | 1; /* never 0, which is no run */
  bool tags = database->driver->setup == NULL || database->driver->tags;
  database->tag = iso_value_tag_of(database->run, tags ? taken->tag_bits : 0);
  if (taken->tables > ISO_MOST_TABLES)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "tables: expected 1 to %d, found %u", ISO_MOST_TABLES, taken->tables);
  if (taken->partitions > ISO_MOST_PARTITIONS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "partitions: expected at most %d, found %u", ISO_MOST_PARTITIONS,
                    taken->partitions);
  if (taken->password != NULL) {
    database->password = strdup(taken->password);
    if (database->password == NULL || !iso_secrets_add(&database->secrets, taken->password))
      return iso_fail_memory(error);
  }
  taken->password = database->password;
  return take_table(database, taken->table, error);
}

/* One node: the URL, or one of the hosts that it names. */
static isoproof_status take_node(iso_database *database, const char *url, size_t host, size_t hosts,
                                 isoproof_error *error) {
  iso_url *taken = &database->urls[database->nodes];
  iso_url_style style = facts[database->driver->id].style;
  if (hosts == 1) {
    ISO_TRY(iso_url_parse(url, style, taken, error));
    database->nodes++;
    return ISOPROOF_OK;
  }
  char *one = iso_url_with_host(url, host);
  if (one == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_url_parse(one, style, taken, error);
  explicit_bzero(one, strlen(one));
  free(one);
  ISO_TRY(status);
  database->nodes++;
  if (taken->host != NULL) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "database URL: expected hosts with commas between them, found none");
}

static isoproof_status take_urls(iso_database *database, const char *const *urls, size_t count, isoproof_error *error) {
  if (count == 0 || count > ISO_MOST_NODES)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "database: expected 1 to %d URLs, found %zu", ISO_MOST_NODES, count);
  for (size_t i = 0; i < count; i++)
    if (!iso_secrets_add_url(&database->secrets, urls[i])) return iso_fail_memory(error);
  ISO_TRY(iso_driver_for(urls[0], &database->driver, error));
  database->can = database->driver->can;
  if (count > 1 && !database->can.nodes)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "database: %s: is one node, found %zu URLs",
                    iso_driver_name(database->driver), count);
  database->urls = iso_alloc_zero(ISO_MOST_NODES, sizeof *database->urls);
  if (database->urls == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    const iso_driver *driver;
    ISO_TRY(iso_driver_for(urls[i], &driver, error));
    if (driver != database->driver)
      return iso_fail(error, ISOPROOF_ERR_USAGE,
                      "database: expected nodes of one kind, found %s: and %s:", iso_driver_name(database->driver),
                      iso_driver_name(driver));
    size_t hosts = facts[driver->id].style == ISO_URL_HOSTS ? iso_url_host_count(urls[i]) : 1;
    if (database->nodes + hosts > ISO_MOST_NODES)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "database: expected at most %d nodes, found more", ISO_MOST_NODES);
    for (size_t j = 0; j < hosts; j++) ISO_TRY(take_node(database, urls[i], j, hosts, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_database_open(const char *const *urls, size_t count, const iso_database_options *options,
                                  iso_database **database, isoproof_error *error) {
  iso_database *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = take_urls(made, urls, count, error);
  if (status == ISOPROOF_OK) status = take_options(made, options, error);
  if (status == ISOPROOF_OK) status = made->driver->open(made, error);
  if (status == ISOPROOF_OK) status = iso_database_check_options(made, error);
  iso_database_hide(made, status, error);
  if (status != ISOPROOF_OK)
    iso_database_close(made);
  else
    *database = made;
  return status;
}

void iso_database_close(iso_database *database) {
  if (database == NULL) return;
  iso_disconnect(database->keeper);
  iso_disconnect(database->maker);
  if (database->driver != NULL && database->urls != NULL) database->driver->close(database);
  for (size_t i = 0; database->urls != NULL && i < database->nodes; i++) iso_url_free(&database->urls[i]);
  iso_secrets_free(&database->secrets);
  if (database->password != NULL) explicit_bzero(database->password, strlen(database->password));
  free(database->password);
  free(database->urls);
  free(database);
}

isoproof_status iso_database_hide(const iso_database *database, isoproof_status status, isoproof_error *error) {
  if (status != ISOPROOF_OK && error != NULL)
    iso_secrets_clean(&database->secrets, error->message, sizeof error->message);
  return status;
}

/* ---- what is known of a database ---- */

const iso_driver *iso_database_driver(const iso_database *database) { return database->driver; }
iso_capabilities iso_database_capabilities(const iso_database *database) { return database->can; }
const char *iso_database_version(const iso_database *database) { return database->version; }
size_t iso_database_nodes(const iso_database *database) { return database->nodes; }

const char *iso_database_url(const iso_database *database, size_t node) {
  return node < database->nodes ? database->urls[node].shown : NULL;
}

char *iso_database_without_secrets(const iso_database *database, const char *text) {
  size_t length = iso_secrets_hide(&database->secrets, text, false, NULL, 0);
  char *made = iso_alloc(length + 1, 1);
  if (made != NULL) iso_secrets_hide(&database->secrets, text, false, made, length + 1);
  return made;
}

const iso_setting *iso_database_setting(const iso_database *database, size_t number) {
  return number < database->setting_count ? &database->settings[number] : NULL;
}

void iso_database_add_setting(iso_database *database, const char *name, const char *value) {
  size_t at = database->setting_count;
  if (at == ISO_MOST_SETTINGS) return;
  char(*text)[ISO_SETTING_BYTES] = database->setting_text[at];
  snprintf(text[0], ISO_SETTING_BYTES, "%s", name);
  snprintf(text[1], ISO_SETTING_BYTES, "%s", value != NULL ? value : "");
  iso_secrets_clean(&database->secrets, text[1], ISO_SETTING_BYTES);
  database->settings[at] = (iso_setting){text[0], text[1]};
  database->setting_count++;
}

const iso_isolation *iso_database_isolation(const iso_database *database, size_t number) {
  return number < database->isolation_count ? &database->isolations[number] : NULL;
}

void iso_database_add_isolation(iso_database *database, const char *name, const char *claims, const char *note) {
  if (database->isolation_count == ISO_MOST_ISOLATIONS) return;
  database->isolations[database->isolation_count++] = (iso_isolation){.name = name, .claims = claims, .note = note};
}

void iso_database_add_claim(iso_database *database, iso_claim claim) {
  const isoproof_claim *of = iso_claim_of(claim);
  if (database->isolation_count == ISO_MOST_ISOLATIONS) return;
  database->isolations[database->isolation_count++] = (iso_isolation){.name = of->isolation,
                                                                      .claims = of->level,
                                                                      .note = of->says,
                                                                      .claims_lists = of->level_of_lists,
                                                                      .source = of->source,
                                                                      .url = of->url};
}

void iso_database_add_innodb(iso_database *database, bool snapshot) {
  iso_database_add_claim(database, snapshot ? ISO_CLAIM_INNODB_SNAPSHOT : ISO_CLAIM_INNODB_REPEATABLE_READ);
}

/* Compares names without regard to case, '-' and '_' taken as ' '. */
static bool same_name(const char *a, const char *b) {
  for (;; a++, b++) {
    char x = (char)tolower((unsigned char)*a), y = (char)tolower((unsigned char)*b);
    if (x == '-' || x == '_') x = ' ';
    if (y == '-' || y == '_') y = ' ';
    if (x != y) return false;
    if (x == 0) return true;
  }
}

/* The short names are those of levels and models; what they mean here is what the database calls so. */
static const char *whole_name(const char *name) {
  const char *whole = name, *shorter, *longer;
  for (size_t i = 0; isoproof_level_short_name_at(i, &shorter, &longer); i++)
    if (same_name(name, shorter)) whole = longer;
  return whole;
}

isoproof_status iso_database_find_isolation(const iso_database *database, const char *name, const iso_isolation **found,
                                            isoproof_error *error) {
  if (name == NULL) {
    *found = &database->isolations[database->default_isolation];
    return ISOPROOF_OK;
  }
  const char *wanted = whole_name(name);
  char names[256] = "";
  size_t used = 0;
  for (size_t i = 0; i < database->isolation_count; i++) {
    *found = &database->isolations[i];
    if (same_name(whole_name((*found)->name), wanted)) return ISOPROOF_OK;
    if (used < sizeof names)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", i > 0 ? ", " : "", (*found)->name);
  }
  char quoted[256];
  return iso_fail(error, ISOPROOF_ERR_USAGE, "isolation level of %s: expected %s, found %s", database->version, names,
                  iso_quote(name, strlen(name), quoted));
}

const char *iso_database_table_name(const iso_database *database) { return database->table; }

void iso_database_table(const iso_database *database, int64_t key, char name[ISO_TABLE_BYTES]) {
  iso_sql_table_name(database, iso_sql_table(database, key), name);
}

void iso_database_round_table(const iso_database *database, uint64_t round, char name[ISO_TABLE_BYTES]) {
  iso_sql_round_name(database, round, name);
}

/* ---- set-up ---- */

enum { SETTLE_ATTEMPTS = 1000, SETTLE_PAUSE_NS = 10 * 1000 * 1000 };

/* Waits until a node has what was set up. */
static isoproof_status wait_for_node(iso_database *database, size_t node, isoproof_error *error) {
  iso_connection *connection;
  ISO_TRY(iso_connect(database, node, &connection, error));
  bool settled = false;
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < SETTLE_ATTEMPTS && !settled && status == ISOPROOF_OK; i++) {
    status = database->driver->settled(connection, &settled, error);
    if (status == ISOPROOF_OK && !settled) nanosleep(&(struct timespec){0, SETTLE_PAUSE_NS}, NULL);
  }
  iso_disconnect(connection);
  if (status == ISOPROOF_OK && !settled)
    return iso_fail(error, ISOPROOF_ERR_IO, "%s: what was set up did not arrive there in 10 seconds",
                    database->urls[node].shown);
  return status;
}

isoproof_status iso_database_settle(iso_database *database, isoproof_error *error) {
  if (database->driver->settled == NULL) return ISOPROOF_OK;
  for (size_t i = 0; database->nodes > 1 && i < database->nodes; i++) ISO_TRY(wait_for_node(database, i, error));
  return ISOPROOF_OK;
}

isoproof_status iso_database_setup(iso_database *database, isoproof_error *error) {
  const iso_driver *driver = database->driver;
  ISO_TRY(iso_database_hide(
      database, driver->setup != NULL ? driver->setup(database, error) : iso_tables_setup(database, error), error));
  isoproof_status status = iso_database_hide(database, iso_database_settle(database, error), error);
  if (status != ISOPROOF_OK) (void)iso_database_teardown(database, NULL);
  return status;
}

isoproof_status iso_database_join(iso_database *database, isoproof_error *error) {
  ISO_TRY(iso_database_hide(database, iso_tables_join(database, error), error));
  return iso_database_hide(database, iso_database_settle(database, error), error);
}

isoproof_status iso_database_teardown(iso_database *database, isoproof_error *error) {
  const iso_driver *driver = database->driver;
  return iso_database_hide(
      database, driver->teardown != NULL ? driver->teardown(database, error) : iso_tables_teardown(database, error),
      error);
}

void iso_database_learn_tables(iso_database *database) {
  if (database->driver->setup == NULL) iso_tables_learn(database);
}

isoproof_status iso_database_verify(iso_database *database, isoproof_error *error) {
  if (database->driver->setup != NULL) return ISOPROOF_OK;
  return iso_database_hide(database, iso_tables_verify(database, error), error);
}
