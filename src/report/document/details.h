/* details.h - the part of the JSON of a result from which reports are made again.  Owns nothing. */
#ifndef ISO_REPORT_DOCUMENT_DETAILS_H
#define ISO_REPORT_DOCUMENT_DETAILS_H

#include "base/output.h"
#include "report/document/document.h"

/* ,"details":[...]: the transactions of an anomaly with their operations; false when memory is out. */
bool iso_put_details_json(iso_output *out, const isoproof_history *history, const isoproof_anomaly *anomaly);
/* What the history says about its run: ,"times" ,"facts" ,"faults" ,"aborts", each where there is something to say. */
bool iso_put_run_json(iso_output *out, const isoproof_history *history);

#endif
