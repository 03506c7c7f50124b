/* Copying structs whose size is their first member, whichever side knows more of them. */
#include "base/abi.h"

#include <string.h>

static size_t size_of(const void *sized) {
  size_t size;
  memcpy(&size, sized, sizeof size);
  return size;
}

isoproof_status iso_options_read(void *own, size_t own_size, const void *theirs, const char *name,
                                 isoproof_error *error) {
  if (theirs == NULL) return ISOPROOF_OK;
  size_t size = size_of(theirs);
  if (size < sizeof size) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected its struct_size to be set, found %zu", name, size);
  }
  const unsigned char *bytes = theirs;
  for (size_t i = own_size; i < size; i++) {
    if (bytes[i] == 0) continue;
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "%s: struct_size is %zu, and something is set beyond the %zu bytes that this version knows", name,
                    size, own_size);
  }
  memcpy(own, theirs, size < own_size ? size : own_size);
  memcpy(own, &own_size, sizeof own_size);
  return ISOPROOF_OK;
}

bool iso_struct_give(void *out, const void *own, size_t own_size) {
  size_t size = size_of(out), head = sizeof size;
  if (size < head) return false;
  size_t known = size < own_size ? size : own_size;
  memcpy((char *)out + head, (const char *)own + head, known - head);
  if (size > own_size) memset((char *)out + own_size, 0, size - own_size);
  return true;
}
