/* firebird_library.c - libfbclient.so.2, and in it the functions that are used. */
#include "database/drivers/firebird_library.h"

#include <stdio.h>
#include <string.h>

#include "database/drivers/library.h"

static const iso_library_function functions[] = {
#define FIREBIRD_X(name) {#name, offsetof(iso_fbclient, name)},
    FIREBIRD_FUNCTIONS(FIREBIRD_X)
#undef FIREBIRD_X
};

/* The library ends all its connections when a signal asks the process to end.  How it ends is not the library's
 * business: what was recorded until then is still to be judged, and tables are to be removed. */
static int refuse_signal(const int reason, const int mask, void *user) {
  (void)mask, (void)user;
  return reason == fb_shutrsn_signal ? 1 : 0;
}

/* It stays in memory (library.h), and would ask once for every time that it was told. */
static isoproof_status initialize(const void *loaded, isoproof_error *error) {
  static bool done;
  const iso_fbclient *fb = loaded;
  ISC_STATUS_ARRAY status;
  (void)error;
  if (!done) fb->fb_shutdown_callback(status, refuse_signal, fb_shut_confirmation, NULL);
  done = true;
  return ISOPROOF_OK;
}

static const iso_library library = {.product = "libfbclient",
                                    .scheme = "firebird",
                                    .file = "libfbclient.so",
                                    .variable = "ISOPROOF_LIBFBCLIENT",
                                    .package = "libfbclient2",
                                    .numbered = true,
                                    .oldest_major = 2,
                                    .newest_major = 2,
                                    .newest_minor = -1,
                                    .functions = functions,
                                    .function_count = sizeof functions / sizeof *functions,
                                    .initialize = initialize};

isoproof_status iso_fbclient_load(iso_fbclient *fb, isoproof_error *error) {
  memset(fb, 0, sizeof *fb);
  return iso_library_load(&library, NULL, &fb->library, fb, error);
}

void iso_fbclient_unload(iso_fbclient *fb) {
  iso_library_unload(fb->library);
  memset(fb, 0, sizeof *fb);
}

void iso_fbclient_name(char *buffer, size_t size) {
  iso_fbclient fb;
  char version[128] = "";
  if (iso_fbclient_load(&fb, NULL) == ISOPROOF_OK) {
    fb.isc_get_client_version(version);
    /* "LI-V3.0.11.33703 Firebird 3.0" */
    const char *number = strpbrk(version, "0123456789");
    int length = number != NULL ? (int)strcspn(number, " ") : 0;
    snprintf(buffer, size, "libfbclient %.*s", length, number != NULL ? number : "");
  } else {
    iso_library_missing(&library, buffer, size);
  }
  iso_fbclient_unload(&fb);
}
