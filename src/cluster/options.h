/* options.h - what `--cluster` says: "postgres:standby,sync,delay=500ms" taken apart.
 *
 * Texts live in the arena that the parser was given.
 */
#ifndef ISO_CLUSTER_OPTIONS_H
#define ISO_CLUSTER_OPTIONS_H

#include <isoproof/cluster.h>

#include "base/arena.h"

enum { ISO_MOST_SERVER_SETTINGS = 16 };

/* A setting of the servers, by their own names. */
typedef struct iso_server_setting {
  const char *name, *value;
} iso_server_setting;

typedef struct iso_cluster_choice {
  isoproof_cluster_kind kind;
  size_t nodes;
  size_t sync;       /* how many standbys a commit waits for; 0: none */
  const char *delay; /* after which a standby applies what it got, "500ms"; NULL none */
  iso_server_setting settings[ISO_MOST_SERVER_SETTINGS];
  size_t setting_count;
} iso_cluster_choice;

/* ISOPROOF_ERR_USAGE says what there is. */
isoproof_status iso_cluster_parse(const char *text, iso_arena *arena, iso_cluster_choice *choice,
                                  isoproof_error *error);
const char *iso_cluster_kind_name(isoproof_cluster_kind kind);

#endif
