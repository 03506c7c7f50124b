/* coo_systematic.h - what the files of `isoproof coo --systematic` share.  The runs belong to the caller. */
#ifndef CLI_COMMANDS_COO_SYSTEMATIC_H
#define CLI_COMMANDS_COO_SYSTEMATIC_H

#include <isoproof/systematic.h>

#include "cli/commands/coo.h"

/* In the form that the options ask for. */
void coo_systematic_show(const options *parsed, const isoproof_systematic *runs);
void coo_systematic_json(const isoproof_systematic *runs);

#endif
