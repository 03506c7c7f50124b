/* Compressing output: zlib for gzip, libzstd for zstd, behind one encoder. */
#include "base/deflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { OUT_BLOCK = 256 * 1024, GZIP_WINDOW_BITS = 15 + 16, GZIP_MEMORY = 8, ZSTD_LEVEL = 3 };

struct iso_deflate {
  iso_push_fn push;
  void *context;
  char *out;
  bool gzip_ready;
  z_stream gzip;
  ZSTD_CCtx *zstd;
};

isoproof_status iso_deflate_new(isoproof_compression compression, iso_push_fn push, void *context,
                                iso_deflate **encoder, isoproof_error *error) {
  *encoder = NULL;
  iso_deflate *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->push = push;
  made->context = context;
  made->out = malloc(OUT_BLOCK);
  bool ready = made->out != NULL;
  if (compression == ISOPROOF_COMPRESS_GZIP) {
    made->gzip_ready = deflateInit2(&made->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
                                    Z_DEFAULT_STRATEGY) == Z_OK;
    ready = ready && made->gzip_ready;
  } else {
    made->zstd = ZSTD_createCCtx();
    ready = ready && made->zstd != NULL &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_checksumFlag, 1));
  }
  if (!ready) {
    iso_deflate_free(made);
    return iso_fail_memory(error);
  }
  *encoder = made;
  return ISOPROOF_OK;
}

void iso_deflate_free(iso_deflate *encoder) {
  if (encoder == NULL) return;
  if (encoder->gzip_ready) deflateEnd(&encoder->gzip);
  ZSTD_freeCCtx(encoder->zstd);
  free(encoder->out);
  free(encoder);
}

static isoproof_status write_gzip(iso_deflate *encoder, const void *bytes, size_t size, bool last,
                                  isoproof_error *error) {
  z_stream *z = &encoder->gzip;
  const unsigned char *next = bytes;
  for (;;) {
    size_t part = size > UINT_MAX ? UINT_MAX : size;
    bool final = last && part == size;
    /* zlib does not write to its input. */
    z->next_in = (z_const Bytef *)(uintptr_t)next;
    z->avail_in = (uInt)part;
    do {
      z->next_out = (Bytef *)encoder->out;
      z->avail_out = OUT_BLOCK;
      if (deflate(z, final ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) {
        return iso_fail(error, ISOPROOF_ERR_INTERNAL, "gzip compression failed");
      }
      size_t made = OUT_BLOCK - z->avail_out;
      if (made > 0 && !encoder->push(encoder->context, encoder->out, made)) return ISOPROOF_ERR_IO;
    } while (z->avail_out == 0);
    next += part;
    size -= part;
    if (size == 0) return ISOPROOF_OK;
  }
}

static isoproof_status write_zstd(iso_deflate *encoder, const void *bytes, size_t size, bool last,
                                  isoproof_error *error) {
  ZSTD_inBuffer in = {bytes, size, 0};
  size_t left;
  do {
    ZSTD_outBuffer out = {encoder->out, OUT_BLOCK, 0};
    left = ZSTD_compressStream2(encoder->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      return iso_fail(error, ISOPROOF_ERR_INTERNAL, "zstd compression failed: %s", ZSTD_getErrorName(left));
    }
    if (out.pos > 0 && !encoder->push(encoder->context, encoder->out, out.pos)) return ISOPROOF_ERR_IO;
  } while (last ? left != 0 : in.pos < in.size);
  return ISOPROOF_OK;
}

isoproof_status iso_deflate_write(iso_deflate *encoder, const void *bytes, size_t size, bool last,
                                  isoproof_error *error) {
  return encoder->zstd != NULL ? write_zstd(encoder, bytes, size, last, error)
                               : write_gzip(encoder, bytes, size, last, error);
}
