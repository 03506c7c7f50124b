/* stepper_nodes.c - several nodes of one cluster: what one has committed the others show a little later. */
#include "coo/stepper.h"

enum { REPLICATION_MS = 10000 };

bool iso_stepper_apart(const iso_stepper *stepper) {
  size_t nodes = iso_database_nodes(stepper->database);
  return nodes > 1 && stepper->script->sessions <= nodes;
}

static isoproof_status follows(iso_stepper *stepper, size_t node, double limit, isoproof_error *error) {
  iso_reply *reply = &stepper->control_reply;
  do {
    if (iso_read(stepper->controls[node], stepper->options.mark_key, reply) != ISO_OUTCOME_OK) {
      return iso_fail(error, ISOPROOF_ERR_IO, "node %zu cannot be read: %s %s", node + 1, reply->code, reply->message);
    }
    if (iso_now() > limit) {
      return iso_fail(error, ISOPROOF_ERR_TIMEOUT, "node %zu does not show what the others have committed", node + 1);
    }
  } while (!reply->present || reply->value != stepper->mark);
  return ISOPROOF_OK;
}

/* Writes the mark on a node; the write of another node that is just arriving may get in its way. */
static isoproof_status write_mark(iso_stepper *stepper, size_t node, double limit, isoproof_error *error) {
  iso_reply *reply = &stepper->control_reply;
  stepper->mark++;
  iso_outcome outcome;
  do {
    outcome = iso_write(stepper->controls[node], stepper->options.mark_key, stepper->mark, reply);
  } while (outcome == ISO_OUTCOME_ABORT && iso_now() < limit);
  if (outcome == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "node %zu cannot be written: %s %s", node + 1, reply->code, reply->message);
}

/* Clusters replicate in one order: a node that shows a later write shows every earlier one.  Each node in use writes,
 * as a commit may have been made on any of them. */
isoproof_status iso_stepper_sync(iso_stepper *stepper, isoproof_error *error) {
  size_t nodes = iso_database_nodes(stepper->database);
  double limit = iso_now() + REPLICATION_MS / 1000.0;
  for (size_t writer = 0; nodes > 1 && writer < nodes; writer++) {
    if (stepper->controls[writer] == NULL) continue;
    ISO_TRY(write_mark(stepper, writer, limit, error));
    for (size_t node = 0; node < nodes; node++) {
      if (stepper->controls[node] != NULL) ISO_TRY(follows(stepper, node, limit, error));
    }
  }
  return ISOPROOF_OK;
}
