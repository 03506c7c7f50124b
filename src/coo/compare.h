/* compare.h - what a comparison of two matrices holds.  It borrows both, and owns the rest. */
#ifndef ISO_COO_COMPARE_H
#define ISO_COO_COMPARE_H

#include "coo/matrix.h"

struct isoproof_coo_comparison {
  const isoproof_coo_matrix *matrix, *other;
  size_t *row_of; /* by row of the first: its counterpart, SIZE_MAX for none */
  bool *taken;    /* by row of the second: it has a counterpart */
  size_t cells;   /* compared */
  ISO_VEC(isoproof_coo_difference) differences;
  ISO_VEC(isoproof_coo_unmatched) unmatched;
};

#endif
