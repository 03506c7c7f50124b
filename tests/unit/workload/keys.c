/* Random numbers, key distributions and the general workload. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/op_mix.h"

enum { DRAWS = 400000 };

/* The largest share that a fair sample may be away from its expectation: five standard deviations. */
static double tolerance(double share, double draws) { return 5 * sqrt(share * (1 - share) / draws) + 1e-9; }

static void expect_share(double found, double expected, double draws, const char *what) {
  if (fabs(found - expected) > tolerance(expected, draws)) fail_msg("%s: expected %g, found %g", what, expected, found);
}

static void random_numbers_are_reproducible(void **state) {
  (void)state;
  iso_random a, b, other_seed, other_stream;
  iso_random_seed(&a, 1, 1);
  iso_random_seed(&b, 1, 1);
  iso_random_seed(&other_seed, 2, 1);
  iso_random_seed(&other_stream, 1, 2);
  for (int i = 0; i < 100; i++) {
    uint64_t x = iso_random_next(&a);
    assert_int_equal(x, iso_random_next(&b));
    assert_int_not_equal(x, iso_random_next(&other_seed));
    assert_int_not_equal(x, iso_random_next(&other_stream));
  }
}

static void random_numbers_are_fair(void **state) {
  (void)state;
  iso_random random;
  iso_random_seed(&random, 3, 0);
  uint32_t counts[7] = {0}, large[3] = {0};
  uint64_t third = UINT64_C(0x5000000000000000);
  for (int i = 0; i < DRAWS; i++) {
    counts[iso_random_below(&random, 7)]++;
    uint64_t x = iso_random_below64(&random, 3 * third);
    assert_true(x < 3 * third);
    large[x / third]++;
    double d = iso_random_double(&random);
    assert_true(d >= 0 && d < 1);
    assert_false(iso_random_chance(&random, 0));
    assert_true(iso_random_chance(&random, 1));
  }
  for (int i = 0; i < 7; i++) expect_share(counts[i] / (double)DRAWS, 1 / 7.0, DRAWS, "below 7");
  for (int i = 0; i < 3; i++) expect_share(large[i] / (double)DRAWS, 1 / 3.0, DRAWS, "below 2^64 * 15/16");
  assert_int_equal(iso_random_below(&random, 0), 0);
  assert_int_equal(iso_random_below(&random, 1), 0);
  assert_int_equal(iso_random_below64(&random, 1), 0);
}

static void check_zipf(uint32_t keys, double skew) {
  iso_key_source source;
  iso_random random;
  iso_random_seed(&random, keys, 9);
  assert_int_equal(iso_keys_init(&source, ISOPROOF_KEYS_ZIPF, keys, skew, 0, 0, NULL), ISOPROOF_OK);
  uint32_t *counts = calloc(keys, sizeof *counts);
  assert_non_null(counts);
  for (int i = 0; i < DRAWS; i++) {
    uint32_t key = iso_keys_draw(&source, &random);
    assert_true(key < keys);
    counts[key]++;
  }
  double total = 0, chi = 0, found_rest = 0, expected_rest = 0;
  int degrees = 0;
  for (uint32_t i = 1; i <= keys; i++) total += pow(i, -skew);
  for (uint32_t i = 1; i <= keys; i++) {
    double expected = DRAWS * pow(i, -skew) / total;
    if (expected < 20) {
      found_rest += counts[i - 1];
      expected_rest += expected;
      continue;
    }
    chi += (counts[i - 1] - expected) * (counts[i - 1] - expected) / expected;
    degrees++;
  }
  if (degrees > 1 && chi > degrees + 5 * sqrt(2.0 * degrees) + 10)
    fail_msg("%u keys, skew %g: chi square %g for %d ranks", keys, skew, chi, degrees);
  expect_share(found_rest / DRAWS, expected_rest / DRAWS, DRAWS, "rare keys");
  free(counts);
}

static void zipf_has_its_shape(void **state) {
  (void)state;
  const double skews[] = {0, 0.3, 0.9999999, 1, 1.0000001, 1.5, 2, 5, 100};
  const uint32_t keys[] = {1, 2, 3, 100, 20000};
  for (size_t s = 0; s < sizeof skews / sizeof *skews; s++)
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) check_zipf(keys[k], skews[s]);
}

static void zipf_handles_many_keys(void **state) {
  (void)state;
  iso_key_source source;
  iso_random random;
  iso_random_seed(&random, 1, 9);
  const double skews[] = {0, 0.5, 1, 3};
  for (size_t s = 0; s < 4; s++) {
    assert_int_equal(iso_keys_init(&source, ISOPROOF_KEYS_ZIPF, UINT32_MAX, skews[s], 0, 0, NULL), ISOPROOF_OK);
    for (int i = 0; i < 10000; i++) assert_true(iso_keys_draw(&source, &random) < UINT32_MAX);
  }
}

static void uniform_and_hotspot_have_their_shares(void **state) {
  (void)state;
  iso_key_source uniform, hotspot;
  iso_random random;
  iso_random_seed(&random, 4, 0);
  assert_int_equal(iso_keys_init(&uniform, ISOPROOF_KEYS_UNIFORM, 10, 0, 0, 0, NULL), ISOPROOF_OK);
  assert_int_equal(iso_keys_init(&hotspot, ISOPROOF_KEYS_HOTSPOT, 50, 0, 0.8, 0.1, NULL), ISOPROOF_OK);
  uint32_t even[10] = {0}, spots[50] = {0};
  for (int i = 0; i < DRAWS; i++) {
    even[iso_keys_draw(&uniform, &random)]++;
    spots[iso_keys_draw(&hotspot, &random)]++;
  }
  for (int i = 0; i < 10; i++) expect_share(even[i] / (double)DRAWS, 0.1, DRAWS, "uniform");
  for (int i = 0; i < 50; i++) expect_share(spots[i] / (double)DRAWS, i < 5 ? 0.8 / 5 : 0.2 / 45, DRAWS, "hotspot");
  assert_int_equal(iso_keys_init(&hotspot, ISOPROOF_KEYS_HOTSPOT, 3, 0, 0.5, 1, NULL), ISOPROOF_OK);
  for (int i = 0; i < 100; i++) assert_true(iso_keys_draw(&hotspot, &random) < 3);
  assert_int_equal(iso_keys_init(&hotspot, ISOPROOF_KEYS_HOTSPOT, 3, 0, 1, 0, NULL), ISOPROOF_OK);
  for (int i = 0; i < 100; i++) assert_int_equal(iso_keys_draw(&hotspot, &random), 0);
}

static void bad_distributions_are_refused(void **state) {
  (void)state;
  iso_key_source source;
  isoproof_error error;
  const struct {
    isoproof_key_distribution kind;
    uint32_t keys;
    double skew, hot, hot_keys;
    const char *named;
  } bad[] = {
      {ISOPROOF_KEYS_UNIFORM, 0, 0, 0, 0, "keys"},
      {ISOPROOF_KEYS_ZIPF, 5, -1, 0, 0, "skew"},
      {ISOPROOF_KEYS_ZIPF, 5, NAN, 0, 0, "skew"},
      {ISOPROOF_KEYS_ZIPF, 5, INFINITY, 0, 0, "skew"},
      {ISOPROOF_KEYS_HOTSPOT, 5, 0, 1.5, 0, "hot_share"},
      {ISOPROOF_KEYS_HOTSPOT, 5, 0, 0.5, -1, "hot_keys_share"},
      {ISOPROOF_KEY_DISTRIBUTIONS, 5, 0, 0.5, 0, "distribution"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(iso_keys_init(&source, bad[i].kind, bad[i].keys, bad[i].skew, bad[i].hot, bad[i].hot_keys, &error),
                     ISOPROOF_ERR_USAGE);
    assert_non_null(strstr(error.message, bad[i].named));
  }
}

/* ---- the workload ---- */

typedef struct tally {
  uint64_t txns, ops, reads, writes, modified; /* writes whose key the transaction has read before */
  uint64_t fates[4];
  uint32_t shortest, longest;
} tally;

static bool read_before(const iso_op_mix_txn *txn, uint32_t position) {
  for (uint32_t i = 0; i < position; i++)
    if (!txn->ops[i].write && txn->ops[i].key == txn->ops[position].key) return true;
  return false;
}

static tally run(iso_op_mix_options options, uint64_t txns) {
  iso_op_mix *workload;
  tally t = {.shortest = UINT32_MAX};
  assert_int_equal(iso_keys_init(&options.source, ISOPROOF_KEYS_UNIFORM, 1000, 0, 0, 0, NULL), ISOPROOF_OK);
  assert_int_equal(iso_op_mix_new(&options, &workload, NULL), ISOPROOF_OK);
  for (t.txns = 0; t.txns < txns; t.txns++) {
    iso_op_mix_txn txn;
    assert_int_equal(iso_op_mix_next(workload, &txn, NULL), ISOPROOF_OK);
    t.fates[txn.fate]++;
    t.ops += txn.count;
    if (txn.count < t.shortest) t.shortest = txn.count;
    if (txn.count > t.longest) t.longest = txn.count;
    for (uint32_t i = 0; i < txn.count; i++) {
      t.reads += !txn.ops[i].write;
      t.writes += txn.ops[i].write;
      t.modified += txn.ops[i].write && read_before(&txn, i);
    }
  }
  iso_op_mix_free(workload);
  return t;
}

static void workload_keeps_its_shares(void **state) {
  (void)state;
  const double reads[] = {0, 0.2, 0.5, 0.9, 1}, rmws[] = {0, 0.4, 1};
  for (size_t r = 0; r < 5; r++)
    for (size_t m = 0; m < 3; m++) {
      iso_op_mix_options options = {.seed = 7,
                                    .ops_min = 4,
                                    .ops_max = 20,
                                    .read_share = reads[r],
                                    .rmw_share = rmws[m],
                                    .abort_share = 0.1,
                                    .unknown_share = 0.2};
      tally t = run(options, 20000);
      double least = rmws[m] / (1 + rmws[m]), wanted = reads[r] > least ? reads[r] : least;
      double found = (double)t.reads / (double)t.ops;
      if (fabs(found - wanted) > 0.02) fail_msg("reads %g, rmw %g: found %g", wanted, rmws[m], found);
      double modified = t.writes > 0 ? (double)t.modified / (double)t.writes : rmws[m];
      if (fabs(modified - rmws[m]) > 0.03) fail_msg("reads %g, rmw %g: found rmw %g", wanted, rmws[m], modified);
      if (rmws[m] == 1) assert_int_equal(t.modified, t.writes);
      assert_int_equal(t.shortest, 4);
      assert_int_equal(t.longest, 20);
      expect_share((double)t.fates[ISO_FATE_ABORT] / 20000, 0.1, 20000, "aborts");
      expect_share((double)t.fates[ISO_FATE_UNKNOWN_DONE] / 20000, 0.1, 20000, "unknown, done");
      expect_share((double)t.fates[ISO_FATE_UNKNOWN_LOST] / 20000, 0.1, 20000, "unknown, lost");
    }
}

static void workload_replaces_keys(void **state) {
  (void)state;
  iso_op_mix_options options = {.seed = 1, .ops_min = 1, .ops_max = 8, .read_share = 0.5, .appends_per_key = 3};
  iso_op_mix *workload;
  uint32_t writes[4000] = {0};
  assert_int_equal(iso_keys_init(&options.source, ISOPROOF_KEYS_ZIPF, 5, 1, 0, 0, NULL), ISOPROOF_OK);
  assert_int_equal(iso_op_mix_new(&options, &workload, NULL), ISOPROOF_OK);
  for (int i = 0; i < 1000; i++) {
    iso_op_mix_txn txn;
    assert_int_equal(iso_op_mix_next(workload, &txn, NULL), ISOPROOF_OK);
    for (uint32_t o = 0; o < txn.count; o++) {
      assert_true(txn.ops[o].key < iso_op_mix_keys(workload) && txn.ops[o].key < 4000);
      writes[txn.ops[o].key] += txn.ops[o].write;
    }
  }
  assert_true(iso_op_mix_keys(workload) > 100);
  uint32_t full = 0;
  for (uint32_t i = 0; i < iso_op_mix_keys(workload); i++) {
    assert_true(writes[i] <= 3);
    full += writes[i] == 3;
  }
  assert_int_equal(full, iso_op_mix_keys(workload) - 5);
  iso_op_mix_free(workload);
}

static void bad_workloads_are_refused(void **state) {
  (void)state;
  iso_op_mix_options good = {.ops_min = 1, .ops_max = 2, .read_share = 0.5}, bad[7];
  iso_op_mix *workload;
  assert_int_equal(iso_keys_init(&good.source, ISOPROOF_KEYS_UNIFORM, 5, 0, 0, 0, NULL), ISOPROOF_OK);
  for (int i = 0; i < 7; i++) bad[i] = good;
  bad[0].ops_min = 0;
  bad[1].ops_min = 3;
  bad[2].ops_max = ISO_OP_MIX_MAX_OPS + 1;
  bad[3].read_share = 1.1;
  bad[4].rmw_share = NAN;
  bad[5].abort_share = -0.1;
  bad[6].abort_share = bad[6].unknown_share = 0.6;
  for (int i = 0; i < 7; i++) assert_int_equal(iso_op_mix_new(&bad[i], &workload, NULL), ISOPROOF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_numbers_are_reproducible),
      cmocka_unit_test(random_numbers_are_fair),
      cmocka_unit_test(zipf_has_its_shape),
      cmocka_unit_test(zipf_handles_many_keys),
      cmocka_unit_test(uniform_and_hotspot_have_their_shares),
      cmocka_unit_test(bad_distributions_are_refused),
      cmocka_unit_test(workload_keeps_its_shares),
      cmocka_unit_test(workload_replaces_keys),
      cmocka_unit_test(bad_workloads_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
