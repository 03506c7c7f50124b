/* repair.c - a mutator for the binary form, whose checksums would otherwise stop the fuzzer at the door: after each
 * mutation it mends the size and the checksums, mostly. */
#include <string.h>

#include "base/hash.h"
#include "format/binary.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static void repair(uint8_t *data, size_t size) {
  iso_binary_header header;
  iso_binary_section table[ISO_SECTION_COUNT];
  if (size < sizeof header) return;
  memcpy(&header, data, sizeof header);
  memcpy(header.magic, ISO_BINARY_MAGIC, ISO_BINARY_MAGIC_BYTES);
  header.version = ISO_BINARY_VERSION;
  header.endian = ISO_BINARY_ENDIAN;
  header.file_bytes = size;
  if (header.section_count <= ISO_SECTION_COUNT && size >= sizeof header + header.section_count * sizeof *table) {
    memcpy(table, data + sizeof header, header.section_count * sizeof *table);
    for (uint32_t i = 0; i < header.section_count; i++) {
      iso_binary_section *section = &table[i];
      if (section->offset > size || section->bytes > size - section->offset) continue;
      section->checksum = iso_hash_bytes(data + section->offset, section->bytes, 0);
    }
    memcpy(data + sizeof header, table, header.section_count * sizeof *table);
    header.checksum = iso_binary_header_checksum(&header, table);
  }
  memcpy(data, &header, sizeof header);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 16 != 0) repair(data, size);
  return size;
}
