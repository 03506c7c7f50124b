/* menus.h - the versions that open reads can have seen, as literals of the solver that orders events.
 *
 * A read gets its literals when it is first asked about: one per version, of which one must be true; a true one puts
 * the writer before the reader.  A count gets them for all of its rows, and as many rows match as it says.  An optional
 * transaction (open_reads.h) gets a literal that says whether it takes part: its reads need versions only then, it
 * comes before whoever follows it in its session only then, and to observe it makes it true.  Menus own their arrays
 * until iso_menus_free and refer to the rest.
 */
#ifndef ISO_CHECK_STRONG_OPEN_MENUS_H
#define ISO_CHECK_STRONG_OPEN_MENUS_H

#include "check/strong/open/possible.h"
#include "check/strong/refine_steps.h"

typedef struct iso_menu {
  uint32_t first, count; /* in choices and literals; count 0: none yet */
} iso_menu;

typedef struct iso_menus {
  const iso_open_reads *open;
  const iso_event_graph *e;
  iso_refiner *refiner;
  iso_possible *possible;
  iso_menu *menus;           /* by open read */
  ISO_VEC(uint32_t) choices; /* versions */
  ISO_VEC(iso_lit) literals; /* beside them */
  uint8_t *stated;           /* by count */
  iso_lit *part;             /* by transaction: the literal of an optional one, ISO_NO_PART where there is none yet */
  bool sessions;             /* session order counts */
  ISO_VEC(iso_lit) clause;
  uint64_t listed;
} iso_menus;

#define ISO_NO_PART UINT32_MAX

isoproof_status iso_menus_make(const iso_open_reads *open, iso_refiner *refiner, iso_possible *possible, bool sessions,
                               iso_menus *menus, isoproof_error *error);
void iso_menus_free(iso_menus *menus);

/* Gives a read its literals, where it has none. */
isoproof_status iso_menus_list(iso_menus *menus, uint32_t read, isoproof_error *error);
/* States a count; now[i] is what its row number i is at the moment, which is preferred. */
isoproof_status iso_menus_state(iso_menus *menus, uint32_t count, const uint32_t *now, isoproof_error *error);

/* The literal of an optional transaction, made where there is none. */
isoproof_status iso_menus_part(iso_menus *menus, uint32_t txn, iso_lit *literal, isoproof_error *error);
/* Whether a transaction takes part in the last solution. */
bool iso_menus_takes_part(const iso_menus *menus, uint32_t txn);

/* The choice of a listed read that is true in the last solution. */
uint32_t iso_menus_true(const iso_menus *menus, uint32_t read);
/* The one to be tried first: the last one before the reader in the sequence, or else the first one after it. */
uint32_t iso_menus_likely(const iso_menus *menus, uint32_t read);
/* The choice of a version; UINT32_MAX where it is none. */
uint32_t iso_menus_of(const iso_menus *menus, uint32_t read, uint32_t version);
/* Prefers a choice. */
void iso_menus_prefer(iso_menus *menus, uint32_t choice);

#endif
