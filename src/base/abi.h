/* abi.h - structs that caller and library may know in different lengths.
 *
 * Every public struct that can grow begins with its size, which the caller sets.  There is one behaviour for sizes that
 * are not our own: what an older caller does not know has its default (or is not written); what a newer caller knows
 * and we do not must be zero (or is zeroed), so that nothing that somebody asked for is silently left out.  Nothing is
 * owned.
 */
#ifndef ISO_BASE_ABI_H
#define ISO_BASE_ABI_H

#include "base/error.h"

/* Copies the options `theirs` over `own`, which holds the defaults and whose first member is its size; NULL leaves the
 * defaults.  `name` is that of the struct, for messages.  ISOPROOF_ERR_USAGE when the size is not set;
 * ISOPROOF_ERR_UNSUPPORTED when a newer caller asks for something that this library does not know. */
isoproof_status iso_options_read(void *own, size_t own_size, const void *theirs, const char *name,
                                 isoproof_error *error);
#define ISO_OPTIONS_READ(own, theirs, error)                                                                           \
  iso_options_read(&(own), sizeof(own), (1 ? (theirs) : &(own)), #theirs, error)

/* Copies `own`, whose first member is its size, to `out`, as far as the size that the caller set there goes, and zeroes
 * what is beyond our own.  False, and nothing is written, when the caller set none. */
bool iso_struct_give(void *out, const void *own, size_t own_size);
#define ISO_STRUCT_GIVE(out, own) iso_struct_give((1 ? (out) : &(own)), &(own), sizeof(own))

#endif
