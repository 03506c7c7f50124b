/* doctor_database.h - the checks of `isoproof doctor URL`.  Nothing is owned. */
#ifndef CLI_COMMANDS_DOCTOR_DATABASE_H
#define CLI_COMMANDS_DOCTOR_DATABASE_H

#include "cli/options/options.h"

/* Checks the database that the one argument names; `values` are those of the DATABASE_OPTIONS.  The exit code. */
int doctor_database(const options *parsed, const option_value *values, bool json);

#endif
