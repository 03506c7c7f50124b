/* postgres_library.c - libpq.so.5, and in it the functions that are used. */
#include "database/drivers/postgres_library.h"

#include <stdio.h>
#include <string.h>

#include "database/drivers/library.h"

static const iso_library_function functions[] = {
#define PQ_X(name) {"PQ" #name, offsetof(iso_pq, name)},
    PQ_FUNCTIONS(PQ_X)
#undef PQ_X
};

static const iso_library library = {.product = "libpq",
                                    .scheme = "postgres",
                                    .file = "libpq.so",
                                    .variable = "ISOPROOF_LIBPQ",
                                    .package = "libpq5",
                                    .numbered = true,
                                    .oldest_major = 5,
                                    .newest_major = 5,
                                    .newest_minor = -1,
                                    .functions = functions,
                                    .function_count = sizeof functions / sizeof *functions};

isoproof_status iso_pq_load(iso_pq *pq, isoproof_error *error) {
  memset(pq, 0, sizeof *pq);
  return iso_library_load(&library, NULL, &pq->library, pq, error);
}

void iso_pq_unload(iso_pq *pq) {
  iso_library_unload(pq->library);
  memset(pq, 0, sizeof *pq);
}

void iso_pq_name(char *buffer, size_t size) {
  iso_pq pq;
  if (iso_pq_load(&pq, NULL) == ISOPROOF_OK) {
    int version = pq.libVersion();
    snprintf(buffer, size, "libpq %d.%d", version / 10000, version % 10000);
  } else {
    iso_library_missing(&library, buffer, size);
  }
  iso_pq_unload(&pq);
}
