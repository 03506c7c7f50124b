/* names.c - names of the levels, bugs and key distributions of the simulator. */
#include <isoproof/level.h>
#include <isoproof/simulate.h>
#include <string.h>
#include <strings.h>

static const char *const level_names[] = {
#define ISOPROOF_X(name, id, text) id,
    ISOPROOF_SIM_LEVEL_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

static const char *const bug_names[] = {
#define ISOPROOF_X(name, id, level, text) id,
    ISOPROOF_SIM_BUG_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

static const char *const bug_levels[] = {
#define ISOPROOF_X(name, id, level, text) level,
    ISOPROOF_SIM_BUG_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

static const char *const keys_names[] = {
#define ISOPROOF_X(name, id, text) id,
    ISOPROOF_KEY_DISTRIBUTION_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

_Static_assert(ISOPROOF_SIM_BUGS <= sizeof((isoproof_sim_options *)NULL)->bugs / sizeof(uint64_t),
               "isoproof_sim_options has room for every bug");

const char *isoproof_sim_level_name(isoproof_sim_level level) {
  return (unsigned)level < ISOPROOF_SIM_LEVELS ? level_names[level] : NULL;
}

const char *isoproof_sim_bug_name(isoproof_sim_bug bug) {
  return (unsigned)bug < ISOPROOF_SIM_BUGS ? bug_names[bug] : NULL;
}

const char *isoproof_sim_bug_level(isoproof_sim_bug bug) {
  return (unsigned)bug < ISOPROOF_SIM_BUGS ? bug_levels[bug] : NULL;
}

/* The position of a name, -1 when there is none.  Case does not matter, and '_' and ' ' are taken as '-'. */
static int find(const char *const *names, size_t count, const char *name) {
  char plain[64];
  size_t length = strlen(name);
  if (length >= sizeof plain) return -1;
  for (size_t i = 0; i <= length; i++) plain[i] = (char)(name[i] == '_' || name[i] == ' ' ? '-' : name[i]);
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(names[i], plain) == 0) return (int)i;
  return -1;
}

bool isoproof_sim_level_find(const char *name, isoproof_sim_level *level) {
  const isoproof_level_info *info = isoproof_level_find_in(name, ISOPROOF_LEVEL_BASE);
  int found = info != NULL ? find(level_names, ISOPROOF_SIM_LEVELS, info->id) : -1;
  if (found >= 0) *level = (isoproof_sim_level)found;
  return found >= 0;
}

bool isoproof_sim_bug_find(const char *name, isoproof_sim_bug *bug) {
  int found = find(bug_names, ISOPROOF_SIM_BUGS, name);
  if (found >= 0) *bug = (isoproof_sim_bug)found;
  return found >= 0;
}

bool isoproof_key_distribution_find(const char *name, isoproof_key_distribution *keys) {
  int found = find(keys_names, ISOPROOF_KEY_DISTRIBUTIONS, name);
  if (found >= 0) *keys = (isoproof_key_distribution)found;
  return found >= 0;
}
