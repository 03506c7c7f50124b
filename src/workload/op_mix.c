/* op_mix.c - the general workload: reads, writes and read-modify-writes by their shares, and keys that are replaced. */
#include "workload/op_mix.h"

#include "base/vector.h"

/* A position of the distribution and the key that stands there now. */
typedef struct slot {
  uint32_t key;
  uint32_t writes;
} slot;

struct iso_op_mix {
  iso_op_mix_options options;
  double write_unit_share; /* of units (a read, a write, or a read-modify-write) that write */
  iso_random random;
  slot *slots; /* only where keys are replaced */
  uint32_t keys;
  ISO_VEC(iso_op_mix_op) ops;
};

static bool is_share(double share) { return share >= 0 && share <= 1; }

static isoproof_status check_options(const iso_op_mix_options *options, isoproof_error *error) {
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
  if (options->long_share > 0 && (options->long_ops == 0 || options->long_ops > ISO_OP_MIX_MAX_OPS))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "long_ops: expected 1 to %d, found %u", ISO_OP_MIX_MAX_OPS,
                    options->long_ops);
  if (options->ops_max > ISO_OP_MIX_MAX_OPS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "ops_max: expected at most %d, found %u", ISO_OP_MIX_MAX_OPS,
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

isoproof_status iso_op_mix_new(const iso_op_mix_options *options, iso_op_mix **mix, isoproof_error *error) {
  ISO_TRY(check_options(options, error));
  iso_op_mix *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->options = *options;
  made->keys = options->source.keys;
  made->write_unit_share = unit_share(options->read_share, options->rmw_share);
  iso_random_seed(&made->random, options->seed, 1);
  if (options->appends_per_key > 0) {
    made->slots = iso_alloc_zero(made->keys, sizeof *made->slots);
    if (made->slots == NULL) {
      iso_op_mix_free(made);
      return iso_fail_memory(error);
    }
    for (uint32_t i = 0; i < made->keys; i++) made->slots[i].key = i;
  }
  *mix = made;
  return ISOPROOF_OK;
}

void iso_op_mix_free(iso_op_mix *mix) {
  if (mix == NULL) return;
  free(mix->slots);
  iso_vec_free(&mix->ops);
  free(mix);
}

uint32_t iso_op_mix_keys(const iso_op_mix *mix) { return mix->keys; }

uint32_t iso_op_mix_key_at(const iso_op_mix *mix, uint32_t position) {
  return mix->slots != NULL ? mix->slots[position].key : position;
}

bool iso_op_mix_draw(iso_op_mix *mix, iso_random *random, uint32_t *first, uint32_t *second) {
  *first = iso_op_mix_key_at(mix, iso_keys_draw(&mix->options.source, random));
  if (second == NULL) return true;
  *second = iso_op_mix_key_at(mix, iso_keys_draw(&mix->options.source, random));
  return *first != *second;
}

/* Adds a write, counts it, and puts a fresh key in its position when the old one has had enough. */
static isoproof_status push_write(iso_op_mix *mix, uint32_t position, uint32_t key, isoproof_error *error) {
  mix->ops.items[mix->ops.count++] = (iso_op_mix_op){true, key, position};
  if (mix->slots == NULL || mix->slots[position].key != key) return ISOPROOF_OK;
  slot *here = &mix->slots[position];
  if (++here->writes < mix->options.appends_per_key) return ISOPROOF_OK;
  if (mix->keys >= UINT32_MAX - 16)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u keys: appends_per_key is too small", mix->keys);
  *here = (slot){.key = mix->keys++};
  return ISOPROOF_OK;
}

static void push_read(iso_op_mix *mix, uint32_t position) {
  mix->ops.items[mix->ops.count++] = (iso_op_mix_op){false, iso_op_mix_key_at(mix, position), position};
}

/* A write whose key an earlier operation of the transaction has read; a read where there is none.  This is what fits
 * when a single operation is left for a read-modify-write. */
static isoproof_status push_last_rmw(iso_op_mix *mix, uint32_t position, isoproof_error *error) {
  uint32_t reads = 0;
  for (size_t i = 0; i < mix->ops.count; i++) reads += !mix->ops.items[i].write;
  if (reads == 0) {
    push_read(mix, position);
    return ISOPROOF_OK;
  }
  uint32_t chosen = iso_random_below(&mix->random, reads);
  size_t at = 0;
  while (mix->ops.items[at].write || chosen-- > 0) at++;
  return push_write(mix, mix->ops.items[at].position, mix->ops.items[at].key, error);
}

static isoproof_status push_unit(iso_op_mix *mix, size_t left, isoproof_error *error) {
  iso_random *random = &mix->random;
  uint32_t position = iso_keys_draw(&mix->options.source, random);
  if (!iso_random_chance(random, mix->write_unit_share)) {
    push_read(mix, position);
    return ISOPROOF_OK;
  }
  if (mix->options.rmw_share > 0 && iso_random_chance(random, mix->options.rmw_share)) {
    if (left < 2) return push_last_rmw(mix, position, error);
    push_read(mix, position);
  }
  return push_write(mix, position, iso_op_mix_key_at(mix, position), error);
}

static iso_fate draw_fate(iso_op_mix *mix) {
  const iso_op_mix_options *options = &mix->options;
  double x = iso_random_double(&mix->random);
  if (x < options->abort_share) return ISO_FATE_ABORT;
  x -= options->abort_share;
  if (x < options->unknown_share / 2) return ISO_FATE_UNKNOWN_DONE;
  return x < options->unknown_share ? ISO_FATE_UNKNOWN_LOST : ISO_FATE_COMMIT;
}

isoproof_status iso_op_mix_next(iso_op_mix *mix, iso_op_mix_txn *txn, isoproof_error *error) {
  const iso_op_mix_options *options = &mix->options;
  uint32_t span = options->ops_max - options->ops_min + 1;
  uint32_t count = options->ops_min + (span > 1 ? iso_random_below(&mix->random, span) : 0);
  if (options->long_share > 0 && iso_random_chance(&mix->random, options->long_share)) count = options->long_ops;
  mix->ops.count = 0;
  if (!iso_vec_reserve(&mix->ops, count)) return iso_fail_memory(error);
  while (mix->ops.count < count) ISO_TRY(push_unit(mix, count - mix->ops.count, error));
  *txn = (iso_op_mix_txn){draw_fate(mix), mix->ops.items, count};
  return ISOPROOF_OK;
}
