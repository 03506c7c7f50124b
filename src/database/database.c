/* database.c - isoproof/database.h: which drivers there are. */
#include <isoproof/database.h>
#include <stdio.h>

#include "database/driver.h"

static const char *const names[] = {
#define ISO_X(name, id, title) id,
    ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
};

static const char *const titles[] = {
#define ISO_X(name, id, title) title,
    ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
};

bool isoproof_driver_at(size_t number, isoproof_driver_info *info) {
  if (number >= ISO_DRIVERS) return false;
  *info = (isoproof_driver_info){.name = names[number], .title = titles[number]};
  const iso_driver *driver = iso_driver_get((iso_driver_id)number);
  if (driver == NULL) return true;
  iso_capabilities can = iso_driver_capabilities(driver);
  info->built = true;
  info->url_form = iso_driver_url_form(driver);
  info->sql = can.sql;
  info->nodes = can.nodes;
  info->blocked = can.blocked;
  return true;
}

size_t isoproof_driver_library(size_t number, char *buffer, size_t size) {
  char text[128] = "";
  const iso_driver *driver = iso_driver_get((iso_driver_id)number);
  if (driver != NULL) iso_driver_library(driver, text, sizeof text);
  int length = snprintf(buffer, size, "%s", text);
  return length > 0 ? (size_t)length : 0;
}
