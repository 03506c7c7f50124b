/* op_mix.c - the general workload. */
#include "workload/op_mix.h"

#include "base/vector.h"

/* A position of the distribution and the key that stands there now. */
typedef struct slot {
  uint32_t key;
  uint32_t writes;
} slot;

struct iso_workload {
  iso_workload_options options;
  double write_unit_share; /* of units (a read, a write, or a read-modify-write) that write */
  iso_random random;
  slot *slots; /* only where keys are replaced */
  uint32_t keys;
  ISO_VEC(iso_workload_op) ops;
};

static bool is_share(double share) { return share >= 0 && share <= 1; }

static isoproof_status check_options(const iso_workload_options *options, isoproof_error *error) {
  const struct {
    const char *name;
    double share;
  } shares[] = {{"read_share", options->read_share},
                {"rmw_share", options->rmw_share},
                {"abort_share", options->abort_share},
                {"unknown_share", options->unknown_share},
                {"long_share", options->long_share}};
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
    if (!is_share(shares[i].share))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected a number from 0 to 1, found %g", shares[i].name,
                      shares[i].share);
  if (options->abort_share + options->unknown_share > 1)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "abort_share and unknown_share: expected at most 1 together, found %g",
                    options->abort_share + options->unknown_share);
  if (options->ops_min == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "ops_min: expected at least 1, found 0");
  if (options->ops_max < options->ops_min)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "ops_max: expected at least ops_min (%u), found %u", options->ops_min,
                    options->ops_max);
  if (options->long_share > 0 && (options->long_ops == 0 || options->long_ops > ISO_WORKLOAD_MAX_OPS))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "long_ops: expected 1 to %d, found %u", ISO_WORKLOAD_MAX_OPS,
                    options->long_ops);
  if (options->ops_max > ISO_WORKLOAD_MAX_OPS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "ops_max: expected at most %d, found %u", ISO_WORKLOAD_MAX_OPS,
                    options->ops_max);
  return ISOPROOF_OK;
}

/* With w the share of units that write and m that of read-modify-writes among them, a unit has 1 + wm operations, w of
 * them writes; setting w / (1 + wm) to the wanted share of writes gives w. */
static double unit_share(double read_share, double rmw_share) {
  double writes = 1 - read_share;
  double share = writes / (1 - rmw_share * writes);
  return share <= 1 ? share : 1; /* also catches 0 / 0 and 1 / 0 */
}

isoproof_status iso_workload_new(const iso_workload_options *options, iso_workload **workload, isoproof_error *error) {
  ISO_TRY(check_options(options, error));
  iso_workload *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->options = *options;
  made->keys = options->source.keys;
  made->write_unit_share = unit_share(options->read_share, options->rmw_share);
  iso_random_seed(&made->random, options->seed, 1);
  if (options->appends_per_key > 0) {
    made->slots = iso_alloc_zero(made->keys, sizeof *made->slots);
    if (made->slots == NULL) {
      iso_workload_free(made);
      return iso_fail_memory(error);
    }
    for (uint32_t i = 0; i < made->keys; i++) made->slots[i].key = i;
  }
  *workload = made;
  return ISOPROOF_OK;
}

void iso_workload_free(iso_workload *workload) {
  if (workload == NULL) return;
  free(workload->slots);
  iso_vec_free(&workload->ops);
  free(workload);
}

uint32_t iso_workload_keys(const iso_workload *workload) { return workload->keys; }

uint32_t iso_workload_key_at(const iso_workload *workload, uint32_t position) {
  return workload->slots != NULL ? workload->slots[position].key : position;
}

bool iso_workload_draw(iso_workload *workload, iso_random *random, uint32_t *first, uint32_t *second) {
  *first = iso_workload_key_at(workload, iso_keys_draw(&workload->options.source, random));
  if (second == NULL) return true;
  *second = iso_workload_key_at(workload, iso_keys_draw(&workload->options.source, random));
  return *first != *second;
}

/* Adds a write, counts it, and puts a fresh key in its position when the old one has had enough. */
static isoproof_status push_write(iso_workload *workload, uint32_t position, uint32_t key, isoproof_error *error) {
  workload->ops.items[workload->ops.count++] = (iso_workload_op){true, key, position};
  if (workload->slots == NULL || workload->slots[position].key != key) return ISOPROOF_OK;
  slot *here = &workload->slots[position];
  if (++here->writes < workload->options.appends_per_key) return ISOPROOF_OK;
  if (workload->keys >= UINT32_MAX - 16)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u keys: appends_per_key is too small", workload->keys);
  *here = (slot){.key = workload->keys++};
  return ISOPROOF_OK;
}

static void push_read(iso_workload *workload, uint32_t position) {
  workload->ops.items[workload->ops.count++] =
      (iso_workload_op){false, iso_workload_key_at(workload, position), position};
}

/* A write whose key an earlier operation of the transaction has read; a read where there is none.  This is what fits
 * when a single operation is left for a read-modify-write. */
static isoproof_status push_last_rmw(iso_workload *workload, uint32_t position, isoproof_error *error) {
  uint32_t reads = 0;
  for (size_t i = 0; i < workload->ops.count; i++) reads += !workload->ops.items[i].write;
  if (reads == 0) {
    push_read(workload, position);
    return ISOPROOF_OK;
  }
  uint32_t chosen = iso_random_below(&workload->random, reads);
  size_t at = 0;
  while (workload->ops.items[at].write || chosen-- > 0) at++;
  return push_write(workload, workload->ops.items[at].position, workload->ops.items[at].key, error);
}

static isoproof_status push_unit(iso_workload *workload, size_t left, isoproof_error *error) {
  iso_random *random = &workload->random;
  uint32_t position = iso_keys_draw(&workload->options.source, random);
  if (!iso_random_chance(random, workload->write_unit_share)) {
    push_read(workload, position);
    return ISOPROOF_OK;
  }
  if (workload->options.rmw_share > 0 && iso_random_chance(random, workload->options.rmw_share)) {
    if (left < 2) return push_last_rmw(workload, position, error);
    push_read(workload, position);
  }
  return push_write(workload, position, iso_workload_key_at(workload, position), error);
}

static iso_fate draw_fate(iso_workload *workload) {
  const iso_workload_options *options = &workload->options;
  double x = iso_random_double(&workload->random);
  if (x < options->abort_share) return ISO_FATE_ABORT;
  x -= options->abort_share;
  if (x < options->unknown_share / 2) return ISO_FATE_UNKNOWN_DONE;
  return x < options->unknown_share ? ISO_FATE_UNKNOWN_LOST : ISO_FATE_COMMIT;
}

isoproof_status iso_workload_next(iso_workload *workload, iso_workload_txn *txn, isoproof_error *error) {
  const iso_workload_options *options = &workload->options;
  uint32_t span = options->ops_max - options->ops_min + 1;
  uint32_t count = options->ops_min + (span > 1 ? iso_random_below(&workload->random, span) : 0);
  if (options->long_share > 0 && iso_random_chance(&workload->random, options->long_share)) count = options->long_ops;
  workload->ops.count = 0;
  if (!iso_vec_reserve(&workload->ops, count)) return iso_fail_memory(error);
  while (workload->ops.count < count) ISO_TRY(push_unit(workload, count - workload->ops.count, error));
  *txn = (iso_workload_txn){draw_fate(workload), workload->ops.items, count};
  return ISOPROOF_OK;
}
