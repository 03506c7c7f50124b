/* scan_registers.h - what the reads of registers give away without looking at dependencies.
 * The registers and the cases belong to the caller. */
#ifndef ISO_ELLE_SCAN_REGISTERS_H
#define ISO_ELLE_SCAN_REGISTERS_H

#include "elle/elle.h"
#include "elle/infer/registers.h"

/* Values that nobody wrote may have been there before the history began: they are cases only when `garbage` is set. */
isoproof_status iso_elle_scan_registers(const iso_registers *registers, bool garbage, isoproof_task *task,
                                        iso_elle_cases *cases, isoproof_error *error);

#endif
