/* Operations on rows in words. */
#include "explain/row_words.h"

#include "explain/row_names.h"
#include "explain/witness.h"
#include "history/row_text.h"

bool iso_is_of_rows(const isoproof_history *h, uint32_t op) {
  bool plain = h->op_kind[op] == ISOPROOF_OP_READ || h->op_kind[op] == ISOPROOF_OP_WRITE;
  return iso_history_has_rows(h) && plain;
}

/* "row 3" */
static void add_row(iso_words *words, const isoproof_history *h, uint32_t op) {
  if (h->key_label_opt == NULL || h->key_label_opt[h->op_key[op]] == ISO_VALUE_NIL) iso_words_add(words, "row ");
  iso_words_add_scalar(words, iso_history_key_shown(h, h->op_key[op]));
}

/* "row 3 = 7" */
static void add_row_value(iso_words *words, const isoproof_history *h, uint32_t op, const char *between) {
  add_row(words, h, op);
  iso_words_add(words, "%s", between);
  iso_words_add_scalar(words, iso_history_scalar(h, h->op_value[op]));
}

/* ---- reads ---- */

static void add_statement(iso_words *words, const isoproof_history *h, const iso_statement *s, uint32_t op) {
  bool counts = s->form == ISO_ROW_COUNT;
  iso_words_add(words, "'s %s ", counts ? "count" : "select");
  iso_words_add_conditions(words, h, s, false);
  if (counts) {
    iso_words_add(words, " returned %lld, %s ", (long long)s->counted, iso_is_matched(h, op) ? "with" : "without");
    add_row(words, h, op);
  } else if (iso_is_not_returned(h, op)) {
    iso_words_add(words, " did not return ");
    add_row(words, h, op);
  } else {
    iso_words_add(words, " returned ");
    add_row_value(words, h, op, " = ");
  }
}

static void add_single(iso_words *words, const isoproof_history *h, uint32_t op) {
  iso_row_form form = iso_history_form(h, op);
  if (form == ISO_ROW_MISSED_UPDATE || form == ISO_ROW_MISSED_DELETE) {
    iso_words_add(words, "'s %s", form == ISO_ROW_MISSED_UPDATE ? "update" : "delete");
  }
  if (h->op_value[op] == ISO_VALUE_NIL) {
    iso_words_add(words, " found no ");
    add_row(words, h, op);
  } else {
    iso_words_add(words, " read ");
    add_row_value(words, h, op, " = ");
  }
}

void iso_words_add_observed(iso_words *words, const isoproof_history *h, uint32_t op) {
  const iso_statement *s = iso_is_by_predicate(h, op) ? iso_history_statement(h, op) : NULL;
  iso_words_add_txn(words, h, iso_history_txn_of(h, op));
  if (s != NULL) {
    add_statement(words, h, s, op);
  } else {
    add_single(words, h, op);
  }
  iso_words_add_position(words, h, op);
}

/* ---- writes ---- */

static const struct {
  const char *noun, *verb, *between; /* NULL: without the value */
} changes[ISO_ROW_FORMS] = {
    [ISO_ROW_NONE] = {"write", "wrote", " = "},       [ISO_ROW_INSERT] = {"insert", "inserted", " = "},
    [ISO_ROW_UPDATE] = {"update", "updated", " to "}, [ISO_ROW_UPSERT] = {"upsert", "upserted", " = "},
    [ISO_ROW_DELETE] = {"delete", "deleted", NULL},
};

static void add_changed_row(iso_words *words, const isoproof_history *h, uint32_t op) {
  const char *between = changes[iso_history_form(h, op)].between;
  if (between != NULL) {
    add_row_value(words, h, op, between);
  } else {
    add_row(words, h, op);
  }
  iso_words_add_position(words, h, op);
}

void iso_words_add_changed(iso_words *words, const isoproof_history *h, uint32_t op) {
  iso_words_add_txn(words, h, iso_history_txn_of(h, op));
  iso_words_add(words, " %s ", changes[iso_history_form(h, op)].verb);
  add_changed_row(words, h, op);
}

void iso_words_add_change(iso_words *words, const isoproof_history *h, uint32_t op) {
  iso_words_add(words, "%s of ", changes[iso_history_form(h, op)].noun);
  add_changed_row(words, h, op);
}

/* ---- what follows ---- */

/* Anomaly, what stands before the row, what stands after it; the row is left out where that is NULL. */
static const struct {
  iso_anomaly name;
  const char *before, *after;
} morals[] = {
    {ISO_ANOMALY_PHANTOM, "Between two looks of one transaction the rows that match changed: a phantom.", NULL},
    {ISO_ANOMALY_PREDICATE_WRITE_SKEW,
     "Each query left out a row that the other transaction wrote: had one run after the other, its query would have "
     "found that row.",
     NULL},
    {ISO_ANOMALY_PREDICATE_READ_SKEW, "The query should have shown what became of ", " there."},
    {ISO_ANOMALY_MISSED_INSERT, "The query should have found ", "."},
    {ISO_ANOMALY_RESURRECTED_ROW, "", " had been deleted, others found it gone, and it is back."},
    {ISO_ANOMALY_LOST_DELETE, "The delete of ", " was committed, and has no effect."},
};

void iso_words_add_moral(iso_words *words, const isoproof_history *h, iso_anomaly name, uint32_t read) {
  for (size_t i = 0; i < sizeof morals / sizeof morals[0]; i++) {
    if (morals[i].name != name) continue;
    bool first = morals[i].before[0] == '\0';
    iso_words_add(words, "%s", morals[i].before);
    if (morals[i].after != NULL && read < h->ops) {
      iso_words_add(words, first ? "Row " : "row ");
      iso_words_add_scalar(words, iso_history_key_shown(h, h->op_key[read]));
      iso_words_add(words, "%s", morals[i].after);
    }
    iso_words_add(words, " ");
  }
}
