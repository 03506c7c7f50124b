/* Notices of a document: what whoever reads the verdict has to know about the history behind it. */
#include <string.h>

#include "base/abi.h"
#include "history/notice.h"
#include "report/document/assessment.h"
#include "report/document/document.h"
#include "report/document/json.h"

bool iso_document_add_notice(isoproof_document *document, const char *code, uint64_t line, const char *message,
                             size_t length) {
  isoproof_notice made = {.struct_size = sizeof made, .line = line};
  if (document->notices.count >= ISO_DOCUMENT_NOTICES) return true;
  made.code = iso_document_text(&document->arena, code, strlen(code), ISO_DOCUMENT_SCALAR);
  made.message = iso_document_text(&document->arena, message, length, ISO_DOCUMENT_FACT);
  if (made.code == NULL || made.message == NULL) return false;
  for (size_t i = 0; i < document->notices.count; i++) {
    const isoproof_notice *other = &document->notices.items[i];
    if (other->line == line && strcmp(other->code, made.code) == 0 && strcmp(other->message, made.message) == 0)
      return true;
  }
  return iso_vec_push(&document->notices, made);
}

isoproof_status isoproof_document_add_notice(isoproof_document *document, isoproof_notice_code code, uint64_t line,
                                             const char *message, isoproof_error *error) {
  if ((unsigned)code >= ISOPROOF_NOTICES) return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no such notice");
  const char *text = message != NULL ? message : iso_notice_text(code);
  return iso_document_add_notice(document, isoproof_notice_code_name(code), line, text, strlen(text))
             ? ISOPROOF_OK
             : iso_fail_memory(error);
}

bool isoproof_document_notice_at(const isoproof_document *document, size_t number, isoproof_notice *out) {
  return number < document->notices.count && ISO_STRUCT_GIVE(out, document->notices.items[number]);
}

bool iso_document_take_notices(isoproof_document *document, const isoproof_history *history) {
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t i = 0; isoproof_history_notice_at(history, i, &notice); i++) {
    if (!iso_document_add_notice(document, notice.code, notice.line, notice.message, strlen(notice.message)))
      return false;
  }
  return true;
}

void iso_put_notices_json(isoproof_json *json, const isoproof_document *document) {
  iso_json_field_list(json, "notices");
  for (size_t i = 0; i < document->notices.count; i++) {
    const isoproof_notice *notice = &document->notices.items[i];
    isoproof_json_object(json);
    iso_json_field_text(json, "code", notice->code);
    if (notice->line > 0) iso_json_field_u64(json, "line", notice->line);
    iso_json_field_text(json, "message", notice->message);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

void iso_put_notice(iso_output *out, iso_put_fn put, const isoproof_notice *notice) {
  put(out, notice->message);
  if (notice->line > 0) iso_out_printf(out, " (line %llu)", (unsigned long long)notice->line);
}
