/* choices.h - reads on the line that another version would explain as well.
 *
 * A private header of the walk.  Where values repeat, the order decides which version of a class a read saw: the last
 * one before it.  A choice may change as long as the version comes before its reader in the places at hand, so that the
 * order keeps to the known edges under the new choices, too.
 */
#ifndef ISO_CHECK_ORDER_CHOICES_H
#define ISO_CHECK_ORDER_CHOICES_H

#include "check/order/accesses.h"

/* The access that has to be passed for the read at accesses[at] of the key to see its class: of the last write of the
 * class before it, or of the first one behind it; false where there is none near.  For `right` false, *other is
 * UINT32_MAX for the initial version. */
bool iso_choice_nearest(const iso_line *line, uint32_t key, uint32_t at, bool right, uint32_t *other);
/* Whether the read of an access may be of another version. */
static inline bool iso_choice_is_open(const iso_line *line, uint32_t at) {
  return (line->accesses[at].what & ISO_IS_OPEN) != 0;
}
/* Says that an item's read of a key saw what another item wrote, or the initial version for ISO_NO_EVENT. */
void iso_choice_switch(iso_line *line, uint32_t key, uint32_t item, uint32_t source);
/* Remembers the choices, and takes those remembered up again. */
void iso_choices_keep(iso_line *line);
void iso_choices_restore(iso_line *line);

#endif
