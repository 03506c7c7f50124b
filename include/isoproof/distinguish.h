/* isoproof/distinguish.h - what tells two levels apart: the smallest history that one allows and the other forbids, or
 * why there is none.
 *
 *     const isoproof_level_info *si = isoproof_level_find("si"), *ser = isoproof_level_find("ser");
 *     isoproof_distinction d = {.struct_size = sizeof d};
 *     if (isoproof_distinguish(si, ser, &d)) puts(d.history);
 *
 * All histories up to the sizes that isoproof_distinguish_searched tells were listed and judged, once each but for the
 * names of sessions, keys and values.  The smallest has the fewest transactions, then operations, then sessions, then
 * keys, and then the fewest pairs of transactions that overlap.
 *
 * This is about the levels (families ISOPROOF_LEVEL_BASE and ISOPROOF_LEVEL_SESSION) and about the models whose name no
 * level has and which some anomaly rules out.  Models other than PL-SI and PL-3 are decided by Elle's way, which needs
 * lists: they show the order of their versions.  Some models have no anomaly of their own, or need predicates to be
 * told from others: then neither a history nor a proof may be known.
 *
 * Everything points into constant tables of the library: nothing is owned, nothing is freed.
 */
#ifndef ISOPROOF_DISTINGUISH_H
#define ISOPROOF_DISTINGUISH_H

#include <isoproof/level.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_distinction {
  size_t struct_size; /* sizeof(isoproof_distinction), set by the caller */
  const char *history;
  const char *format; /* "plume", or "jsonl" where a level needs lists, times or levels of transactions */
  uint32_t transactions, operations, sessions, keys;
  bool lists; /* it is of lists: models are judged by Elle's way (isoproof_check_options.models); else of registers */
} isoproof_distinction;

/* The smallest history that the first level allows and the second forbids.  False when there is none: because the first
 * implies the second (isoproof_proof_step_at says why), or because none was found that is known to be one. */
ISOPROOF_API bool isoproof_distinguish(const isoproof_level_info *allows, const isoproof_level_info *forbids,
                                       isoproof_distinction *out);
/* Whether this is about the level. */
ISOPROOF_API bool isoproof_can_distinguish(const isoproof_level_info *level);
/* Up to how many operations all histories with that many transactions were judged at these two levels; 0: none. */
ISOPROOF_API uint32_t isoproof_distinguish_searched(const isoproof_level_info *allows,
                                                    const isoproof_level_info *forbids, uint32_t transactions);

/* A step of a proof that one level implies another. */
typedef struct isoproof_proof_step {
  size_t struct_size; /* sizeof(isoproof_proof_step), set by the caller */
  const isoproof_level_info *stronger, *weaker;
  const char *why;    /* in a sentence or two */
  const char *source; /* the paper, and the theorem where it is one */
  bool
      drawn; /* a direct implication of the lattice; else one that holds only for histories that both can be asked of */
} isoproof_proof_step;

/* The steps from a level to one that it implies: `number` from 0; false after the last, and at once when it does not
 * imply it, or both are the same. */
ISOPROOF_API bool isoproof_proof_step_at(const isoproof_level_info *stronger, const isoproof_level_info *weaker,
                                         size_t number, isoproof_proof_step *out);

#ifdef __cplusplus
}
#endif

#endif
