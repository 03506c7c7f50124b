/* database.c - isoproof/database.h: which drivers there are, and how their URLs begin. */
#include <ctype.h>
#include <isoproof/database.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/abi.h"
#include "database/driver.h"
#include "database/url.h"

static const char *const names[] = {
#define ISO_X(name, id, alias, style, title) #id,
    ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
};

static const char *const titles[] = {
#define ISO_X(name, id, alias, style, title) title,
    ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
};

static const char *const aliases[] = {
#define ISO_X(name, id, alias, style, title) alias,
    ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
};

static bool is_scheme(const char *scheme, const char *text, size_t length) {
  return scheme != NULL && strlen(scheme) == length && strncasecmp(scheme, text, length) == 0;
}

bool isoproof_url_begins(const char *text) {
  size_t length = iso_url_scheme(text);
  /* postgres:5432 is a host and its port. */
  if (length == 0 || isdigit((unsigned char)text[length + 1])) return false;
  for (size_t i = 0; i < ISO_DRIVERS; i++)
    if (is_scheme(names[i], text, length) || is_scheme(aliases[i], text, length)) return true;
  return false;
}

bool isoproof_driver_at(size_t number, isoproof_driver_info *out) {
  if (number >= ISO_DRIVERS) return false;
  isoproof_driver_info made = {.struct_size = sizeof made, .name = names[number], .title = titles[number]};
  const iso_driver *driver = iso_driver_get((iso_driver_id)number);
  if (driver == NULL) return ISO_STRUCT_GIVE(out, made);
  iso_capabilities can = iso_driver_capabilities(driver);
  made.built = true;
  made.url_form = iso_driver_url_form(driver);
  made.sql = can.sql;
  made.nodes = can.nodes;
  made.blocked = can.blocked;
  return ISO_STRUCT_GIVE(out, made);
}

size_t isoproof_driver_library(size_t number, char *buffer, size_t size) {
  char text[128] = "";
  const iso_driver *driver = iso_driver_get((iso_driver_id)number);
  if (driver != NULL) iso_driver_library(driver, text, sizeof text);
  int length = snprintf(buffer, size, "%s", text);
  return length > 0 ? (size_t)length : 0;
}
