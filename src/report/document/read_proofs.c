/* Certificates and figures about searches of a saved result. */
#include "report/document/read.h"

enum { MOST_CERTIFICATES = 1000, MOST_SEARCHES = 1000, MOST_FIGURES = 1000 };

/* ---- certificates ---- */

static isoproof_status read_order(iso_document_certificate *certificate, iso_tokenizer *t, isoproof_error *error) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_skip(t);
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    if (!iso_token_is_text(t)) {
      ISO_TRY(iso_token_skip(t));
    } else if (!iso_certificate_add(certificate, t->scalar.text, t->scalar.length)) {
      return iso_fail_memory(error);
    }
  }
}

static isoproof_status read_observation(isoproof_document *document, iso_document_certificate *certificate,
                                        iso_tokenizer *t, isoproof_error *error) {
  iso_arena scratch = ISO_ARENA_EMPTY;
  iso_json *tree;
  iso_full_edge edge;
  isoproof_status status = iso_json_read(t, &scratch, &tree, error);
  if (status == ISOPROOF_OK) {
    bool made = iso_read_full_edge(&document->arena, tree, &edge) && iso_vec_push(&certificate->observed, edge);
    if (!made) status = iso_fail_memory(error);
  }
  iso_arena_free(&scratch);
  return status;
}

static isoproof_status read_observed(isoproof_document *document, iso_document_certificate *certificate,
                                     iso_tokenizer *t, isoproof_error *error) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_skip(t);
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    ISO_TRY(t->type == ISO_TOKEN_BEGIN_MAP ? read_observation(document, certificate, t, error) : iso_token_skip(t));
  }
}

static isoproof_status read_certificate(isoproof_document *document, iso_document_certificate *certificate,
                                        iso_tokenizer *t, isoproof_error *error) {
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    bool is_level = iso_token_is(t, "level"), is_order = iso_token_is(t, "order");
    bool is_observed = iso_token_is(t, "observed");
    ISO_TRY(iso_json_next(t));
    if (is_order) {
      ISO_TRY(read_order(certificate, t, error));
    } else if (is_observed) {
      ISO_TRY(read_observed(document, certificate, t, error));
    } else if (is_level && iso_token_is_text(t)) {
      certificate->level = iso_document_text(&document->arena, t->scalar.text, t->scalar.length, ISO_DOCUMENT_SCALAR);
      if (certificate->level == NULL) return iso_fail_memory(error);
    } else {
      ISO_TRY(iso_token_skip(t));
    }
  }
}

isoproof_status iso_read_certificates(isoproof_document *document, iso_tokenizer *t, isoproof_error *error) {
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_skip(t);
  document->has_certificates = true;
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    iso_document_certificate fresh = {.level = ""};
    if (t->type != ISO_TOKEN_BEGIN_MAP || document->certificates.count >= MOST_CERTIFICATES) {
      ISO_TRY(iso_token_skip(t));
      continue;
    }
    if (!iso_vec_push(&document->certificates, fresh)) return iso_fail_memory(error);
    ISO_TRY(read_certificate(document, &document->certificates.items[document->certificates.count - 1], t, error));
  }
}

/* ---- searches ---- */

static bool add_figure(isoproof_document *document, iso_document_search *search, const iso_json *tree, bool is_time) {
  iso_document_figure figure = {.is_time = is_time, .known = is_time};
  if (search->figures.count >= MOST_FIGURES) return true;
  figure.name = iso_document_text(&document->arena, tree->name, strlen(tree->name), ISO_DOCUMENT_SCALAR);
  if (figure.name == NULL) return false;
  figure.meaning = iso_figure_meaning(figure.name, is_time);
  if (is_time)
    (void)iso_json_number(tree, &figure.seconds);
  else
    figure.known = iso_json_u64(tree, &figure.count);
  return iso_vec_push(&search->figures, figure);
}

static bool read_figures(isoproof_document *document, iso_document_search *search, const iso_json *tree) {
  for (const iso_json *child = tree->first; child != NULL; child = child->next) {
    bool times = strcmp(child->name, "seconds") == 0;
    if (!times && !add_figure(document, search, child, false)) return false;
    if (!times || child->type != ISO_TREE_MAP) continue;
    for (const iso_json *time = child->first; time != NULL; time = time->next)
      if (!add_figure(document, search, time, true)) return false;
  }
  return true;
}

bool iso_read_searches(isoproof_document *document, const iso_json *tree) {
  if (tree->type != ISO_TREE_MAP) return true;
  document->has_searches = true;
  for (const iso_json *child = tree->first; child != NULL && document->searches.count < MOST_SEARCHES;
       child = child->next) {
    iso_document_search search = {
        .level = iso_document_text(&document->arena, child->name, strlen(child->name), ISO_DOCUMENT_SCALAR)};
    if (child->type != ISO_TREE_MAP) continue;
    if (search.level == NULL || !iso_vec_push(&document->searches, search) ||
        !read_figures(document, &document->searches.items[document->searches.count - 1], child))
      return false;
  }
  return true;
}
