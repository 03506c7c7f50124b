/* Copying structs whose size is their first member, whichever side knows more of them. */
#include "base/abi.h"

static size_t size_of(const void *sized) {
  size_t size;
  memcpy(&size, sized, sizeof size);
  return size;
}

static isoproof_status fail_unset(const char *name, size_t size, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_USAGE, "struct_size: expected sizeof(%s), found %zu", name, size);
}

isoproof_status iso_options_read(void *own, size_t own_size, const void *theirs, const char *name,
                                 isoproof_error *error) {
  memcpy(own, &own_size, sizeof own_size);
  if (theirs == NULL) return ISOPROOF_OK;
  size_t size = size_of(theirs), head = sizeof size;
  if (size < head) return fail_unset(name, size, error);
  const unsigned char *bytes = theirs;
  for (size_t i = own_size; i < size; i++) {
    if (bytes[i] == 0) continue;
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "%s: byte %zu is set, beyond the %zu bytes that this version of isoproof knows", name, i, own_size);
  }
  memcpy((char *)own + head, bytes + head, (size < own_size ? size : own_size) - head);
  return ISOPROOF_OK;
}

isoproof_status iso_struct_check(const void *out, const char *name, isoproof_error *error) {
  if (out == NULL || size_of(out) >= sizeof(size_t)) return ISOPROOF_OK;
  return fail_unset(name, size_of(out), error);
}

bool iso_struct_give_part(void *out, const void *own, size_t own_size) {
  size_t size = size_of(out), head = sizeof size;
  if (size < head) return false;
  size_t known = size < own_size ? size : own_size;
  memcpy((char *)out + head, (const char *)own + head, known - head);
  if (size > own_size) memset((char *)out + own_size, 0, size - own_size);
  return true;
}
