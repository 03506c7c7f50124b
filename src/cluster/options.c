/* options.c - KIND[:N][,OPTION...]: which servers, how many, and how they are set. */
#include "cluster/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/vector.h"

enum { MOST_DELAY_MS = 5000 };

/* ---- kinds ---- */

typedef struct kind_row {
  const char *name, *driver;
  bool counted;
  size_t nodes;
  const char *title;
} kind_row;

static const kind_row kinds[ISOPROOF_CLUSTER_KINDS] = {
#define ISOPROOF_X(c_name, id, driver, counted, nodes, title) {id, driver, counted, nodes, title},
    ISOPROOF_CLUSTER_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

const char *isoproof_cluster_kind_at(size_t number) {
  return number < ISOPROOF_CLUSTER_KINDS ? kinds[number].name : NULL;
}

const char *isoproof_cluster_kind_title(size_t number) {
  return number < ISOPROOF_CLUSTER_KINDS ? kinds[number].title : NULL;
}

const char *iso_cluster_kind_name(isoproof_cluster_kind kind) { return kinds[kind].name; }

static isoproof_status no_such_kind(const char *text, isoproof_error *error) {
  char quoted[256], names[400] = "";
  size_t used = 0;
  for (size_t i = 0; i < ISOPROOF_CLUSTER_KINDS && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s%s",
                             i == 0                           ? ""
                             : i + 1 < ISOPROOF_CLUSTER_KINDS ? ", "
                                                              : " or ",
                             kinds[i].name, kinds[i].counted ? ":N" : "");
  return iso_fail(error, ISOPROOF_ERR_USAGE, "cluster: expected %s (N: 1 to %d nodes), found %s", names,
                  ISOPROOF_CLUSTER_MOST_NODES, iso_quote(text, strlen(text), quoted));
}

static isoproof_status parse_kind(const char *text, iso_cluster_choice *choice, isoproof_error *error) {
  for (size_t i = 0; i < ISOPROOF_CLUSTER_KINDS; i++) {
    size_t length = strlen(kinds[i].name);
    choice->kind = (isoproof_cluster_kind)i;
    choice->nodes = kinds[i].nodes;
    if (strcmp(text, kinds[i].name) == 0) return ISOPROOF_OK;
    uint64_t nodes;
    if (!kinds[i].counted || strncmp(text, kinds[i].name, length) != 0 || text[length] != ':') continue;
    if (!iso_parse_u64(text + length + 1, strlen(text + length + 1), &nodes) || nodes < 1 ||
        nodes > ISOPROOF_CLUSTER_MOST_NODES)
      break;
    choice->nodes = (size_t)nodes;
    return ISOPROOF_OK;
  }
  return no_such_kind(text, error);
}

/* ---- options ---- */

static isoproof_status not_allowed(const iso_cluster_choice *choice, const char *found, isoproof_error *error) {
  char quoted[256];
  bool standby = choice->kind == ISOPROOF_CLUSTER_STANDBY;
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "cluster: expected %sset.NAME=VALUE (a setting of the servers of %s), found %s",
                  standby ? "sync, sync=N (a commit waits for N standbys), standbys=N (1 to 8), delay=TIME (such as "
                            "500ms or 2s; at most 5s) or "
                          : "",
                  kinds[choice->kind].name, found[0] != 0 ? iso_quote(found, strlen(found), quoted) : "nothing");
}

static bool parse_count(const char *text, size_t most, size_t *count) {
  uint64_t number;
  if (!iso_parse_u64(text, strlen(text), &number) || number < 1 || number > most) return false;
  *count = (size_t)number;
  return true;
}

/* "500ms", "2s" */
static bool is_delay(const char *text) {
  uint64_t number;
  size_t digits = strspn(text, "0123456789");
  const char *unit = text + digits;
  if (digits > 9 || !iso_parse_u64(text, digits, &number)) return false;
  if (strcmp(unit, "s") == 0) number *= 1000;
  return (strcmp(unit, "s") == 0 || strcmp(unit, "ms") == 0) && number <= MOST_DELAY_MS;
}

/* A name that means one thing on every command line, and a value that ends nothing. */
static bool take_setting(iso_cluster_choice *choice, char *text) {
  char *value = strchr(text, '=');
  if (value == NULL || value == text || choice->setting_count >= ISO_MOST_SERVER_SETTINGS) return false;
  *value++ = 0;
  for (const char *at = text; *at != 0; at++)
    if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.') return false;
  for (const char *at = value; *at != 0; at++)
    if ((unsigned char)*at < ' ') return false;
  choice->settings[choice->setting_count++] = (iso_server_setting){text, value};
  return true;
}

static bool take_option(iso_cluster_choice *choice, char *text) {
  bool standby = choice->kind == ISOPROOF_CLUSTER_STANDBY;
  if (strncmp(text, "set.", 4) == 0) return take_setting(choice, text + 4);
  if (!standby) return false;
  if (strcmp(text, "sync") == 0) return choice->sync = 1, true;
  if (strncmp(text, "sync=", 5) == 0) return parse_count(text + 5, ISOPROOF_CLUSTER_MOST_NODES - 1, &choice->sync);
  if (strncmp(text, "delay=", 6) == 0) return choice->delay = text + 6, is_delay(text + 6);
  size_t standbys;
  if (strncmp(text, "standbys=", 9) != 0 || !parse_count(text + 9, ISOPROOF_CLUSTER_MOST_NODES - 1, &standbys))
    return false;
  choice->nodes = standbys + 1;
  return true;
}

isoproof_status iso_cluster_parse(const char *given, iso_arena *arena, iso_cluster_choice *choice,
                                  isoproof_error *error) {
  *choice = (iso_cluster_choice){.kind = ISOPROOF_CLUSTER_POSTGRES};
  if (given == NULL) return no_such_kind("", error);
  char *text = iso_arena_text(arena, given, strlen(given));
  if (text == NULL) return iso_fail_memory(error);
  char *next = strchr(text, ',');
  if (next != NULL) *next++ = 0;
  ISO_TRY(parse_kind(text, choice, error));
  for (char *option = next; option != NULL; option = next) {
    next = strchr(option, ',');
    if (next != NULL) *next++ = 0;
    char *shown = iso_arena_text(arena, option, strlen(option));
    if (shown == NULL) return iso_fail_memory(error);
    if (!take_option(choice, option)) return not_allowed(choice, shown, error);
  }
  if (choice->sync >= choice->nodes && choice->sync > 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "cluster: sync=%zu waits for more standbys than there are: standbys=%zu",
                    choice->sync, choice->nodes - 1);
  return ISOPROOF_OK;
}
