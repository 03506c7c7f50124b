/* sequence_diagram.h - the transactions of an anomaly side by side, for a terminal of 80 columns.  Nothing here owns
 * anything. */
#ifndef ISO_REPORT_TEXT_SEQUENCE_DIAGRAM_H
#define ISO_REPORT_TEXT_SEQUENCE_DIAGRAM_H

#include <isoproof/report.h>

#include "base/output.h"

typedef struct iso_diagram_style {
  bool color;
  bool unicode; /* lines and arrows instead of dashes and signs */
  size_t room;  /* columns */
} iso_diagram_style;

/* Sessions as columns, operations downwards in an order that agrees with the dependencies, an arrow for each
 * dependency; nothing where the anomaly has fewer than two transactions or more than fit into the room. */
void iso_put_sequence_diagram(iso_output *out, const isoproof_document_anomaly *anomaly, iso_diagram_style style);

#endif
