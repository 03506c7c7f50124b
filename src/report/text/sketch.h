/* sketch.h - the transactions of an anomaly side by side, for a terminal of 80 columns.  Nothing here owns anything. */
#ifndef ISO_REPORT_TEXT_SKETCH_H
#define ISO_REPORT_TEXT_SKETCH_H

#include <isoproof/report.h>

#include "base/output.h"

typedef struct iso_sketch_style {
  bool color;
  bool unicode; /* lines and arrows instead of dashes and signs */
} iso_sketch_style;

/* Sessions as columns, operations downwards in an order that agrees with the dependencies, an arrow for each
 * dependency; nothing where the anomaly has fewer than two transactions or more than fit. */
void iso_put_sketch(iso_output *out, const isoproof_document_anomaly *anomaly, iso_sketch_style style);

#endif
