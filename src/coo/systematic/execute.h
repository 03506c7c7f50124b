/* execute.h - a schedule of rows on a real database: its script, and what came of it as a history.
 * The caller owns texts; a stepper is borrowed. */
#ifndef ISO_COO_SYSTEMATIC_EXECUTE_H
#define ISO_COO_SYSTEMATIC_EXECUTE_H

#include "base/vector.h"
#include "coo/stepper.h"
#include "coo/systematic/schedule.h"

/* Each run of a schedule has keys and values of its own, so that nothing is left of one run in the next; as they are
 * shown and recorded they begin at 0. */
enum {
  ISO_SYS_KEYS_OF_RUN = 8,
  ISO_SYS_VALUES_OF_RUN = 200,
  ISO_SYS_FIRST_MATCHING = 100 /* values from here on match the predicate on values */
};

typedef struct iso_sys_run {
  iso_sys_schedule schedule;
  uint64_t number; /* of the run */
  iso_script script;
  iso_sys_act acts[ISO_SYS_STEPS]; /* by number in the script */
  /* The rows in the end, as the session of each transaction sees them. */
  iso_row final[ISO_SYS_TXNS][ISO_EVENT_ROWS];
  uint32_t final_count[ISO_SYS_TXNS];
} iso_sys_run;

typedef ISO_VEC(char) iso_sys_text_buffer;

/* The key of a row and the value of an insert, an update or a start, as they are shown. */
int64_t iso_sys_key(uint32_t row);
int64_t iso_sys_value(uint32_t txn, uint32_t step, bool other);
int64_t iso_sys_start_value(uint32_t row, iso_sys_start start);

/* The request of a step, with keys and values as they are shown. */
iso_driver_request iso_sys_request(const iso_sys_family *family, uint32_t txn, uint32_t step);
/* The statement of a step, or of a row at the start, on a table. */
size_t iso_sys_sql(const iso_sys_family *family, uint32_t txn, uint32_t step, const char *table, char *buffer,
                   size_t size);
size_t iso_sys_start_sql(const iso_sys_family *family, uint32_t row, const char *table, char *buffer, size_t size);

/* Makes the script; puts the rows at the start there; runs it; reads the final rows and removes them. */
isoproof_status iso_sys_execute(iso_stepper *stepper, const iso_sys_schedule *schedule, uint64_t number,
                                const iso_isolation *isolation, iso_sys_run *run, isoproof_task *task,
                                isoproof_error *error);
/* What the stepper saw as a history in isoproof's own text form, terminated; the same outcome is the same text. */
isoproof_status iso_sys_history(const iso_stepper *stepper, const iso_sys_run *run, iso_sys_text_buffer *text,
                                isoproof_error *error);
/* Whether a step is an update or a delete that found no row. */
bool iso_sys_missed(const iso_step_event *event, const iso_sys_run *run);
/* What a step returned, in words: "10", "absent", "1|10, 2|20", "no rows"; "" for what returns nothing. */
void iso_sys_returned(const iso_step_event *event, const iso_sys_run *run, char *buffer, size_t size);

#endif
