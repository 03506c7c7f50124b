/* progress.c - the progress line: subject, stage, share, rate, remaining time. */
#include "cli/terminal/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/terminal/message.h"
#include "cli/terminal/terminal.h"

enum { SUBJECT_BYTES = 256, LINE_BYTES = 512 };

static struct {
  pthread_mutex_t lock;
  bool active, shown;
  double began;       /* the command */
  double stage_began; /* the stage */
  double last_shown;
  uint64_t last_done; /* to notice a stage that begins again */
  char stage[64];
  char subject[SUBJECT_BYTES];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_begin(bool quiet) {
  pthread_mutex_lock(&state.lock);
  state.active = !quiet && terminal_live(stderr);
  state.began = state.stage_began = now();
  pthread_mutex_unlock(&state.lock);
}

void progress_subject(const char *subject) {
  pthread_mutex_lock(&state.lock);
  snprintf(state.subject, sizeof state.subject, "%s", subject);
  state.stage[0] = 0;
  pthread_mutex_unlock(&state.lock);
}

static void erase(void) {
  if (state.shown) fputs("\r\033[K", stderr);
  state.shown = false;
}

void progress_clear(void) {
  pthread_mutex_lock(&state.lock);
  erase();
  pthread_mutex_unlock(&state.lock);
}

/* "12.3 M" with a decimal prefix. */
static void scaled(double number, char *text, size_t size) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T"};
  size_t i = 0;
  for (; number >= 1000 && i < 4; i++) number /= 1000;
  snprintf(text, size, i == 0 ? "%.0f %s" : "%.1f %s", number, prefixes[i]);
}

static void remaining_time(double seconds, char *text, size_t size) {
  unsigned long whole = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000UL;
  if (whole >= 3600)
    snprintf(text, size, ", %lu h %02lu min left", whole / 3600, whole / 60 % 60);
  else if (whole >= 60)
    snprintf(text, size, ", %lu min %02lu s left", whole / 60, whole % 60);
  else
    snprintf(text, size, ", %lu s left", whole);
}

static void describe(const isoproof_progress *p, double seconds, char *line, size_t size) {
  char rate[32], left[64] = "", share[32] = "";
  double speed = seconds > 0 ? (double)p->done / seconds : 0;
  scaled(speed, rate, sizeof rate);
  const char *unit = strcmp(p->unit, "bytes") == 0 ? "B" : p->unit;
  const char *gap = rate[strlen(rate) - 1] == ' ' || strcmp(unit, "B") == 0 ? "" : " ";
  if (p->total > 0 && p->done <= p->total) {
    snprintf(share, sizeof share, " %3.0f%%", 100.0 * (double)p->done / (double)p->total);
    if (speed > 0) remaining_time((double)(p->total - p->done) / speed, left, sizeof left);
  }
  snprintf(line, size, "%s%s%s%s  %s%s%s/s%s", state.subject, state.subject[0] != 0 ? ": " : "", p->stage, share, rate,
           gap, unit, left);
}

/* Shows a line, but not in the first second of a command, and not more than ten times a second. */
static void show(char *line, size_t size, double t) {
  if (!state.active || t - state.began < 1 || t - state.last_shown < 0.1) return;
  unsigned width = terminal_width(stderr);
  /* Cut rather than wrap: a wrapped line could not be erased. */
  if (width < size) {
    size_t cut = width > 1 ? width - 1 : 0;
    while (cut > 0 && ((unsigned char)line[cut] & 0xc0) == 0x80) cut--;
    line[cut] = 0;
  }
  erase();
  put_escaped(stderr, line);
  fflush(stderr);
  state.shown = true;
  state.last_shown = t;
}

void progress_line(const char *text) {
  char line[LINE_BYTES];
  snprintf(line, sizeof line, "%s", text);
  pthread_mutex_lock(&state.lock);
  show(line, sizeof line, now());
  pthread_mutex_unlock(&state.lock);
}

void progress_update(const isoproof_progress *p, void *user) {
  (void)user;
  char line[LINE_BYTES];
  pthread_mutex_lock(&state.lock);
  double t = now();
  if (strncmp(state.stage, p->stage, sizeof state.stage - 1) != 0 || p->done < state.last_done) {
    snprintf(state.stage, sizeof state.stage, "%s", p->stage);
    state.stage_began = t;
  }
  state.last_done = p->done;
  describe(p, t - state.stage_began, line, sizeof line);
  show(line, sizeof line, t);
  pthread_mutex_unlock(&state.lock);
}
