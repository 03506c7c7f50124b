/* abi.h - structs that caller and library may know in different lengths.
 *
 * Every public struct that the caller allocates begins with its size, which the caller sets, unless it is frozen
 * (isoproof/base.h says which).  There is one behaviour for sizes that are not our own: what an older caller does not
 * know has its default (or is not written); what a newer caller knows and we do not must be zero (or is zeroed), so
 * that nothing that somebody asked for is silently left out.  Nothing is owned.
 *
 * A field that is added starts where the struct ended before, its padding included: an older caller leaves anything in
 * its padding.
 */
#ifndef ISO_BASE_ABI_H
#define ISO_BASE_ABI_H

#include <string.h>

#include "base/error.h"

/* Copies the options `theirs` over `own`, which holds the defaults and whose first member is its size; NULL leaves the
 * defaults.  `name` is that of the struct, for messages.  ISOPROOF_ERR_USAGE when the size is not set;
 * ISOPROOF_ERR_UNSUPPORTED when a newer caller asks for something that this library does not know. */
isoproof_status iso_options_read(void *own, size_t own_size, const void *theirs, const char *name,
                                 isoproof_error *error);
/* The same with a struct type: ISO_OPTIONS_READ(isoproof_open_options, &own, theirs, error). */
#define ISO_OPTIONS_READ(type, own, theirs, error)                                                                     \
  iso_options_read((1 ? (own) : (type *)NULL), sizeof(type), (1 ? (theirs) : (const type *)NULL), #type, error)

/* Whether the caller set the size of a struct that is to be filled, which calls that take long ask before they begin;
 * NULL, where the caller wants none, is fine.  ISOPROOF_ERR_USAGE when it is not set. */
isoproof_status iso_struct_check(const void *out, const char *name, isoproof_error *error);
#define ISO_STRUCT_CHECK(type, out, error) iso_struct_check((1 ? (out) : (const type *)NULL), #type, error)

/* iso_struct_give where the sizes differ. */
bool iso_struct_give_part(void *out, const void *own, size_t own_size);

/* Copies `own`, whose first member is its size, to `out`, as far as the size that the caller set there goes, and zeroes
 * what is beyond our own.  False, and nothing is written, when the caller set none.  With a constant size, the usual
 * case is a comparison and a copy of known length. */
static inline bool iso_struct_give(void *out, const void *own, size_t own_size) {
  size_t size;
  memcpy(&size, out, sizeof size);
  if (size != own_size) return iso_struct_give_part(out, own, own_size);
  memcpy((char *)out + sizeof size, (const char *)own + sizeof size, own_size - sizeof size);
  return true;
}
#define ISO_STRUCT_GIVE(out, own) iso_struct_give(out, (1 ? &(own) : (out)), sizeof(own))

#endif
