/* machine.h - carries out sections of a script for one session: hands out what is to be sent, one by one.
 *
 * A machine borrows the script, owns its variables, and belongs to one thread.  What it hands out lives until the next
 * call on it. */
#ifndef ISO_SCRIPT_MACHINE_H
#define ISO_SCRIPT_MACHINE_H

#include "script/script.h"

typedef struct iso_machine {
  const iso_script *script;
  iso_script_quoting quoting;
  iso_script_variables variables;
  iso_script_random random;
  const iso_section *section;
  uint32_t next; /* command of the section */
  ISO_VEC(char) sql;
  /* As they were when the section began or the last transaction of it ended, for another attempt. */
  uint32_t kept_next;
  iso_script_variables kept;
  iso_script_random kept_random;
} iso_machine;

/* Variables: client_id, random_seed, default_seed, scale (1), and `defined` ones, which may replace all of these. */
isoproof_status iso_machine_open(iso_machine *machine, const iso_script *script, iso_script_quoting quoting,
                                 int64_t client, uint64_t seed, const iso_script_variables *defined,
                                 isoproof_error *error);
void iso_machine_close(iso_machine *machine);

/* Takes over variables (of the setup) but for those that are the session's own. */
isoproof_status iso_machine_inherit(iso_machine *machine, const iso_script_variables *variables, isoproof_error *error);

/* Draws a transaction by weight. */
const iso_section *iso_machine_draw(iso_machine *machine);
/* Begins a section at its first command. */
isoproof_status iso_machine_start(iso_machine *machine, const iso_section *section, isoproof_error *error);
/* Keeps this moment: where the section is, variables and random numbers; and goes back to the one kept last, the start
 * of the section where none was kept since. */
isoproof_status iso_machine_mark(iso_machine *machine, isoproof_error *error);
isoproof_status iso_machine_restart(iso_machine *machine, isoproof_error *error);

/* Goes on to the next statement, BEGIN, COMMIT, ROLLBACK or \sleep; *command is NULL at the end of the section.  What
 * cannot be evaluated is ISOPROOF_ERR_USAGE with its place. */
isoproof_status iso_machine_next(iso_machine *machine, const iso_command **command, isoproof_error *error);

/* The text of a statement with its variables replaced. */
isoproof_status iso_machine_sql(iso_machine *machine, const iso_command *command, const char **sql,
                                isoproof_error *error);
/* The text of a variable; NULL when there is none. */
const char *iso_machine_value(const iso_machine *machine, const char *name);
/* How long to sleep. */
isoproof_status iso_machine_sleep(iso_machine *machine, const iso_command *command, double *seconds,
                                  isoproof_error *error);
/* A variable from a column of the answer, for \gset; `text` NULL is SQL's null. */
isoproof_status iso_machine_store(iso_machine *machine, const iso_command *command, const char *column,
                                  const char *text, isoproof_error *error);

#endif
