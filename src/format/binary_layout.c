/* The sections of the binary form as a table, shared by its reader and its writer. */
#include <stddef.h>

#include "base/hash.h"
#include "format/binary.h"

static const iso_binary_column columns[ISO_SECTION_COUNT] = {
#define ISO_X(name, number, type, column, count, needed)                                                               \
  {#name, number, sizeof(type), offsetof(isoproof_history, column), needed},
    ISO_BINARY_SECTIONS(ISO_X)
#undef ISO_X
};

const iso_binary_column *iso_binary_column_of(uint32_t number) {
  return number >= 1 && number <= ISO_SECTION_COUNT ? &columns[number - 1] : NULL;
}

uint64_t iso_binary_elements(uint32_t number, const iso_binary_header *header) {
  const iso_binary_header *h = header;
  const uint64_t counts[ISO_SECTION_COUNT] = {
#define ISO_X(name, section, type, column, count, needed) count,
      ISO_BINARY_SECTIONS(ISO_X)
#undef ISO_X
  };
  return number >= 1 && number <= ISO_SECTION_COUNT ? counts[number - 1] : 0;
}

uint64_t iso_binary_header_checksum(const iso_binary_header *header, const iso_binary_section *table) {
  iso_binary_header copy = *header;
  copy.checksum = 0;
  uint64_t first = iso_hash_bytes(&copy, sizeof copy, 0);
  /* The first hash seeds the second one. */
  return iso_hash_bytes(table, header->section_count * sizeof *table, first);
}
