/* etcd.h - what etcd's robustness tests record: requests and answers, one JSON object each, as they are in the file.
 *
 *   {"ClientId":9,"Input":{"Type":"range","Range":{"Start":"key3","End":"","Limit":0,"Revision":0},...},
 *    "Call":966524,"Output":{"Range":{"KVs":[{"Key":"key3","Value":{"Value":"4"},"ModRevision":5}],"Count":1},
 *    "Revision":12,"Error":""},"Return":2097104}
 *
 * A record owns its columns until iso_etcd_record_free; keys and values are codes of the pool that it was read with.
 */
#ifndef ISO_FORMAT_ETCD_H
#define ISO_FORMAT_ETCD_H

#include "base/input.h"
#include "base/vector.h"
#include "history/pool.h"

/* Requests: C name, text.  What is asked within transactions has the same kinds. */
#define ISO_ETCD_REQUEST_LIST(X)                                                                                       \
  X(RANGE, "range")                                                                                                    \
  X(TXN, "txn")                                                                                                        \
  X(LEASE_GRANT, "leaseGrant")                                                                                         \
  X(LEASE_REVOKE, "leaseRevoke")                                                                                       \
  X(DEFRAGMENT, "defragment")                                                                                          \
  X(COMPACT, "compact")

typedef enum iso_etcd_request {
#define ISO_X(name, text) ISO_ETCD_##name,
  ISO_ETCD_REQUEST_LIST(ISO_X)
#undef ISO_X
      ISO_ETCD_REQUESTS
} iso_etcd_request;

typedef enum iso_etcd_kind { ISO_ETCD_READ, ISO_ETCD_PUT, ISO_ETCD_DELETE, ISO_ETCD_KINDS } iso_etcd_kind;

/* A part of a request. */
typedef struct iso_etcd_item {
  iso_etcd_kind kind;
  iso_value key, end; /* the end of a range, or ISO_VALUE_NIL for one key */
  iso_value value;    /* of a put */
  int64_t limit, revision, lease;
} iso_etcd_item;

typedef struct iso_etcd_condition {
  iso_value key;
  int64_t revision, version;
} iso_etcd_condition;

typedef struct iso_etcd_pair {
  iso_value key, value;
  int64_t revision;
} iso_etcd_pair;

/* The answer to an item. */
typedef struct iso_etcd_span {
  size_t first, count;
} iso_etcd_span;

typedef struct iso_etcd_result {
  iso_etcd_span pairs;
  int64_t all, deleted;
} iso_etcd_result;

typedef struct iso_etcd_op {
  iso_etcd_request request;
  int64_t client, call, back;
  iso_etcd_span conditions, success, failure; /* items; a range request is one of `success` */
  iso_etcd_span results;
  int64_t lease;    /* that is revoked */
  int64_t revision; /* 0 where nobody knows */
  bool failed;      /* the conditions did not hold */
  bool lost;        /* nobody knows what became of it, but perhaps its revision */
  bool refused;     /* the server said no */
  uint64_t line;
  uint32_t file;
} iso_etcd_op;

typedef struct iso_etcd_record {
  ISO_VEC(iso_etcd_op) ops;
  ISO_VEC(iso_etcd_item) items;
  ISO_VEC(iso_etcd_condition) conditions;
  ISO_VEC(iso_etcd_result) results;
  ISO_VEC(iso_etcd_pair) pairs;
  ISO_VEC(char *) files;
} iso_etcd_record;

/* Adds what a file has; ISOPROOF_ERR_UNSUPPORTED for requests that are none of the above. */
isoproof_status iso_etcd_parse(iso_input *input, iso_pool *pool, isoproof_task *task, iso_etcd_record *record,
                               isoproof_error *error);
void iso_etcd_record_free(iso_etcd_record *record);

#endif
