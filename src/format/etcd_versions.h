/* etcd_versions.h - the versions of keys that a record of etcd tells of, by revision.
 *
 * A revision is the number of a transaction that changed something, in the order in which they took effect; a version
 * of a key is known by that of its transaction.  Where the answer was lost, what others read tells the revision.  The
 * versions own their columns until iso_etcd_versions_free.
 */
#ifndef ISO_FORMAT_ETCD_VERSIONS_H
#define ISO_FORMAT_ETCD_VERSIONS_H

#include "format/etcd.h"

typedef struct iso_etcd_version {
  iso_value key, value;
  int64_t revision;
  bool deleted;
} iso_etcd_version;

typedef struct iso_etcd_versions {
  ISO_VEC(iso_etcd_version) all; /* by key, then by revision */
  ISO_VEC(int64_t) revisions;    /* that somebody is known to have made, ascending, each once */
  int64_t base;                  /* the revision before everything */
  bool any;                      /* the file has revisions */
} iso_etcd_versions;

/* Fills in the revisions of lost operations where others show them. */
isoproof_status iso_etcd_versions_make(iso_etcd_record *record, iso_etcd_versions *versions, isoproof_error *error);
void iso_etcd_versions_free(iso_etcd_versions *versions);

/* Whether an operation changes something. */
bool iso_etcd_changes(const iso_etcd_record *record, const iso_etcd_op *op);
/* What an operation did, as far as that is known: the items of one of its branches. */
iso_etcd_span iso_etcd_done(const iso_etcd_op *op);

/* The last version of a key up to a revision; NULL when there is none. */
const iso_etcd_version *iso_etcd_version_at(const iso_etcd_versions *versions, iso_value key, int64_t revision);
bool iso_etcd_is_made(const iso_etcd_versions *versions, int64_t revision);

#endif
