/* The page of web/ with the data of a document in it. */
#include <string.h>

#include "base/abi.h"
#include "report/page/page.h"
#include "report/page/page_data.h"

enum { DEFAULT_MEGABYTES = 20 };

/* Counts what goes through. */
typedef struct counted {
  isoproof_write_fn write;
  void *user;
  uint64_t bytes;
} counted;

static bool pass_on(void *user, const void *data, size_t size) {
  counted *to = user;
  to->bytes += size;
  return to->write(to->user, data, size);
}

/* Where the data go: the page has exactly one such place, which the build makes sure of. */
static size_t find_place(void) {
  static const char marker[] = "<!--isoproof:data-->";
  const char *found = memmem(iso_page, iso_page_size, marker, sizeof marker - 1);
  return found != NULL ? (size_t)(found - (const char *)iso_page) : iso_page_size;
}

/* The data alone, or the page around them as well. */
static isoproof_status write_page(const isoproof_document *document, const isoproof_draw_options *options, bool whole,
                                  isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_draw_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  if (known.max_bytes == 0) known.max_bytes = (uint64_t)DEFAULT_MEGABYTES << 20;
  iso_page_data page;
  counted to = {write, user, 0};
  isoproof_status status = iso_page_data_init(&page, document, known.max_bytes) ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_output_open_callback(pass_on, &to, ISOPROOF_COMPRESS_NO, &page.out, error);
  if (status == ISOPROOF_OK) {
    size_t place = whole ? find_place() : 0;
    page.written = &to.bytes;
    if (whole) {
      iso_out_bytes(page.out, iso_page, place);
      iso_out_text(page.out, "<script type=\"application/json\" id=\"isoproof-report\">");
    }
    iso_page_data_put(&page);
    if (whole) {
      iso_out_text(page.out, "</script>");
      iso_out_bytes(page.out, iso_page + place, iso_page_size - place);
    }
    if (page.failed) {
      iso_output_abandon(page.out);
      status = iso_fail_memory(error);
    } else {
      status = iso_output_close(page.out, error);
    }
  }
  iso_page_data_free(&page);
  return status;
}

isoproof_status isoproof_document_write_html(const isoproof_document *document, const isoproof_draw_options *options,
                                             isoproof_write_fn write, void *user, isoproof_error *error) {
  return write_page(document, options, true, write, user, error);
}

isoproof_status iso_page_data_write(const isoproof_document *document, const isoproof_draw_options *options,
                                    isoproof_write_fn write, void *user, isoproof_error *error) {
  return write_page(document, options, false, write, user, error);
}
