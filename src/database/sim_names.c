/* sim_names.c - names of the levels, bugs and key distributions of the simulator. */
#include <isoproof/level.h>
#include <isoproof/simulate.h>
#include <string.h>
#include <strings.h>

static const char *const level_names[] = {
#define ISOLDE_X(name, id, text) id,
    ISOLDE_SIM_LEVEL_LIST(ISOLDE_X)
#undef ISOLDE_X
};

static const char *const bug_names[] = {
#define ISOLDE_X(name, id, level, text) id,
    ISOLDE_SIM_BUG_LIST(ISOLDE_X)
#undef ISOLDE_X
};

static const char *const bug_levels[] = {
#define ISOLDE_X(name, id, level, text) level,
    ISOLDE_SIM_BUG_LIST(ISOLDE_X)
#undef ISOLDE_X
};

static const char *const keys_names[] = {
#define ISOLDE_X(name, id, text) id,
    ISOLDE_KEYS_LIST(ISOLDE_X)
#undef ISOLDE_X
};

_Static_assert(ISOLDE_SIM_BUGS <= sizeof((isolde_sim_options *)NULL)->bugs / sizeof(uint64_t),
               "isolde_sim_options has room for every bug");

const char *isolde_sim_level_name(isolde_sim_level level) {
  return (unsigned)level < ISOLDE_SIM_LEVELS ? level_names[level] : NULL;
}

const char *isolde_sim_bug_name(isolde_sim_bug bug) { return (unsigned)bug < ISOLDE_SIM_BUGS ? bug_names[bug] : NULL; }

const char *isolde_sim_bug_level(isolde_sim_bug bug) {
  return (unsigned)bug < ISOLDE_SIM_BUGS ? bug_levels[bug] : NULL;
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

bool isolde_sim_level_find(const char *name, isolde_sim_level *level) {
  const isolde_level_info *info = isolde_level_find_in(name, ISOLDE_LEVEL_BASE);
  int found = info != NULL ? find(level_names, ISOLDE_SIM_LEVELS, info->id) : -1;
  if (found >= 0) *level = (isolde_sim_level)found;
  return found >= 0;
}

bool isolde_sim_bug_find(const char *name, isolde_sim_bug *bug) {
  int found = find(bug_names, ISOLDE_SIM_BUGS, name);
  if (found >= 0) *bug = (isolde_sim_bug)found;
  return found >= 0;
}

bool isolde_keys_find(const char *name, isolde_keys *keys) {
  int found = find(keys_names, ISOLDE_KEYS_KINDS, name);
  if (found >= 0) *keys = (isolde_keys)found;
  return found >= 0;
}
