/* report.c - the fuzz target of saved results: whatever is read as one must survive every renderer. */
#include <isoproof/isoproof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool count(void *user, const void *data, size_t size) {
  (void)data;
  *(size_t *)user += size;
  return true;
}

static void expect(bool condition, const char *what, const isoproof_error *error) {
  if (condition) return;
  fprintf(stderr, "broken: %s: %s\n", what, error != NULL ? error->message : "");
  abort();
}

static void look(const isoproof_document *document) {
  isoproof_level_verdict level = {.struct_size = sizeof level};
  isoproof_document_fact fact = {.struct_size = sizeof fact};
  for (size_t i = 0; isoproof_document_level(document, i, &level); i++) expect(level.level != NULL, "a level", NULL);
  for (size_t i = 0; isoproof_document_fact_at(document, i, &fact); i++) {
    expect(fact.name != NULL && fact.value != NULL, "a fact", NULL);
  }
  const isoproof_document_anomaly *anomaly;
  for (size_t i = 0; (anomaly = isoproof_document_anomaly_at(document, i)) != NULL; i++) {
    expect(anomaly->code != NULL && anomaly->explanation != NULL, "an anomaly has its texts", NULL);
    for (uint32_t k = 0; k < anomaly->edge_count; k++) {
      expect(anomaly->edges[k].from < anomaly->txn_count && anomaly->edges[k].to < anomaly->txn_count,
             "an edge has its transactions", NULL);
      expect(anomaly->edges[k].why != NULL, "an edge has its sentence", NULL);
    }
  }
}

static void render(const isoproof_document *document) {
  isoproof_draw_options how = {.struct_size = sizeof how, .max_bytes = 1 << 20};
  isoproof_error error = {0};
  size_t bytes = 0;
  expect(isoproof_document_write_json(document, &how, count, &bytes, &error) == ISOPROOF_OK, "JSON", &error);
  expect(isoproof_document_write_text(document, &how, count, &bytes, &error) == ISOPROOF_OK, "text", &error);
  expect(isoproof_document_write_html(document, &how, count, &bytes, &error) == ISOPROOF_OK, "page", &error);
  expect(isoproof_document_write_svg(document, &how, count, &bytes, &error) == ISOPROOF_OK, "drawing", &error);
  expect(isoproof_document_write_dot(document, &how, count, &bytes, &error) == ISOPROOF_OK, "dot", &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = true};
  isoproof_document_reader *reader = NULL;
  isoproof_error error = {0};
  isoproof_status status = isoproof_document_reader_open_memory(data, size, "fuzz", &how, NULL, &reader, &error);
  while (status == ISOPROOF_OK) {
    isoproof_document *document = NULL;
    status = isoproof_document_reader_next(reader, &document, &error);
    if (status != ISOPROOF_OK || document == NULL) break;
    look(document);
    render(document);
    isoproof_document_free(document);
  }
  if (status != ISOPROOF_OK) {
    expect(status != ISOPROOF_ERR_INTERNAL, "internal error", &error);
    expect(error.code == status && error.message[0] != '\0', "the error is described", &error);
  }
  isoproof_document_reader_free(reader);
  return 0;
}
