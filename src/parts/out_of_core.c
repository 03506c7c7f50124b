/* isoproof_check_out_of_core: a file in the binary form, part after part, within a given amount of memory. */
#include <isoproof/check.h>
#include <string.h>

#include "base/abi.h"
#include "format/binary.h"
#include "format/format.h"
#include "parts/judge.h"

/* Measured, see docs/scale.md: what a check in memory takes, and what stays and what a part takes out of core; MENDED
 * is what stays besides where begins and commits may have to move (parts/mend.h). */
enum {
  WHOLE_PER_OP = 44,
  WHOLE_PER_TXN = 220,
  KEPT_PER_TXN = 66,
  MENDED_PER_TXN = 26,
  PART_PER_OP = 48,
  PER_KEY = 24,
  KEPT = 24 << 20
};
enum { MOST_PARTS = 4096 };

isoproof_status isoproof_check_memory(const char *path, uint64_t *bytes, isoproof_error *error) {
  iso_binary_header header;
  *bytes = 0;
  ISO_TRY(iso_binary_look(path, &header, error));
  *bytes = (uint64_t)header.ops * WHOLE_PER_OP + (uint64_t)header.txns * WHOLE_PER_TXN + header.list_values * 16;
  return ISOPROOF_OK;
}

/* How many parts there must be so that one of them fits beside what is kept; 0 where none would. */
static uint32_t parts_for(const isoproof_history *h, bool mended, uint64_t memory) {
  uint64_t kept = (uint64_t)h->txns * KEPT_PER_TXN + (mended ? (uint64_t)h->txns * MENDED_PER_TXN : 0) + KEPT;
  uint64_t lists = h->list_first != NULL ? h->list_first[h->keys] : 0;
  uint64_t all = (uint64_t)h->ops * PART_PER_OP + (uint64_t)h->keys * PER_KEY + lists * 16;
  if (memory <= kept) return 0;
  uint64_t parts = all / (memory - kept) + 1;
  return parts > MOST_PARTS ? 0 : (uint32_t)parts;
}

static bool wants_snapshots(const isoproof_check_options *options) {
  for (size_t i = 0; i < options->level_count; i++) {
    iso_level level = (iso_level)isoproof_level_find(options->levels[i])->number;
    if (level == ISO_LEVEL_SNAPSHOT_ISOLATION || level == ISO_LEVEL_STRONG_SI) return true;
  }
  return options->level_count == 0;
}

static isoproof_status open_frugally(const char *path, isoproof_task *task, isoproof_history **history,
                                     isoproof_error *error) {
  iso_binary_header header;
  iso_input *input;
  ISO_TRY(iso_binary_look(path, &header, error));
  if (header.version == 0)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "out of core takes a plain file in the binary form: 'isoproof convert' makes one");
  ISO_TRY(iso_input_open_for(path, task, &input, error));
  isoproof_status status = iso_read_binary_frugally(input, history, task, error);
  iso_input_close(input);
  return status;
}

/* By reading the columns in a few passes; what does not fit or is not proved is left to the parts. */
static isoproof_status prove(isoproof_history *h, const isoproof_check_options *options, uint64_t memory,
                             isoproof_task *task, iso_parts_result *judged, isoproof_error *error) {
  isoproof_error problem;
  memset(judged, 0, sizeof *judged);
  if (memory <= KEPT) return ISOPROOF_OK;
  isoproof_status status = iso_judge_by_columns(h, options, memory - KEPT, task, judged, &problem);
  if (status == ISOPROOF_OK || status == ISOPROOF_ERR_MEMORY) return ISOPROOF_OK;
  if (error != NULL) *error = problem;
  return status;
}

/* By parts.  What is read from the file and stays there: the columns of transactions. */
static isoproof_status judge(isoproof_history *h, const isoproof_check_options *options, uint64_t memory,
                             isoproof_task *task, iso_parts_result *judged, isoproof_error *error) {
  iso_piece piece = iso_piece_of(h);
  iso_part_frame frame = {.txns = h->txns, .txn_status = h->txn_status, .initial_is_zero = h->initial_is_zero};
  uint32_t parts = parts_for(h, wants_snapshots(options), memory);
  if (parts == 0) parts = parts_for(h, false, memory);
  iso_local_team local;
  iso_whole whole = {.fits = false};
  if (parts == 0)
    return iso_fail(error, ISOPROOF_ERR_MEMORY, "%u transactions do not fit into %llu bytes, in any number of parts",
                    h->txns, (unsigned long long)memory);
  ISO_TRY(iso_local_team_make(&piece, frame, parts, parts == 1, task, &local, error));
  isoproof_status status = iso_judge_parts(&local.team, h, options, &whole, task, judged, error);
  iso_local_team_free(&local);
  return status;
}

isoproof_status isoproof_check_out_of_core(const char *path, const isoproof_check_options *options, uint64_t memory,
                                           isoproof_task *task, isoproof_history **history, isoproof_result **result,
                                           isoproof_error *error) {
  isoproof_check_options known = {.struct_size = sizeof known};
  isoproof_history *h = NULL;
  iso_parts_result judged;
  *history = NULL;
  *result = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_check_options, &known, options, error));
  for (size_t i = 0; i < known.level_count; i++) {
    if (isoproof_level_find(known.levels[i]) == NULL)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no level `%s`", known.levels[i]);
  }
  ISO_TRY(open_frugally(path, task, &h, error));
  isoproof_status status = prove(h, &known, memory, task, &judged, error);
  if (status == ISOPROOF_OK && judged.result == NULL) status = judge(h, &known, memory, task, &judged, error);
  if (status != ISOPROOF_OK || judged.history != NULL) isoproof_history_free(h);
  if (status != ISOPROOF_OK) return status;
  *history = judged.history != NULL ? judged.history : h;
  *result = judged.result;
  return ISOPROOF_OK;
}
