/* mariadb_library.c - libmariadb.so.3, and in it the functions that are used. */
#include "database/drivers/mariadb_library.h"

#include <stdio.h>
#include <string.h>

#include "database/drivers/library.h"

static const iso_library_function functions[] = {
#define MYSQL_X(name) {#name, offsetof(iso_mysql, name)},
    MYSQL_FUNCTIONS(MYSQL_X)
#undef MYSQL_X
};

/* The first time counts. */
static isoproof_status initialize(const void *loaded, isoproof_error *error) {
  const iso_mysql *my = loaded;
  if (my->mysql_server_init(0, NULL, NULL) == 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "mariadb: cannot initialize libmariadb");
}

static const iso_library library = {.product = "libmariadb",
                                    .scheme = "mariadb",
                                    .file = "libmariadb.so",
                                    .variable = "ISOPROOF_LIBMARIADB",
                                    .package = "libmariadb3",
                                    .numbered = true,
                                    .oldest_major = 3,
                                    .newest_major = 3,
                                    .newest_minor = -1,
                                    .functions = functions,
                                    .function_count = sizeof functions / sizeof *functions,
                                    .initialize = initialize};

isoproof_status iso_mysql_load(iso_mysql *my, isoproof_error *error) {
  memset(my, 0, sizeof *my);
  return iso_library_load(&library, NULL, &my->library, my, error);
}

void iso_mysql_unload(iso_mysql *my) {
  iso_library_unload(my->library);
  memset(my, 0, sizeof *my);
}

void iso_mysql_name(char *buffer, size_t size) {
  iso_mysql my;
  if (iso_mysql_load(&my, NULL) == ISOPROOF_OK)
    snprintf(buffer, size, "libmariadb %s", my.mysql_get_client_info());
  else
    iso_library_missing(&library, buffer, size);
  iso_mysql_unload(&my);
}
