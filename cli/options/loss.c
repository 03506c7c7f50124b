/* loss.c - compressions and losses of a write. */
#include "cli/options/loss.h"

#include <inttypes.h>

#include "cli/terminal/message.h"

const char *compression_name_at(size_t number) {
  static const char *const names[] = {"auto", "none", "gzip", "zstd"};
  return number < 4 ? names[number] : NULL;
}

isoproof_compression compression_choice(const option_value *value) {
  static const isoproof_compression kinds[] = {ISOPROOF_COMPRESS_AUTO, ISOPROOF_COMPRESS_NO, ISOPROOF_COMPRESS_GZIP,
                                               ISOPROOF_COMPRESS_ZSTD};
  return value->given && value->choice < 4 ? kinds[value->choice] : ISOPROOF_COMPRESS_AUTO;
}

static void report_count(uint64_t count, const char *one, const char *many) {
  if (count > 0) message("note: %" PRIu64 " %s", count, count == 1 ? one : many);
}

static void report_flag(bool lost, const char *what, const char *format) {
  if (lost) message("note: %s left out: %s has no place for them", what, format);
}

void report_loss(const isoproof_write_loss *loss, const char *format) {
  report_count(loss->unknown_txns, "transaction of unknown outcome that nobody read from was left out",
               "transactions of unknown outcome that nobody read from were left out");
  report_count(loss->promoted_txns, "transaction of unknown outcome that was read from is written as committed",
               "transactions of unknown outcome that were read from are written as committed");
  report_count(loss->empty_txns, "transaction without operations was left out",
               "transactions without operations were left out");
  report_count(loss->unrecorded_reads, "read without a recorded result was left out",
               "reads without a recorded result were left out");
  report_count(loss->merged_aborts, "aborted transaction will read back as part of its predecessor",
               "aborted transactions will read back as part of their predecessors");
  report_count(loss->isolations, "transaction lost the isolation level of its own",
               "transactions lost the isolation levels of their own");
  report_flag(loss->times, "times are", format);
  report_flag(loss->nodes, "nodes are", format);
  report_flag(loss->ids, "ids of transactions are", format);
  report_flag(loss->session_names, "names of sessions are", format);
}
