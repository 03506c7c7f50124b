/* value_tag.h - values that say which run wrote them.
 *
 * In a table a register holds its value with the tag of the run in the low bits, value * 2^bits + tag.  So stored
 * values have the order of the values, an addition needs no knowledge of the tag, and a value that moves from row to
 * row stays what it is: a database that mixes up its rows is seen to do so.  The highest bit of a tag is set, so that
 * small numbers of somebody else's are never taken for ours.  An element of a list carries fewer bits, which depend on
 * the element: lists are long, and every element is looked at.  Nothing is owned.
 */
#ifndef ISO_DATABASE_VALUE_TAG_H
#define ISO_DATABASE_VALUE_TAG_H

#include <stdbool.h>
#include <stdint.h>

enum { ISO_MOST_TAG_BITS = 30, ISO_LIST_TAG_BITS = 13 };

typedef struct iso_value_tag {
  uint32_t bits; /* of registers; 0: values are stored as they are */
  int64_t tag;
  uint64_t run;
} iso_value_tag;

iso_value_tag iso_value_tag_of(uint64_t run, uint32_t bits);
/* False when the value is too large to carry the tag; *stored is the next one that can then. */
bool iso_value_tag_put(const iso_value_tag *tag, int64_t value, int64_t *stored);
/* False when it is not a value of the run. */
bool iso_value_tag_get(const iso_value_tag *tag, int64_t stored, int64_t *value);
bool iso_value_tag_put_element(const iso_value_tag *tag, int64_t value, int64_t *stored);
bool iso_value_tag_get_element(const iso_value_tag *tag, int64_t stored, int64_t *value);

#endif
