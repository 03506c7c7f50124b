/* Decompressing input: zlib for gzip, of one or several members, and libzstd for zstd, behind one decoder. */
#include "base/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { RAW_BLOCK = 256 * 1024, GZIP_WINDOW_BITS = 15 + 16 };

struct iso_inflate {
  iso_packing packing;
  const char *name;
  iso_pull_fn pull;
  void *context;
  unsigned char *raw; /* compressed bytes [first, end) wait to be decoded */
  size_t first, end;
  bool raw_ended;
  bool inside;       /* a member or frame has begun and not ended */
  bool begun;        /* the first member has begun (gzip) */
  bool padding;      /* only zero bytes may follow (gzip) */
  uint64_t raw_base; /* offset of raw[0] in the compressed stream */
  uint64_t decoded;
  bool gzip_ready;
  z_stream gzip;
  ZSTD_DStream *zstd;
};

isoproof_status iso_inflate_new(iso_packing packing, const char *name, iso_pull_fn pull, void *context,
                                const char *first, size_t first_length, iso_inflate **decoder, isoproof_error *error) {
  *decoder = NULL;
  iso_inflate *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->packing = packing;
  made->name = name;
  made->pull = pull;
  made->context = context;
  size_t room = first_length > RAW_BLOCK ? first_length : RAW_BLOCK;
  made->raw = malloc(room);
  bool ready = made->raw != NULL;
  if (packing == ISO_PACKING_GZIP) {
    made->gzip_ready = inflateInit2(&made->gzip, GZIP_WINDOW_BITS) == Z_OK;
    ready = ready && made->gzip_ready;
  } else {
    made->zstd = ZSTD_createDStream();
    ready = ready && made->zstd != NULL;
  }
  if (!ready) {
    iso_inflate_free(made);
    return iso_fail_memory(error);
  }
  memcpy(made->raw, first, first_length);
  made->end = first_length;
  *decoder = made;
  return ISOPROOF_OK;
}

void iso_inflate_free(iso_inflate *decoder) {
  if (decoder == NULL) return;
  if (decoder->gzip_ready) inflateEnd(&decoder->gzip);
  ZSTD_freeDStream(decoder->zstd);
  free(decoder->raw);
  free(decoder);
}

static const char *packing_name(const iso_inflate *decoder) {
  return decoder->packing == ISO_PACKING_GZIP ? "gzip" : "zstd";
}

static isoproof_status corrupt(const iso_inflate *decoder, const char *why, isoproof_error *error) {
  iso_place place = {decoder->name, 0, 0, (int64_t)decoder->decoded};
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "corrupt %s data near compressed byte %llu: %s",
                     packing_name(decoder), (unsigned long long)(decoder->raw_base + decoder->first), why);
}

static isoproof_status cut_off(const iso_inflate *decoder, isoproof_error *error) {
  iso_place place = {decoder->name, 0, 0, (int64_t)decoder->decoded};
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place,
                     "truncated %s data: expected more after compressed byte %llu, found the end of the file",
                     packing_name(decoder), (unsigned long long)(decoder->raw_base + decoder->first));
}

static isoproof_status refill(iso_inflate *decoder, isoproof_error *error) {
  decoder->raw_base += decoder->end;
  decoder->first = decoder->end = 0;
  ISO_TRY(decoder->pull(decoder->context, decoder->raw, RAW_BLOCK, &decoder->end, error));
  if (decoder->end == 0) decoder->raw_ended = true;
  return ISOPROOF_OK;
}

/* Between members: tar and some disks pad with zeros, which gzip ignores too. */
static isoproof_status skip_padding(iso_inflate *decoder, isoproof_error *error) {
  while (decoder->first < decoder->end && decoder->raw[decoder->first] == 0) decoder->first++;
  if (decoder->first < decoder->end) return corrupt(decoder, "garbage after the end of the stream", error);
  return ISOPROOF_OK;
}

/* One step: decodes what there is.  *progress says whether anything moved. */
static isoproof_status step_gzip(iso_inflate *decoder, void *buffer, size_t size, size_t *got, bool *progress,
                                 isoproof_error *error) {
  if (!decoder->inside) {
    if (decoder->padding || (decoder->begun && decoder->raw[decoder->first] == 0)) {
      decoder->padding = true;
      *progress = true;
      return skip_padding(decoder, error);
    }
    inflateReset(&decoder->gzip);
    decoder->inside = decoder->begun = true;
  }
  z_stream *z = &decoder->gzip;
  size_t waiting = decoder->end - decoder->first;
  z->next_in = decoder->raw + decoder->first;
  z->avail_in = (uInt)waiting;
  z->next_out = buffer;
  z->avail_out = size > UINT_MAX ? UINT_MAX : (uInt)size;
  uInt room = z->avail_out;
  int result = inflate(z, Z_NO_FLUSH);
  decoder->first += waiting - z->avail_in;
  *got = room - z->avail_out;
  *progress = *got > 0 || z->avail_in < waiting;
  if (result == Z_STREAM_END) {
    decoder->inside = false;
    *progress = true;
  } else if (result == Z_MEM_ERROR) {
    return iso_fail_memory(error);
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    return corrupt(decoder, z->msg != NULL ? z->msg : "not a gzip stream", error);
  }
  return ISOPROOF_OK;
}

static isoproof_status step_zstd(iso_inflate *decoder, void *buffer, size_t size, size_t *got, bool *progress,
                                 isoproof_error *error) {
  ZSTD_inBuffer in = {decoder->raw, decoder->end, decoder->first};
  ZSTD_outBuffer out = {buffer, size, 0};
  size_t result = ZSTD_decompressStream(decoder->zstd, &out, &in);
  *progress = out.pos > 0 || in.pos > decoder->first;
  if (ZSTD_isError(result)) return corrupt(decoder, ZSTD_getErrorName(result), error);
  decoder->first = in.pos;
  decoder->inside = result != 0;
  *got = out.pos;
  return ISOPROOF_OK;
}

isoproof_status iso_inflate_read(iso_inflate *decoder, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  *got = 0;
  while (*got == 0 && size > 0) {
    bool progress = false;
    if (decoder->first < decoder->end || decoder->inside) {
      if (decoder->packing == ISO_PACKING_GZIP) {
        ISO_TRY(step_gzip(decoder, buffer, size, got, &progress, error));
      } else {
        ISO_TRY(step_zstd(decoder, buffer, size, got, &progress, error));
      }
      decoder->decoded += *got;
    }
    if (progress) continue;
    if (decoder->raw_ended) return decoder->inside ? cut_off(decoder, error) : ISOPROOF_OK;
    if (decoder->first < decoder->end) return corrupt(decoder, "the decoder does not advance", error);
    ISO_TRY(refill(decoder, error));
  }
  return ISOPROOF_OK;
}
