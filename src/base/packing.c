/* How a stream is compressed, by the numbers that it begins with (RFC 1952, RFC 8878): decoders of every kind ask this.
 */
#include "base/inflate.h"

#define ZSTD_FRAME UINT32_C(0xfd2fb528)
/* Frames of something else, to be passed over: sixteen numbers. */
#define ZSTD_SKIPPABLE UINT32_C(0x184d2a50)
#define ZSTD_SKIPPABLE_MASK UINT32_C(0xfffffff0)

iso_packing iso_packing_of(const char *bytes, size_t length) {
  const unsigned char *b = (const unsigned char *)bytes;
  if (length >= 3 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8) return ISO_PACKING_GZIP;
  if (length < 4) return ISO_PACKING_NONE;
  uint32_t magic = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
  return magic == ZSTD_FRAME || (magic & ZSTD_SKIPPABLE_MASK) == ZSTD_SKIPPABLE ? ISO_PACKING_ZSTD : ISO_PACKING_NONE;
}
