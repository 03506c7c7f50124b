/* versions.h - the order of the versions of lists, as far as reads show it.
 *
 * A list only grows at its end, so a read shows its appends in the order in which they were made.  The longest list
 * that a transaction that takes part has read of a key is the order of what it shows; every append that it does not
 * show comes after that.  Other reads of the key must be prefixes of it.  Registers have no known order.  Versions own
 * their arrays until iso_versions_free and refer to the view.
 */
#ifndef ISO_CHECK_VIEW_VERSIONS_H
#define ISO_CHECK_VIEW_VERSIONS_H

#include "base/vector.h"
#include "check/view/view.h"
#include "result/finding.h"

/* A known WW edge to some transaction: `from_op` is an append of `from`, `to_op` one of that transaction to the same
 * key, which the longest read of the key shows later, or not at all. */
typedef struct iso_ww {
  uint32_t from;
  uint32_t from_op, to_op;
} iso_ww;

typedef struct iso_versions {
  /* All of these are NULL in a history without lists. */
  uint32_t *first;      /* keys + 1 */
  uint32_t *writer;     /* the writers of each key that its longest read shows, in version order, each once */
  uint32_t *tail_first; /* keys + 1 */
  uint32_t *tail;       /* the writers of each key that it does not show: they come after those, in an unknown order */
  uint32_t *longest;    /* by key: the operation that read it, ISO_NO_OP where nobody read an element */
  uint32_t *place;      /* beside view->write_key: the place among the writers of the key; its tail has the next one */

  uint32_t *writer_place; /* beside view->writer, the same places; made by iso_versions_need_places */

  uint32_t *ww_first; /* txns + 1 */
  iso_ww *ww;         /* by target; enough of them that all known ones follow */

  /* What does not fit: incompatible orders and duplicate elements, each as a finding; and whether a list is torn, that
   * is, shows appends of one transaction with those of another between them: then WW has a cycle of its own. */
  ISO_VEC(iso_finding) broken;
  bool torn;
} iso_versions;

/* The place of something that has none: a register, or a transaction that does not write the key. */
#define ISO_NO_PLACE UINT32_MAX

isoproof_status iso_versions_make(const iso_view *view, iso_versions *versions, isoproof_error *error);
void iso_versions_free(iso_versions *versions);

/* The view needs its writers. */
isoproof_status iso_versions_need_places(const iso_view *view, iso_versions *versions, isoproof_error *error);

/* Whether `earlier` is known to have written the key before `later` did.  Both must write it. */
bool iso_versions_before(const iso_view *view, const iso_versions *versions, uint32_t key, uint32_t earlier,
                         uint32_t later);
/* The place of a transaction among the writers of a key; ISO_NO_PLACE where there is none. */
uint32_t iso_versions_place(const iso_view *view, const iso_versions *versions, uint32_t txn, uint32_t key);

/* Whether each key is a register or a list throughout: what the levels between transactions can be judged on. */
isoproof_status iso_versions_suit(const isoproof_history *history, bool *suit, isoproof_error *error);

#endif
