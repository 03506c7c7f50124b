/* What is recorded of a statement, in one sentence. */
#include "track/plan.h"

static const char *extent_names[] = {
#define ISO_X(name, id, text) id,
    ISO_TRACK_EXTENT_LIST(ISO_X)
#undef ISO_X
};

const char *iso_track_extent_name(iso_track_extent extent) {
  return extent < ISO_TRACK_EXTENTS ? extent_names[extent] : "";
}

static bool is_tracked(const iso_source *source) { return source->table != NULL && source->table->why == NULL; }

/* The first table of the statement that is not tracked. */
static const iso_source *untracked(const iso_shape *shape) {
  for (size_t i = 0; i < shape->sources.count; i++) {
    if (!is_tracked(&shape->sources.items[i])) return &shape->sources.items[i];
  }
  return NULL;
}

static void say(iso_plan *plan, iso_track_extent extent, const char *text) {
  plan->extent = extent;
  plan->explanation = text;
}

/* What the conditions ask for, in words. */
static const char *asked(const iso_plan *plan) {
  if (plan->pinned) return "by primary key";
  return plan->shape.where.count > 0 ? "by the conditions of its WHERE, a predicate of the history"
                                     : "all of the table, a predicate of the history";
}

static void explain_select(iso_schema *tables, iso_plan *plan) {
  const iso_shape *shape = &plan->shape;
  const iso_source *other = untracked(shape);
  if (plan->added.count == 0) {
    const char *why = other->table != NULL
                          ? iso_schema_text(tables, "Nothing is recorded: %s is not tracked, because %s.",
                                            other->table->name, other->table->why)
                          : "Nothing is recorded: what its sub-query reads is not told by the answer.";
    say(plan, ISO_TRACK_NOT, why);
  } else if (other != NULL) {
    const char *name = other->table != NULL ? other->table->name : other->alias;
    say(plan, ISO_TRACK_PARTLY,
        iso_schema_text(
            tables, "The rows of its tracked tables that are in the answer are recorded as reads; those of %s are not.",
            name));
  } else if (shape->partly != NULL) {
    say(plan, ISO_TRACK_PARTLY,
        iso_schema_text(tables, "The rows behind its answer are recorded as reads; %s are not.", shape->partly));
  } else if (shape->sources.count > 1) {
    say(plan, ISO_TRACK_ROWS,
        "The rows of each table that are behind its answer are recorded as reads, but not that no others matched: it "
        "joins tables.");
  } else if (!plan->whole) {
    say(plan, ISO_TRACK_ROWS,
        iso_schema_text(tables, "The rows behind its answer are recorded as reads, but not that no others matched: %s.",
                        shape->where_why != NULL ? shape->where_why : shape->rows_why));
  } else {
    say(plan, ISO_TRACK_WHOLE,
        iso_schema_text(tables, "It reads rows %s: recorded, also that no other row matched.", asked(plan)));
  }
}

static void explain_write(iso_schema *tables, iso_plan *plan) {
  const iso_shape *shape = &plan->shape;
  const iso_table *target = shape->sources.items[0].table;
  bool inserts = shape->kind == ISO_SHAPE_INSERT;
  if (target->why != NULL) {
    say(plan, ISO_TRACK_NOT,
        iso_schema_text(tables, "Nothing is recorded: %s is not tracked, because %s.", target->name, target->why));
  } else if (shape->partly != NULL) {
    say(plan, ISO_TRACK_PARTLY,
        iso_schema_text(tables,
                        "The rows that it writes are recorded, with the versions that it replaces; of the rows that it "
                        "reads, %s are not.",
                        shape->partly));
  } else if (inserts) {
    say(plan, ISO_TRACK_WHOLE,
        shape->upsert_end > 0 ? "The rows that it makes or changes are recorded, with the versions that it replaces."
                              : "The rows that it makes are recorded.");
  } else if (!plan->whole) {
    say(plan, ISO_TRACK_ROWS,
        iso_schema_text(tables,
                        "The rows that it changes are recorded, with the versions that it replaces, but not that no "
                        "others matched: %s.",
                        shape->where_why != NULL ? shape->where_why : shape->rows_why));
  } else {
    say(plan, ISO_TRACK_WHOLE,
        iso_schema_text(tables, "It picks rows %s, and changes them: both are recorded.", asked(plan)));
  }
}

void iso_plan_explain(iso_tracker *tracker, iso_plan *plan) {
  iso_schema *tables = &tracker->tables;
  switch (plan->shape.kind) {
  case ISO_SHAPE_OTHER:
    say(plan, ISO_TRACK_NOT,
        iso_schema_text(tables, "Nothing is recorded: %s.",
                        plan->shape.why != NULL ? plan->shape.why : "it is not understood"));
    return;
  case ISO_SHAPE_NOTHING:
    say(plan, ISO_TRACK_NOTHING, "It reads and writes no row of a table.");
    return;
  case ISO_SHAPE_SAVEPOINT:
  case ISO_SHAPE_RELEASE:
    say(plan, ISO_TRACK_NOTHING, "A savepoint: it reads and writes no row of a table.");
    return;
  case ISO_SHAPE_ROLLBACK_TO:
    say(plan, ISO_TRACK_NOTHING, "What was written since the savepoint is taken out of the history again.");
    return;
  case ISO_SHAPE_SELECT:
    explain_select(tables, plan);
    return;
  case ISO_SHAPE_INSERT:
  case ISO_SHAPE_UPDATE:
  case ISO_SHAPE_DELETE:
    explain_write(tables, plan);
    return;
  }
}
