/* Counting anomalies that are no cycles, and keeping those that will be shown. */
#include "elle/noncycle.h"

void iso_noncycle_anomalies_add(iso_noncycle_anomalies *anomalies, iso_anomaly anomaly, uint64_t instances,
                                iso_noncycle_anomaly one) {
  bool first = anomalies->count[anomaly] == 0;
  anomalies->count[anomaly] += instances;
  if ((first || anomalies->all) && !iso_vec_push(&anomalies->list, one)) anomalies->failed = true;
}
