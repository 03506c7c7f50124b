/* etcd_library.c - libcurl.so.4, and in it the functions that are used. */
#include "database/drivers/etcd_library.h"

#include <stdio.h>
#include <string.h>

#include "database/drivers/library.h"

static const iso_library_function functions[] = {
#define CURL_X(name) {"curl_" #name, offsetof(iso_curl, name)},
    CURL_FUNCTIONS(CURL_X)
#undef CURL_X
};

/* It counts how often, and stays in memory (library.h). */
static isoproof_status initialize(const void *loaded, isoproof_error *error) {
  const iso_curl *curl = loaded;
  CURLcode code = curl->global_init(CURL_GLOBAL_DEFAULT);
  if (code == CURLE_OK) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "etcd: cannot initialize libcurl: %s", curl->easy_strerror(code));
}

static const iso_library library = {.product = "libcurl",
                                    .scheme = "etcd",
                                    .file = "libcurl.so",
                                    .other = "libcurl-gnutls.so",
                                    .variable = "ISOPROOF_LIBCURL",
                                    .package = "libcurl4",
                                    .numbered = true,
                                    .oldest_major = 4,
                                    .newest_major = 4,
                                    .newest_minor = -1,
                                    .functions = functions,
                                    .function_count = sizeof functions / sizeof *functions,
                                    .initialize = initialize};

isoproof_status iso_curl_load(iso_curl *curl, isoproof_error *error) {
  memset(curl, 0, sizeof *curl);
  return iso_library_load(&library, NULL, &curl->library, curl, error);
}

void iso_curl_unload(iso_curl *curl) {
  iso_library_unload(curl->library);
  memset(curl, 0, sizeof *curl);
}

void iso_curl_name(char *buffer, size_t size) {
  iso_curl curl;
  if (iso_curl_load(&curl, NULL) == ISOPROOF_OK)
    snprintf(buffer, size, "libcurl %s", curl.version_info(CURLVERSION_NOW)->version);
  else
    iso_library_missing(&library, buffer, size);
  iso_curl_unload(&curl);
}
