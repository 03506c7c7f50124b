/* error.h - filling an isoproof_error.  The caller owns the error; every function accepts NULL for it. */
#ifndef ISO_BASE_ERROR_H
#define ISO_BASE_ERROR_H

#include <isoproof/base.h>

/* Where in an input something was found; a zeroed one with offset -1 says nothing. */
typedef struct iso_place {
  const char *file;
  uint64_t line;
  uint64_t column;
  int64_t offset;
} iso_place;

#define ISO_NOWHERE ((iso_place){NULL, 0, 0, -1})

/* Fills the error and returns `code`, so that `return iso_fail(...)` reads well.  The message is made printable:
 * control characters and broken UTF-8 from hostile input become escapes. */
isoproof_status iso_fail(isoproof_error *error, isoproof_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
isoproof_status iso_fail_at(isoproof_error *error, isoproof_status code, iso_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* ISOPROOF_ERR_MEMORY with the usual words. */
isoproof_status iso_fail_memory(isoproof_error *error);
/* ISOPROOF_ERR_IO with the text of errno. */
isoproof_status iso_fail_errno(isoproof_error *error, const char *file, const char *doing);

/* Quotes up to 40 bytes of hostile input for a message: `ab\x00c`..., or "the end of the input" when length is 0. */
const char *iso_quote(const char *bytes, size_t length, char buffer[256]);

/* A failure is never ISOPROOF_OK, which a static analyzer cannot see across files. */
#if defined(__clang_analyzer__) && !defined(ISO_ERROR_DEFINITIONS)
#define iso_fail(error, code, ...) ((void)iso_fail(error, code, __VA_ARGS__), code)
#define iso_fail_at(error, code, ...) ((void)iso_fail_at(error, code, __VA_ARGS__), code)
#define iso_fail_memory(error) ((void)iso_fail_memory(error), ISOPROOF_ERR_MEMORY)
#define iso_fail_errno(error, ...) ((void)iso_fail_errno(error, __VA_ARGS__), ISOPROOF_ERR_IO)
#endif

#define ISO_TRY(expression)                                                                                            \
  do {                                                                                                                 \
    isoproof_status iso_try_status_ = (expression);                                                                    \
    if (iso_try_status_ != ISOPROOF_OK) return iso_try_status_;                                                        \
  } while (0)

#endif
