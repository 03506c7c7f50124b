/* mark.c - marks of tables as texts and as names of columns, and whether the process behind one is still there. */
#include "database/mark.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/hash.h"

enum { PLACE_BITS = 40, PID_BITS = 25, STARTED_BITS = 35, NAME_BITS = 40 };
#define LOW(bits) ((UINT64_C(1) << (bits)) - 1)
/* Marks are compared between processes: their hashes have a seed of their own that never changes. */
#define SEED UINT64_C(0x69736f70726f6f66)

/* ---- processes ---- */

/* State and start of a process, in ticks since the machine was started.  The name before them, in parentheses, may hold
 * anything. */
static bool read_stat(uint64_t pid, char *state, uint64_t *started) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  size_t length = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  line[length] = 0;
  const char *after = strrchr(line, ')');
  if (after == NULL || after[1] != ' ') return false;
  *state = after[2];
  /* The state is field 3, the start field 22. */
  const char *at = after + 2;
  for (int field = 3; field < 22; field++) {
    at = strchr(at, ' ');
    if (at == NULL) return false;
    at++;
  }
  *started = strtoull(at, NULL, 10);
  return true;
}

void iso_process_here(iso_process *process) {
  char text[256] = "", state;
  *process = (iso_process){.pid = (uint64_t)getpid()};
  FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
  size_t used = boot != NULL ? fread(text, 1, 64, boot) : 0;
  if (boot != NULL) fclose(boot);
  ssize_t link = readlink("/proc/self/ns/pid", text + used, sizeof text - used);
  if (used == 0 || link <= 0 || !read_stat(process->pid, &state, &process->started)) return;
  process->place = iso_hash_bytes(text, used + (size_t)link, SEED) & LOW(PLACE_BITS);
}

iso_run_life iso_process_life(const iso_process *process, const iso_process *here) {
  uint64_t started;
  char state;
  if (process->place == 0 || process->place != here->place) return ISO_RUN_ELSEWHERE;
  /* What /proc hides from us is seen by kill all the same. */
  if (process->pid == 0 || process->pid > INT32_MAX) return ISO_RUN_GONE;
  if (kill((pid_t)process->pid, 0) != 0 && errno == ESRCH) return ISO_RUN_GONE;
  if (!read_stat(process->pid, &state, &started)) return ISO_RUN_LIVES;
  bool dead = state == 'Z' || state == 'X';
  return dead || (started & LOW(STARTED_BITS)) != (process->started & LOW(STARTED_BITS)) ? ISO_RUN_GONE : ISO_RUN_LIVES;
}

/* ---- texts ---- */

#define FIRST_WORDS "isoproof table "

size_t iso_mark_write(const iso_mark *mark, char text[ISO_MARK_BYTES]) {
  int length = snprintf(text, ISO_MARK_BYTES,
                        FIRST_WORDS "%s of run %016" PRIx64 " made %" PRId64 " by process %" PRIu64 " started %" PRIu64
                                    " at %010" PRIx64 "%s",
                        mark->table, mark->run, mark->made, mark->process.pid, mark->process.started,
                        mark->process.place, mark->kept ? ", kept" : "");
  return length > 0 ? (size_t)length : 0;
}

static bool is_name(const char *name) {
  if (name[0] == 0) return false;
  for (; *name != 0; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

bool iso_mark_read(const char *text, iso_mark *mark) {
  const char *at = text != NULL ? strstr(text, FIRST_WORDS) : NULL;
  if (at == NULL) return false;
  memset(mark, 0, sizeof *mark);
  _Static_assert(ISO_TABLE_BYTES == 48, "the width of the name below");
  int end = 0;
  int found = sscanf(at,
                     FIRST_WORDS "%47[A-Za-z0-9_] of run %16" SCNx64 " made %19" SCNd64 " by process %20" SCNu64
                                 " started %20" SCNu64 " at %10" SCNx64 "%n",
                     mark->table, &mark->run, &mark->made, &mark->process.pid, &mark->process.started,
                     &mark->process.place, &end);
  if (found != 6 || !is_name(mark->table)) return false;
  mark->kept = strncmp(at + end, ", kept", 6) == 0;
  /* Nothing but what was written by us, to the letter. */
  char again[ISO_MARK_BYTES];
  size_t length = iso_mark_write(mark, again);
  return length < ISO_MARK_BYTES && strncmp(at, again, length) == 0;
}

bool iso_mark_fits(const char *text, const char *table, iso_mark *mark) {
  return iso_mark_read(text, mark) && strcmp(mark->table, table) == 0;
}

/* ---- names of columns ---- */

/* Letters that are not taken for one another when case is lost. */
static const char digits[33] = "abcdefghijklmnopqrstuvwxyz234567";

static size_t put(char *out, uint64_t number, unsigned bits) {
  size_t count = (bits + 4) / 5;
  for (size_t i = 0; i < count; i++) out[count - 1 - i] = digits[number >> (5 * i) & 31];
  out[count] = 0;
  return count;
}

static bool get(const char **text, unsigned bits, uint64_t *number) {
  size_t count = (bits + 4) / 5;
  *number = 0;
  for (size_t i = 0; i < count; i++) {
    const char *digit = **text != 0 ? strchr(digits, tolower((unsigned char)**text)) : NULL;
    if (digit == NULL) return false;
    *number = *number << 5 | (uint64_t)(digit - digits);
    (*text)++;
  }
  return true;
}

static uint64_t name_hash(const char *table) {
  char folded[ISO_TABLE_BYTES] = "";
  for (size_t i = 0; i + 1 < sizeof folded && table[i] != 0; i++) folded[i] = (char)tolower((unsigned char)table[i]);
  return iso_hash_bytes(folded, strlen(folded), SEED) & LOW(NAME_BITS);
}

#define COLUMN_WORD "isoproof_"

void iso_mark_write_columns(const iso_mark *mark, char columns[ISO_MARK_COLUMNS][ISO_MARK_COLUMN_BYTES]) {
  size_t word = strlen(COLUMN_WORD) + 1;
  static const char letters[ISO_MARK_COLUMNS] = {'r', 'n', 'p'};
  for (int i = 0; i < ISO_MARK_COLUMNS; i++)
    snprintf(columns[i], ISO_MARK_COLUMN_BYTES, COLUMN_WORD "%c", i == 0 && mark->kept ? 'k' : letters[i]);
  put(columns[0] + word, mark->run, 64);
  put(columns[1] + word, name_hash(mark->table), NAME_BITS);
  char *at = columns[2] + word;
  at += put(at, mark->process.place & LOW(PLACE_BITS), PLACE_BITS);
  at += put(at, mark->process.pid & LOW(PID_BITS), PID_BITS);
  put(at, mark->process.started & LOW(STARTED_BITS), STARTED_BITS);
}

bool iso_mark_fits_columns(const char *const *columns, size_t count, const char *table, iso_mark *mark) {
  uint64_t name = 0;
  unsigned seen = 0;
  memset(mark, 0, sizeof *mark);
  snprintf(mark->table, sizeof mark->table, "%s", table);
  for (size_t i = 0; i < count; i++) {
    const char *at = columns[i];
    if (strncasecmp(at, COLUMN_WORD, strlen(COLUMN_WORD)) != 0) continue;
    at += strlen(COLUMN_WORD);
    int kind = tolower((unsigned char)*at);
    if (*at != 0) at++;
    if (kind == 'r' || kind == 'k') {
      if (get(&at, 64, &mark->run) && *at == 0) seen |= 1;
      mark->kept = kind == 'k';
    } else if (kind == 'n') {
      if (get(&at, NAME_BITS, &name) && *at == 0) seen |= 2;
    } else if (kind == 'p') {
      bool good = get(&at, PLACE_BITS, &mark->process.place) && get(&at, PID_BITS, &mark->process.pid) &&
                  get(&at, STARTED_BITS, &mark->process.started);
      if (good && *at == 0) seen |= 4;
    }
  }
  return seen == 7 && name == name_hash(table);
}
