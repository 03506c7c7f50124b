/* progress.c - the progress line: what is being done, how far it is, and since when. */
#include "cli/terminal/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/message.h"
#include "cli/terminal/terminal.h"

enum { SUBJECT_BYTES = 256, PART_BYTES = 128, LINE_BYTES = 1024, TICK_MS = 200 };
/* After that long without news a share says nothing any more, and the time that passes is shown instead. */
static const double stale_after = 1;

static struct {
  pthread_mutex_t lock;
  bool active, ticking;
  bool known; /* there is something to show */
  double began;
  double stage_began;
  double changed; /* the last news */
  double last_shown;
  /* The latest news, copied. */
  char stage[64], unit[32], level[64];
  uint64_t done, total;
  uint32_t levels_decided, levels_total;
  char subject[SUBJECT_BYTES];
  /* A line of the caller's own instead. */
  char own[PROGRESS_PARTS][PART_BYTES];
  size_t own_count;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool shown; /* a handler of signals looks at it, too */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- words ---- */

/* "12.3 M" with a decimal prefix. */
static void scaled(double number, char *text, size_t size) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T"};
  size_t i = 0;
  for (; number >= 1000 && i < 4; i++) number /= 1000;
  snprintf(text, size, i == 0 ? "%.0f %s" : "%.1f %s", number, prefixes[i]);
}

void progress_duration(double seconds, char *text, size_t size) {
  unsigned long whole = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000UL;
  if (whole >= 3600)
    snprintf(text, size, "%lu h %02lu min", whole / 3600, whole / 60 % 60);
  else if (whole >= 60)
    snprintf(text, size, "%lu min %02lu s", whole / 60, whole % 60);
  else
    snprintf(text, size, "%lu s", whole);
}

/* Parts of a line, the most important first: those that fit. */
typedef struct parts {
  char items[PROGRESS_PARTS][PART_BYTES];
  size_t count;
} parts;

static char *next_part(parts *p) { return p->items[p->count < PROGRESS_PARTS ? p->count++ : PROGRESS_PARTS - 1]; }

/* "deciding serializable", "3 of 16 levels decided", "4 s" */
static void describe_level(parts *p, double t) {
  snprintf(next_part(p), PART_BYTES, "deciding %s", state.level);
  if (state.levels_total > 0)
    snprintf(next_part(p), PART_BYTES, "%u of %u levels decided", state.levels_decided, state.levels_total);
  progress_duration(t - state.stage_began, next_part(p), PART_BYTES);
  if (strcmp(state.stage, "deciding") != 0) snprintf(next_part(p), PART_BYTES, "%s", state.stage);
}

/* "loading 45%", "80.0 MB/s", "2 s left"; without news for a while "loading", "12 s". */
static void describe_stage(parts *p, double t) {
  char rate[32], left[64];
  double seconds = t - state.stage_began, speed = seconds > 0 ? (double)state.done / seconds : 0;
  bool stale = t - state.changed > stale_after;
  bool shares = !stale && state.done > 0 && state.done < state.total;
  scaled(speed, rate, sizeof rate);
  const char *unit = strcmp(state.unit, "bytes") == 0 ? "B" : state.unit;
  const char *gap = rate[strlen(rate) - 1] == ' ' || strcmp(unit, "B") == 0 ? "" : " ";
  if (shares)
    snprintf(next_part(p), PART_BYTES, "%s %.0f%%", state.stage, 100.0 * (double)state.done / (double)state.total);
  else
    snprintf(next_part(p), PART_BYTES, "%s", state.stage);
  if (stale || state.done == 0 || seconds < 0.3) {
    progress_duration(seconds, next_part(p), PART_BYTES);
    return;
  }
  snprintf(next_part(p), PART_BYTES, "%s%s%s/s", rate, gap, unit);
  if (!shares || !(speed > 0)) return;
  progress_duration((double)(state.total - state.done) / speed, left, sizeof left);
  snprintf(next_part(p), PART_BYTES, "%s left", left);
}

/* ---- the line ---- */

static void erase(void) {
  if (atomic_exchange(&shown, false)) fputs("\r\033[K", stderr);
}

/* As many parts as fit; the first one is cut rather than wrapped, since a wrapped line could not be erased. */
static void draw(const parts *p, double t) {
  char line[LINE_BYTES];
  unsigned width = terminal_columns(stderr), room = width > 1 ? width - 1 : 0;
  size_t used = (size_t)snprintf(line, sizeof line, "%s%s%s", state.subject, state.subject[0] != 0 ? ": " : "",
                                 p->count > 0 ? p->items[0] : "");
  for (size_t i = 1; i < p->count && used < sizeof line; i++) {
    if (text_columns(line) + 2 + text_columns(p->items[i]) > room) continue;
    used += (size_t)snprintf(line + used, sizeof line - used, ", %s", p->items[i]);
  }
  size_t cut = text_bytes(line, room);
  line[cut] = 0;
  erase();
  put_escaped(stderr, line);
  fflush(stderr);
  atomic_store(&shown, true);
  state.last_shown = t;
}

/* Shows what is known, but nothing in the first second of a command. */
static void show(double t) {
  parts p = {.count = 0};
  if (!state.active || !state.known || t - state.began < 1) return;
  if (state.own_count > 0) {
    memcpy(p.items, state.own, sizeof state.own);
    p.count = state.own_count;
  } else if (state.level[0] != 0) {
    describe_level(&p, t);
  } else {
    describe_stage(&p, t);
  }
  draw(&p, t);
}

/* Keeps the line moving while the library is silent. */
static void *tick(void *nothing) {
  (void)nothing;
  struct timespec pause = {.tv_nsec = TICK_MS * 1000L * 1000};
  for (;;) {
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&state.lock);
    double t = now();
    bool over = !state.ticking;
    if (!over && t - state.last_shown > TICK_MS * 0.9e-3) show(t);
    pthread_mutex_unlock(&state.lock);
    if (over) return NULL;
  }
}

/* Signals are for the threads that wait for something. */
static void start_ticking(void) {
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  state.ticking = pthread_create(&thread, NULL, tick, NULL) == 0;
  if (state.ticking) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- for commands ---- */

void progress_begin(bool quiet) {
  pthread_mutex_lock(&state.lock);
  state.active = !quiet && terminal_live(stderr);
  state.began = state.stage_began = now();
  if (state.active && !state.ticking) start_ticking();
  pthread_mutex_unlock(&state.lock);
}

void progress_end(void) {
  pthread_mutex_lock(&state.lock);
  state.active = state.ticking = state.known = false;
  erase();
  pthread_mutex_unlock(&state.lock);
}

void progress_subject(const char *subject) {
  pthread_mutex_lock(&state.lock);
  snprintf(state.subject, sizeof state.subject, "%s", subject);
  state.stage[0] = 0;
  state.known = false;
  pthread_mutex_unlock(&state.lock);
}

void progress_clear(void) {
  pthread_mutex_lock(&state.lock);
  erase();
  state.known = false;
  pthread_mutex_unlock(&state.lock);
}

bool progress_is_shown(void) { return atomic_load(&shown); }

void progress_parts(const char *const *items, size_t count) {
  pthread_mutex_lock(&state.lock);
  double t = now();
  state.own_count = count < PROGRESS_PARTS ? count : PROGRESS_PARTS;
  for (size_t i = 0; i < state.own_count; i++) snprintf(state.own[i], PART_BYTES, "%s", items[i]);
  state.known = true;
  if (t - state.last_shown >= 0.1) show(t);
  pthread_mutex_unlock(&state.lock);
}

void progress_update(const isoproof_progress *p, void *user) {
  (void)user;
  pthread_mutex_lock(&state.lock);
  double t = now();
  const char *level = p->level != NULL ? p->level : "";
  /* What is done for a level is one stage, whatever the steps. */
  bool fresh = level[0] != 0 ? strcmp(state.level, level) != 0
                             : strcmp(state.stage, p->stage) != 0 || state.level[0] != 0 || p->done < state.done;
  if (fresh || state.own_count > 0) state.stage_began = state.changed = t;
  if (state.done != p->done) state.changed = t;
  snprintf(state.stage, sizeof state.stage, "%s", p->stage);
  snprintf(state.unit, sizeof state.unit, "%s", p->unit);
  snprintf(state.level, sizeof state.level, "%s", level);
  state.done = p->done;
  state.total = p->total;
  state.levels_decided = p->levels_decided;
  state.levels_total = p->levels_total;
  state.own_count = 0;
  state.known = true;
  if (t - state.last_shown >= 0.1) show(t);
  pthread_mutex_unlock(&state.lock);
}

void progress_stage(const char *stage) {
  isoproof_progress p = {.stage = stage, .unit = ""};
  progress_update(&p, NULL);
}
