/* Which formats can be read piece by piece, and codes carried from one piece to the next. */
#include "format/stream.h"

const iso_stream_table *iso_stream_of(isoproof_format format) {
  switch (format) {
  case ISOPROOF_FORMAT_PLUME:
    return &iso_plume_stream;
  case ISOPROOF_FORMAT_EDN:
    return &iso_edn_stream;
  case ISOPROOF_FORMAT_JSON:
    return &iso_json_stream;
  case ISOPROOF_FORMAT_VERISTRONG:
    return &iso_veristrong_stream;
  case ISOPROOF_FORMAT_JSONL:
    return &iso_jsonl_stream;
  default:
    return NULL;
  }
}

isoproof_status iso_stream_code(const isoproof_history *from, isoproof_builder *builder, iso_value value,
                                iso_value *code, isoproof_error *error) {
  *code = value;
  if (value <= ISO_VALUE_NIL || value >= ISO_VALUE_COUNTED) return ISOPROOF_OK;
  return iso_pool_add(iso_builder_pool(builder), iso_history_scalar(from, value), code, error);
}
