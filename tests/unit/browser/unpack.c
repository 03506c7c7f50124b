/* The decoders of the browser against zlib and libzstd: everything that these write, whole, cut off and damaged. */
#include "tests/unit/unit.h"

#include <zlib.h>
#include <zstd.h>

#include "base/inflate.h"

typedef struct bytes {
  unsigned char *data;
  size_t size;
} bytes;

static bytes make(size_t size) {
  bytes made = {malloc(size + 1), size};
  assert_non_null(made.data);
  return made;
}

/* ---- texts ---- */

enum { SHAPES = 6 };

/* Zeros, noise, letters, lines as of a history, blocks that come again from far away, runs. */
static bytes make_text(unsigned shape, size_t size, uint64_t *state) {
  bytes text = make(size);
  for (size_t i = 0; i < size;) {
    char line[64];
    uint64_t r = unit_random(state);
    int length = 1;
    line[0] = (char)(shape == 0 ? 0 : shape == 1 ? r >> 40 : 'a' + (r >> 40) % 26);
    if (shape == 3)
      length = snprintf(line, sizeof line, "r(%u,%u,%u)\n", (unsigned)(r % 50), (unsigned)i, (unsigned)(r % 7));
    if (shape == 5) memset(line, (int)(r % 5), (size_t)(length = (int)((r >> 8) % 60) + 1));
    for (int k = 0; k < length && i < size; k++) text.data[i++] = (unsigned char)line[k];
    if (shape == 4 && i > 70000 && r % 9 == 0) {
      size_t from = (size_t)(r >> 20) % (i - 3000), part = (size_t)(r >> 50) % 3000;
      for (size_t k = 0; k < part && i < size; k++) text.data[i++] = text.data[from + k];
    }
  }
  return text;
}

/* ---- encoders ---- */

static bytes gzip(bytes text, int level, int strategy) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, strategy), Z_OK);
  bytes made = make(deflateBound(&z, (uLong)text.size) + 64);
  z.next_in = text.data;
  z.avail_in = (uInt)text.size;
  z.next_out = made.data;
  z.avail_out = (uInt)made.size;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  made.size = z.total_out;
  deflateEnd(&z);
  return made;
}

/* As a stream of unknown size, flushed now and then, or at once. */
static bytes zstd(bytes text, int level, bool streamed, bool checked, int window) {
  /* One for all: at high levels it is large. */
  static ZSTD_CCtx *context = NULL;
  if (context == NULL) context = ZSTD_createCCtx();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  bytes made = make(2 * ZSTD_compressBound(text.size) + 4096);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checked);
  if (window != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
  if (!streamed) {
    made.size = ZSTD_compress2(context, made.data, made.size, text.data, text.size);
    assert_false(ZSTD_isError(made.size));
  } else {
    ZSTD_outBuffer out = {made.data, made.size, 0};
    for (size_t at = 0; at < text.size; at += 50000) {
      ZSTD_inBuffer in = {text.data + at, text.size - at < 50000 ? text.size - at : 50000, 0};
      while (in.pos < in.size) assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
      assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0);
    }
    ZSTD_inBuffer none = {NULL, 0, 0};
    assert_int_equal(ZSTD_compressStream2(context, &out, &none, ZSTD_e_end), 0);
    made.size = out.pos;
  }
  return made;
}

/* ---- decoding ---- */

typedef struct feed {
  bytes from;
  size_t at, piece; /* bytes at a time */
} feed;

static isoproof_status pull(void *context, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  feed *f = context;
  (void)error;
  *got = f->from.size - f->at;
  if (*got > size) *got = size;
  if (*got > f->piece) *got = f->piece;
  memcpy(buffer, f->from.data + f->at, *got);
  f->at += *got;
  return ISOPROOF_OK;
}

/* Decodes into `out`, which has room for `most`; more than that counts as a failure, to bear with bombs. */
static isoproof_status decode(bytes packed, size_t piece, bytes *out, size_t most, isoproof_error *error) {
  iso_inflate *decoder;
  feed f = {packed, packed.size < 7 ? packed.size : 7, piece};
  *out = make(most);
  out->size = 0;
  isoproof_status status = iso_inflate_new(iso_packing_of((const char *)packed.data, packed.size), "packed", pull, &f,
                                           (const char *)packed.data, f.at, &decoder, error);
  assert_ok(status);
  for (size_t got = 1; got > 0 && status == ISOPROOF_OK;) {
    if (out->size == most) {
      unsigned char more;
      status = iso_inflate_read(decoder, &more, 1, &got, error);
      if (status == ISOPROOF_OK && got > 0) status = ISOPROOF_ERR_LIMIT;
      break;
    }
    status = iso_inflate_read(decoder, out->data + out->size, most - out->size, &got, error);
    out->size += got;
  }
  iso_inflate_free(decoder);
  return status;
}

static void same(bytes packed, bytes text, size_t piece) {
  bytes out;
  isoproof_error error = {.offset = -1};
  assert_ok_error(decode(packed, piece, &out, text.size, &error), error);
  assert_int_equal(out.size, text.size);
  assert_true(text.size == 0 || memcmp(out.data, text.data, text.size) == 0);
  free(out.data);
}

static bytes join(bytes a, bytes b) {
  bytes made = make(a.size + b.size);
  memcpy(made.data, a.data, a.size);
  memcpy(made.data + a.size, b.data, b.size);
  return made;
}

/* ---- tests ---- */

static const size_t sizes[] = {0, 1, 5, 300, 40000, 131072, 131073, 400000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void test_gzip(void **context) {
  static const int how[][2] = {{0, Z_DEFAULT_STRATEGY},
                               {1, Z_DEFAULT_STRATEGY},
                               {6, Z_DEFAULT_STRATEGY},
                               {9, Z_DEFAULT_STRATEGY},
                               {6, Z_FIXED},
                               {6, Z_HUFFMAN_ONLY},
                               {6, Z_RLE}};
  uint64_t state = 7;
  (void)context;
  for (unsigned shape = 0; shape < SHAPES; shape++) {
    for (unsigned s = 0; s < UNLESS_SLOW(SIZES, SIZES - 1); s++) {
      bytes text = make_text(shape, sizes[s], &state);
      for (size_t h = 0; h < sizeof how / sizeof how[0]; h++) {
        bytes packed = gzip(text, how[h][0], how[h][1]);
        same(packed, text, s % 2 == 0 ? 999 : SIZE_MAX);
        free(packed.data);
      }
      free(text.data);
    }
  }
}

static void test_zstd(void **context) {
  static const int levels[] = {-5, 1, 3, 9, 16, 19};
  uint64_t state = 11;
  (void)context;
  for (unsigned shape = 0; shape < SHAPES; shape++) {
    for (unsigned s = 0; s < UNLESS_SLOW(SIZES, SIZES - 1); s++) {
      bytes text = make_text(shape, sizes[s], &state);
      for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++) {
        bytes packed = zstd(text, levels[l], (l + s) % 2 == 0, l % 3 != 0, (l + shape) % 4 == 0 ? 12 : 0);
        same(packed, text, s % 2 == 0 ? 777 : SIZE_MAX);
        free(packed.data);
      }
      free(text.data);
    }
  }
}

/* Members and frames one after the other; zeros after gzip, skippable frames around zstd. */
static void test_several(void **context) {
  static unsigned char skipped[] = {0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, zeros[600];
  uint64_t state = 3;
  bytes text = make_text(3, 70000, &state), twice = join(text, text);
  bytes parts[] = {gzip(text, 6, Z_DEFAULT_STRATEGY), zstd(text, 3, false, true, 0)};
  bytes extras[] = {{zeros, sizeof zeros}, {skipped, sizeof skipped}};
  (void)context;
  for (int i = 0; i < 2; i++) {
    bytes two = join(parts[i], parts[i]), whole = join(two, extras[i]);
    same(two, twice, 1000);
    same(whole, twice, 1000);
    free(two.data);
    free(whole.data);
  }
  bytes before = join(extras[1], parts[1]);
  same(before, text, 5);
  free(before.data);
  free(parts[0].data);
  free(parts[1].data);
  free(text.data);
  free(twice.data);
}

static void test_cut_off(void **context) {
  uint64_t state = 5;
  bytes text = make_text(3, 30000, &state);
  bytes all[] = {gzip(text, 6, Z_DEFAULT_STRATEGY), gzip(text, 0, Z_DEFAULT_STRATEGY), zstd(text, 3, true, true, 0)};
  (void)context;
  for (int i = 0; i < 3; i++) {
    for (size_t size = 4; size < all[i].size; size += 1 + size / 20) {
      bytes out, part = {all[i].data, size};
      isoproof_error error = {.offset = -1};
      assert_int_equal(decode(part, 4096, &out, text.size, &error), ISOPROOF_ERR_FORMAT);
      assert_non_null(strstr(error.message, "truncated"));
      assert_int_equal(error.offset, out.size);
      assert_memory_equal(out.data, text.data, out.size);
      free(out.data);
    }
    free(all[i].data);
  }
  free(text.data);
}

/* What zlib and libzstd make of the same bytes; false where they refuse them. */
static bool reference(bytes packed, bytes *out, size_t most) {
  *out = make(most);
  if (iso_packing_of((const char *)packed.data, packed.size) == ISO_PACKING_ZSTD) {
    out->size = ZSTD_decompress(out->data, most, packed.data, packed.size);
    return !ZSTD_isError(out->size);
  }
  z_stream z = {.next_in = packed.data, .avail_in = (uInt)packed.size, .next_out = out->data, .avail_out = (uInt)most};
  assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
  int result = inflate(&z, Z_FINISH);
  out->size = z.total_out;
  bool whole = result == Z_STREAM_END && z.avail_in == 0;
  inflateEnd(&z);
  return whole;
}

/* Damaged data are refused where the libraries refuse them, and mean the same where they do not.  libzstd bears with a
 * stream of bits that ends too early, and before 1.5.5 with reserved bits that are set, which we do not. */
static void test_damaged(void **context) {
  uint64_t state = 13;
  int refused = 0;
  (void)context;
  for (int round = 0; round < UNLESS_SLOW(1500, 200); round++) {
    bytes text = make_text((unsigned)round % SHAPES, 1 + (size_t)unit_random(&state) % 3000, &state), out, theirs;
    bytes packed = round % 2 == 0 ? gzip(text, round % 10, round / 10 % 5)
                                  : zstd(text, round % 20 - 2, round % 3 == 0, round % 4 < 2, 0);
    for (uint64_t left = unit_random(&state) % 3; left < 3; left++)
      packed.data[4 + unit_random(&state) % (packed.size - 4)] ^= (unsigned char)(1 << unit_random(&state) % 8);
    bool accepted = reference(packed, &theirs, 1 << 16);
    isoproof_error error = {.offset = -1};
    bool ours = decode(packed, SIZE_MAX, &out, 1 << 16, &error) == ISOPROOF_OK;
    if (round % 2 == 0 ? ours != accepted : ours && !accepted)
      fail_msg("round %d: libraries %d, we %d: %s", round, accepted, ours, error.message);
    if (ours) {
      assert_int_equal(out.size, theirs.size);
      assert_true(out.size == 0 || memcmp(out.data, theirs.data, out.size) == 0);
    }
    refused += !accepted;
    free(text.data);
    free(packed.data);
    free(out.data);
    free(theirs.data);
  }
  assert_true(refused > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gzip), cmocka_unit_test(test_zstd),
                                     cmocka_unit_test(test_several), cmocka_unit_test(test_cut_off),
                                     cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
