/* names.h - from the shape of a POP cycle to its class and its name.  Names point into constant tables that nobody
 * owns. */
#ifndef ISO_COO_NAMES_H
#define ISO_COO_NAMES_H

#include <isoproof/coo.h>

isoproof_coo_class iso_coo_class(const isoproof_pop_kind *kinds, size_t length);
isoproof_coo_size iso_coo_size(size_t length, size_t objects);
/* The number in the published table, 0 where it has none, and the name; a cycle that the table has no row for is called
 * after the row that stands for it ("Step IAT"), or after its class. */
unsigned iso_coo_name(const isoproof_pop_kind *kinds, size_t length, size_t objects, const char **name);

#endif
