/* weak_scan.h - scans for what an axiom forces, on several threads and with clocks for some sessions at a time.
 *
 * A job belongs to its maker until iso_weak_job_free; what it found belongs to the result that it is collected into.
 */
#ifndef ISO_CHECK_AXIOMS_WEAK_SCAN_H
#define ISO_CHECK_AXIOMS_WEAK_SCAN_H

#include "check/axioms/scan.h"
#include "check/axioms/weak.h"

/* What one thread finds: edges in the first scan, instances in the second. */
typedef struct iso_weak_finder {
  struct iso_weak_job *job;
  ISO_VEC(iso_edge) edges;
  ISO_VEC(iso_instance) instances;
  bool overwrote_initial; /* a writer visible to a read of the initial version */
  isoproof_status status;
  bool failed;
} iso_weak_finder;

typedef struct iso_weak_job {
  iso_scan_request request;
  const iso_order *order; /* with components: collect instances on cycles */
  iso_weak_finder *finders;
  isoproof_task *task;
  uint32_t next_key; /* atomic: causal, the first key that no thread has taken */
} iso_weak_job;

/* What may be done with a forced pair, of a finder: its edge is noted, or its instance where it is on a cycle. */
void iso_weak_take_edge(void *context, uint32_t t2, uint32_t t3, uint32_t read);
void iso_weak_take_instance(void *context, uint32_t t2, uint32_t t3, uint32_t read);

/* What a scan for the axiom needs; the caller frees it with iso_weak_job_free. */
isoproof_status iso_weak_job_make(iso_weak *weak, iso_axiom axiom, isoproof_task *task, iso_weak_job *job,
                                  unsigned *threads, isoproof_error *error);
void iso_weak_job_free(iso_weak_job *job, unsigned threads);
/* Scans once, with the clocks that the request has. */
isoproof_status iso_weak_job_run(iso_weak_job *job, unsigned threads, isoproof_error *error);
/* Scans with clocks for one block of sessions after the other; with a single block the clocks are kept. */
isoproof_status iso_weak_job_run_blocks(iso_weak *weak, iso_weak_job *job, unsigned threads, isoproof_error *error);
/* Adds what the threads have found to the result. */
void iso_weak_job_collect(iso_weak_job *job, unsigned threads, iso_axiom_result *r, bool *failed);

/* How many columns of clocks are made at a time. */
uint32_t iso_weak_block_width(const iso_weak *weak);
/* Makes the clocks of all sessions. */
isoproof_status iso_weak_need_clocks(iso_weak *weak, isoproof_task *task, isoproof_error *error);

#endif
