/* scan_registers.h - the non-cycle anomalies of registers.
 * The registers and what is found belong to the caller. */
#ifndef ISO_ELLE_SCAN_REGISTERS_H
#define ISO_ELLE_SCAN_REGISTERS_H

#include "elle/infer/registers.h"
#include "elle/noncycle.h"

/* Values that nobody wrote may have been there before the history began: they are anomalies only when `garbage` is set.
 */
isoproof_status iso_elle_scan_registers(const iso_registers *registers, bool garbage, isoproof_task *task,
                                        iso_noncycle_anomalies *found, isoproof_error *error);

#endif
