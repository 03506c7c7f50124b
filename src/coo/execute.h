/* execute.h - a schedule on a real database: the schedule that was asked for becomes a script, and the events of the
 * script become the schedule that was really executed.
 * The executed schedule belongs to the caller. */
#ifndef ISO_COO_EXECUTE_H
#define ISO_COO_EXECUTE_H

#include "coo/schedule.h"
#include "coo/stepper.h"

/* Sets the objects to 0 on every node, and makes the script of a schedule for that database.  Object i is the row with
 * key i * stride. */
isoproof_status iso_execute_reset(iso_stepper *stepper, uint32_t objects, uint32_t stride, isoproof_error *error);
isoproof_status iso_execute_script(const isoproof_schedule *plan, const iso_database *database, uint32_t stride,
                                   iso_script *script, isoproof_error *error);
/* From the events of the stepper to the schedule that was executed, with the final state as the database shows it. */
isoproof_status iso_execute_story(iso_stepper *stepper, const isoproof_schedule *plan, uint32_t stride,
                                  isoproof_schedule **executed, isoproof_error *error);

#endif
