/* Decompressing input as base/inflate.h asks for it, without zlib and libzstd; compressed output there is none. */
#include <stdlib.h>
#include <string.h>

#include "base/deflate.h"
#include "browser/gunzip.h"
#include "browser/unzstd.h"

struct iso_inflate {
  iso_packing packing;
  const char *name;
  browser_source source;
  browser_window window;
  bool inside; /* a member or frame has begun and not ended */
  bool begun;  /* the first one has begun */
  uint64_t decoded;
  isoproof_error failure; /* told once everything before it was handed on; its code is ISOPROOF_OK while all is well */
  browser_gunzip gzip;
  browser_unzstd *zstd;
};

isoproof_status iso_inflate_new(iso_packing packing, const char *name, iso_pull_fn pull, void *context,
                                const char *first, size_t first_length, iso_inflate **decoder, isoproof_error *error) {
  *decoder = NULL;
  iso_inflate *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->packing = packing;
  made->name = name;
  bool ready = browser_source_init(&made->source, pull, context, first, first_length);
  if (packing == ISO_PACKING_GZIP) {
    browser_gunzip_init(&made->gzip);
  } else {
    made->zstd = browser_unzstd_new();
    ready = ready && made->zstd != NULL;
  }
  if (!ready) {
    iso_inflate_free(made);
    return iso_fail_memory(error);
  }
  *decoder = made;
  return ISOPROOF_OK;
}

void iso_inflate_free(iso_inflate *decoder) {
  if (decoder == NULL) return;
  browser_source_free(&decoder->source);
  browser_window_free(&decoder->window);
  browser_unzstd_free(decoder->zstd);
  free(decoder);
}

static const char *packing_name(const iso_inflate *decoder) {
  return decoder->packing == ISO_PACKING_GZIP ? "gzip" : "zstd";
}

/* Behind what was decoded, handed on or not. */
static iso_place place_of(const iso_inflate *decoder) {
  uint64_t waiting = decoder->window.end - decoder->window.given;
  return (iso_place){decoder->name, 0, 0, (int64_t)(decoder->decoded + waiting)};
}

static uint64_t read_so_far(const iso_inflate *decoder) { return decoder->source.base + decoder->source.first; }

static isoproof_status corrupt(const iso_inflate *decoder, const char *why, isoproof_error *error) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place_of(decoder), "corrupt %s data near compressed byte %llu: %s",
                     packing_name(decoder), (unsigned long long)read_so_far(decoder), why);
}

static isoproof_status cut_off(const iso_inflate *decoder, isoproof_error *error) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place_of(decoder),
                     "truncated %s data: expected more after compressed byte %llu, found the end of the file",
                     packing_name(decoder), (unsigned long long)read_so_far(decoder));
}

/* Between members: tar and some disks pad with zeros, which gzip ignores too. */
static isoproof_status skip_padding(iso_inflate *decoder, isoproof_error *error) {
  browser_source *source = &decoder->source;
  while (browser_source_more(source)) {
    if (source->raw[source->first] != 0) return corrupt(decoder, "garbage after the end of the stream", error);
    source->first++;
  }
  return ISOPROOF_OK;
}

static isoproof_status step(iso_inflate *decoder, isoproof_error *error) {
  browser_step came_to = decoder->packing == ISO_PACKING_GZIP
                             ? browser_gunzip_step(&decoder->gzip, &decoder->source, &decoder->window)
                             : browser_unzstd_step(decoder->zstd, &decoder->source, &decoder->window);
  decoder->inside = came_to != BROWSER_ENDED;
  decoder->begun = true;
  switch (came_to) {
  case BROWSER_MORE:
  case BROWSER_ENDED:
    return ISOPROOF_OK;
  case BROWSER_CUT:
    return decoder->source.status != ISOPROOF_OK ? decoder->source.status : cut_off(decoder, error);
  case BROWSER_MEMORY:
    return iso_fail_memory(error);
  case BROWSER_BROKEN:
    break;
  }
  const char *why = decoder->packing == ISO_PACKING_GZIP ? decoder->gzip.why : browser_unzstd_why(decoder->zstd);
  return corrupt(decoder, why, error);
}

/* Decodes until there is something to hand on, or nothing comes any more. */
static isoproof_status advance(iso_inflate *decoder, isoproof_error *error) {
  browser_source *source = &decoder->source;
  source->error = error;
  while (decoder->window.given == decoder->window.end) {
    if (!decoder->inside) {
      if (!browser_source_more(source)) return source->status;
      if (decoder->packing == ISO_PACKING_GZIP && decoder->begun && source->raw[source->first] == 0)
        return skip_padding(decoder, error);
    }
    ISO_TRY(step(decoder, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_inflate_read(iso_inflate *decoder, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  browser_window *window = &decoder->window;
  *got = 0;
  if (size == 0) return ISOPROOF_OK;
  if (decoder->failure.code == ISOPROOF_OK) (void)advance(decoder, &decoder->failure);
  size_t waiting = window->end - window->given, part = waiting < size ? waiting : size;
  if (part == 0) {
    if (error != NULL && decoder->failure.code != ISOPROOF_OK) *error = decoder->failure;
    return decoder->failure.code;
  }
  memcpy(buffer, window->bytes + window->given, part);
  window->given += part;
  decoder->decoded += part;
  *got = part;
  return ISOPROOF_OK;
}

isoproof_status iso_deflate_new(isoproof_compression compression, iso_push_fn push, void *context,
                                iso_deflate **encoder, isoproof_error *error) {
  (void)compression, (void)push, (void)context;
  *encoder = NULL;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "output is not compressed in a browser");
}

void iso_deflate_free(iso_deflate *encoder) { (void)encoder; }

isoproof_status iso_deflate_write(iso_deflate *encoder, const void *bytes, size_t size, bool last,
                                  isoproof_error *error) {
  (void)encoder, (void)bytes, (void)size, (void)last;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "output is not compressed in a browser");
}
