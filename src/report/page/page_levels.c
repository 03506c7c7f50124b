/* The lattice of levels in the page: verdicts, and places to draw them at, the strongest in row 0. */
#include <string.h>

#include "report/page/page_data.h"

enum { MOST_LEVELS = 128, SWEEPS = 12 };

typedef struct lattice {
  const isoproof_level_info *levels[MOST_LEVELS];
  size_t count;
  bool models;                          /* of Elle's way, instead of levels */
  bool above[MOST_LEVELS][MOST_LEVELS]; /* [stronger][weaker], without what follows from others */
  uint32_t row[MOST_LEVELS], rows;
  double column[MOST_LEVELS];
} lattice;

/* The entry of a level in a document, which is about models where it has a workload; NULL when it has none. */
static const isoproof_level_verdict *entry_of(const isoproof_document *document, const isoproof_level_info *level) {
  bool models = document->workload != NULL, reachable = isoproof_level_find(level->id) == level;
  if (models != (level->family == ISOPROOF_LEVEL_MODEL) && !(reachable && !models)) return NULL;
  for (size_t i = 0; i < document->levels.count; i++) {
    if (strcmp(document->levels.items[i].level, level->id) == 0) return &document->levels.items[i];
  }
  return NULL;
}

/* As it was asked for; else everyday names, which are unique within a family; a model beside levels may share that of a
 * level. */
static const char *name_of(const isoproof_document *document, const isoproof_level_info *level) {
  const isoproof_level_verdict *entry = entry_of(document, level);
  bool unique = document->workload != NULL || isoproof_level_find(level->friendly) == level;
  if (entry != NULL && entry->asked && (unique || strcmp(entry->called, level->friendly) != 0)) return entry->called;
  return unique ? level->friendly : level->id;
}

const char *iso_page_level_name(const isoproof_document *document, const char *name) {
  const isoproof_level_info *level =
      document->workload != NULL ? isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL) : isoproof_level_find(name);
  return level != NULL ? name_of(document, level) : name;
}

static void collect(lattice *l, const isoproof_document *document) {
  for (size_t i = 0; isoproof_level_at(i) != NULL && l->count < MOST_LEVELS; i++) {
    const isoproof_level_info *info = isoproof_level_at(i);
    bool model = info->family == ISOPROOF_LEVEL_MODEL;
    if (model == l->models || (model && entry_of(document, info) != NULL)) l->levels[l->count++] = info;
  }
  for (size_t a = 0; a < l->count; a++) {
    for (size_t b = 0; b < l->count; b++) {
      bool implies = a != b && isoproof_level_implies(l->levels[a], l->levels[b]);
      for (size_t c = 0; implies && c < l->count; c++) {
        bool between = c != a && c != b && isoproof_level_implies(l->levels[a], l->levels[c]) &&
                       isoproof_level_implies(l->levels[c], l->levels[b]);
        /* Two names for one thing imply each other; they must not hide what is below. */
        if (between && !isoproof_level_implies(l->levels[c], l->levels[a]) &&
            !isoproof_level_implies(l->levels[b], l->levels[c]))
          implies = false;
      }
      l->above[a][b] = implies && !(b < a && isoproof_level_implies(l->levels[b], l->levels[a]));
    }
  }
}

static void choose_rows(lattice *l) {
  for (size_t round = 0; round < l->count; round++) {
    for (size_t a = 0; a < l->count; a++) {
      for (size_t b = 0; b < l->count; b++) {
        if (l->above[a][b] && l->row[b] <= l->row[a] && l->row[a] < MOST_LEVELS) l->row[b] = l->row[a] + 1;
      }
    }
  }
  for (size_t i = 0; i < l->count; i++)
    if (l->row[i] >= l->rows) l->rows = l->row[i] + 1;
}

/* Where a level would like to be: in the middle of its neighbours above and below. */
static double wish_of(const lattice *l, size_t level) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < l->count; i++) {
    if (!l->above[i][level] && !l->above[level][i]) continue;
    sum += l->column[i];
    count++;
  }
  return count > 0 ? sum / count : l->column[level];
}

/* Sorts a row by wishes and keeps a column between neighbours, the row as a whole in the middle of its wishes. */
static void arrange_row(lattice *l, uint32_t row) {
  size_t members[MOST_LEVELS], count = 0;
  double wish[MOST_LEVELS], at[MOST_LEVELS], shift = 0;
  for (size_t i = 0; i < l->count; i++) {
    if (l->row[i] != row) continue;
    size_t k = count++;
    double wanted = wish_of(l, i);
    for (; k > 0 && wish[k - 1] > wanted; k--) {
      wish[k] = wish[k - 1];
      members[k] = members[k - 1];
    }
    wish[k] = wanted;
    members[k] = i;
  }
  for (size_t i = 0; i < count; i++) {
    at[i] = i > 0 && at[i - 1] + 1 > wish[i] ? at[i - 1] + 1 : wish[i];
    shift += at[i] - wish[i];
  }
  for (size_t i = 0; i < count; i++) l->column[members[i]] = at[i] - shift / (double)count;
}

static void choose_columns(lattice *l) {
  uint32_t used[MOST_LEVELS + 1] = {0};
  for (size_t i = 0; i < l->count; i++) l->column[i] = used[l->row[i] < MOST_LEVELS ? l->row[i] : MOST_LEVELS]++;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (uint32_t i = 0; i < l->rows; i++) arrange_row(l, sweep % 2 == 0 ? i : l->rows - 1 - i);
  }
  double least = 0;
  for (size_t i = 0; i < l->count; i++)
    if (i == 0 || l->column[i] < least) least = l->column[i];
  for (size_t i = 0; i < l->count; i++) l->column[i] -= least;
}

/* ---- verdicts ---- */

static bool names_it(const iso_name_list *names, const isoproof_level_info *level) {
  for (size_t i = 0; i < names->count; i++) {
    if (strcmp(names->items[i], level->friendly) == 0 || strcmp(names->items[i], level->id) == 0) return true;
  }
  return false;
}

/* Whether a model follows from one that is proved. */
static bool is_proved(const isoproof_document *d, const isoproof_level_info *level) {
  const iso_name_list *proved = &d->names[ISO_NAMES_PROVED];
  for (size_t i = 0; i < proved->count; i++) {
    const isoproof_level_info *by = isoproof_level_find_in(proved->items[i], ISOPROOF_LEVEL_MODEL);
    if (by != NULL && isoproof_level_implies(by, level)) return true;
  }
  return false;
}

static const char *verdict_of(const isoproof_document *d, const isoproof_level_info *level, bool *asked) {
  *asked = false;
  const isoproof_level_verdict *entry = entry_of(d, level);
  if (entry != NULL) {
    *asked = entry->asked;
    return isoproof_verdict_name(entry->verdict);
  }
  if (level->family != ISOPROOF_LEVEL_MODEL) return "undecided";
  if (names_it(&d->names[ISO_NAMES_NOT], level) || names_it(&d->names[ISO_NAMES_ALSO_NOT], level)) return "violated";
  return is_proved(d, level) ? "satisfied" : "undecided";
}

/* Why the level was left; NULL where it was not. */
static const char *why_undecided(const isoproof_document *d, const isoproof_level_info *level) {
  for (size_t i = 0; level->family != ISOPROOF_LEVEL_MODEL && i < d->undecided.count; i++) {
    if (strcmp(d->undecided.items[i].level, level->id) == 0) return d->undecided.items[i].reason;
  }
  return NULL;
}

static void put_level(const iso_page_data *page, const lattice *l, size_t i) {
  static const char *const families[] = {"level", "session-guarantee", "model"};
  bool asked;
  const char *verdict = verdict_of(page->document, l->levels[i], &asked);
  isoproof_json_object(page->json);
  iso_json_field_text(page->json, "id", name_of(page->document, l->levels[i]));
  iso_json_field_text(page->json, "verdict", verdict);
  iso_json_field_text(page->json, "summary", l->levels[i]->summary);
  iso_json_field_text(page->json, "family", families[l->levels[i]->family]);
  iso_json_field_bool(page->json, "asked", asked);
  const char *reason = why_undecided(page->document, l->levels[i]);
  if (reason != NULL) iso_json_field_text(page->json, "reason", reason);
  iso_json_field(page->json, "column");
  iso_json_fixed(page->json, l->column[i], 3);
  iso_json_field_u64(page->json, "row", l->row[i]);
  isoproof_json_end(page->json);
}

void iso_page_data_levels(const iso_page_data *page) {
  lattice *l = iso_alloc_zero(1, sizeof *l);
  if (l != NULL) {
    l->models = page->document->workload != NULL;
    collect(l, page->document);
    choose_rows(l);
    choose_columns(l);
  }
  iso_json_field_list(page->json, "levels");
  for (size_t i = 0; l != NULL && i < l->count; i++) put_level(page, l, i);
  isoproof_json_end(page->json);
  iso_json_field_list(page->json, "implies");
  for (size_t a = 0; l != NULL && a < l->count; a++) {
    for (size_t b = 0; b < l->count; b++) {
      if (!l->above[a][b]) continue;
      isoproof_json_list(page->json);
      isoproof_json_string(page->json, name_of(page->document, l->levels[a]));
      isoproof_json_string(page->json, name_of(page->document, l->levels[b]));
      isoproof_json_end(page->json);
    }
  }
  isoproof_json_end(page->json);
  free(l);
}
