/* sql.c - the steps of a schedule as statements. */
#include <stdio.h>

#include "coo/schedule.h"

size_t isoproof_schedule_sql_at(const isoproof_schedule *schedule, const char *table, size_t number, char *buffer,
                                size_t size) {
  if (number >= schedule->step_count) return 0;
  const isoproof_schedule_step *s = &schedule->steps[number];
  switch (s->kind) {
  case ISOPROOF_STEP_READ:
    return (size_t)snprintf(buffer, size, "SELECT v FROM %s WHERE k = %u", table, s->object);
  case ISOPROOF_STEP_WRITE:
    return (size_t)snprintf(buffer, size, "UPDATE %s SET v = %u WHERE k = %u", table,
                            iso_schedule_value(schedule, (uint32_t)number), s->object);
  case ISOPROOF_STEP_COMMIT:
    return (size_t)snprintf(buffer, size, "COMMIT");
  default:
    return (size_t)snprintf(buffer, size, "ROLLBACK");
  }
}

size_t isoproof_schedule_sql_setup_at(const isoproof_schedule *schedule, const char *table, size_t number, char *buffer,
                                      size_t size) {
  /* No DROP before it: a table of that name may be anybody's. */
  enum { CREATE, INSERT };
  if (number == CREATE) return (size_t)snprintf(buffer, size, "CREATE TABLE %s (k INT PRIMARY KEY, v INT)", table);
  if (number - INSERT >= schedule->object_count) return 0;
  return (size_t)snprintf(buffer, size, "INSERT INTO %s VALUES (%zu, 0)", table, number - INSERT);
}
