/* Threads that read, parse and merge blocks of whole lines, whichever of the three is due. */
#include "format/line_blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"

/* A strange block is part of a line that is longer than a block. */
typedef enum { BLOCK_FREE, BLOCK_TAKEN, BLOCK_PARSED, BLOCK_STRANGE } block_state;

typedef struct {
  const iso_line_job *job;
  iso_window *window;
  isoproof_error *error;

  /* Whoever has `reading` set owns these. */
  char *carry; /* the incomplete last line of the block before */
  size_t carry_length;
  uint64_t offset; /* of the carry in the input */

  pthread_mutex_t lock; /* guards everything below */
  pthread_cond_t changed;
  iso_line_block *blocks; /* block n of the input is blocks[n % count] */
  block_state *states;
  size_t count;
  uint64_t taken, merged; /* so many blocks */
  bool reading, merging;
  bool at_end; /* nothing is left to take */
  bool over;   /* something failed, or a block was not understood */
  isoproof_status status;
  uint64_t bytes_done, bytes_total;
} run;

/* ---- reading ---- */

/* Fills a buffer from the rest of the window, then from the input; returns how much there is.  Less than the size says
 * that nothing more comes, be it that the input ends or that it cannot be read: who asks it again will hear. */
static size_t read_bytes(iso_window *window, char *buffer, size_t size) {
  size_t there = (size_t)(window->end - window->cur), done = there < size ? there : size, part = 1;
  if (done > 0) memcpy(buffer, window->cur, done);
  window->cur += done;
  while (done < size && part > 0 && !window->at_end) {
    if (iso_input_read_some(window->input, buffer + done, size - done, &part, NULL) != ISOPROOF_OK) break;
    done += part;
  }
  return done;
}

/* Fills a block with whole lines, as many as fit.  *last: nothing comes after it. */
static block_state fill(run *r, iso_line_block *block, bool *last) {
  size_t size = r->job->block_bytes;
  block_state state = BLOCK_TAKEN;
  if (r->carry_length > 0) memcpy(block->text, r->carry, r->carry_length);
  size_t filled = r->carry_length + read_bytes(r->window, block->text + r->carry_length, size - r->carry_length);
  r->carry_length = 0;
  *last = filled < size;
  block->length = filled;
  if (!*last) {
    const char *newline = memrchr(block->text, '\n', filled);
    if (newline == NULL) state = BLOCK_STRANGE;
    if (newline != NULL) block->length = (size_t)(newline - block->text) + 1;
    r->carry_length = filled - block->length;
    if (r->carry_length > 0) memcpy(r->carry, block->text + block->length, r->carry_length);
  }
  block->offset = r->offset;
  r->offset += block->length;
  memset(block->text + block->length, 0, ISO_LINE_PADDING);
  return state;
}

/* Takes the next block and parses it.  The caller holds the lock and has seen that a block is free. */
static void take(run *r, unsigned thread) {
  bool last;
  size_t place = r->taken % r->count;
  iso_line_block *block = &r->blocks[place];
  r->reading = true;
  pthread_mutex_unlock(&r->lock);
  block_state state = fill(r, block, &last);
  pthread_mutex_lock(&r->lock);
  r->reading = false;
  iso_input_progress(r->window->input, &r->bytes_done, &r->bytes_total);
  /* Inside a long line nobody knows where to begin. */
  if (last || state == BLOCK_STRANGE) r->at_end = true;
  if (block->length > 0) {
    r->taken++;
    r->states[place] = state;
  }
  pthread_cond_broadcast(&r->changed);
  if (block->length == 0 || state == BLOCK_STRANGE) return;
  pthread_mutex_unlock(&r->lock);
  r->job->parse(r->job->context, thread, block);
  pthread_mutex_lock(&r->lock);
  r->states[place] = BLOCK_PARSED;
  pthread_cond_broadcast(&r->changed);
}

/* ---- merging ---- */

/* Merges the block whose turn it is.  The caller holds the lock and has seen that nobody works on the block. */
static void merge(run *r, bool reports) {
  size_t place = r->merged % r->count, used = 0;
  iso_line_block *block = &r->blocks[place];
  bool parsed = r->states[place] == BLOCK_PARSED;
  uint64_t done = r->bytes_done, total = r->bytes_total;
  r->merging = true;
  pthread_mutex_unlock(&r->lock);
  isoproof_status status = iso_task_check(r->job->task, r->error);
  if (status == ISOPROOF_OK && parsed) status = r->job->merge(r->job->context, block, &used, r->error);
  if (reports) iso_task_progress(r->job->task, "reading", "bytes", done, total);
  pthread_mutex_lock(&r->lock);
  r->merging = false;
  r->status = status;
  if (status == ISOPROOF_OK && used == block->length) {
    r->states[place] = BLOCK_FREE;
    r->merged++;
  } else {
    /* What was not understood stays for whoever goes on. */
    memmove(block->text, block->text + used, block->length - used);
    block->length -= used;
    r->over = true;
  }
  pthread_cond_broadcast(&r->changed);
}

/* Whether there is a block to be merged now. */
static bool is_due(const run *r) {
  return !r->merging && r->merged < r->taken && r->states[r->merged % r->count] >= BLOCK_PARSED;
}

static bool is_finished(const run *r) { return r->over || (r->at_end && r->merged == r->taken); }

static void work(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  run *r = context;
  pthread_mutex_lock(&r->lock);
  while (!is_finished(r)) {
    if (is_due(r)) {
      merge(r, thread == 0);
    } else if (!r->reading && !r->at_end && r->taken - r->merged < r->count) {
      take(r, thread);
    } else {
      pthread_cond_wait(&r->changed, &r->lock);
    }
  }
  pthread_mutex_unlock(&r->lock);
}

/* ---- the run ---- */

static void free_blocks(run *r) {
  for (size_t i = 0; r->blocks != NULL && i < r->count; i++) {
    free(r->blocks[i].text);
    if (r->blocks[i].parsed != NULL) r->job->drop(r->blocks[i].parsed);
  }
  free(r->blocks);
  free(r->states);
  free(r->carry);
}

static bool make_blocks(run *r) {
  /* Some to spare, so that nobody waits for his turn. */
  r->count = r->job->threads == 1 ? 1 : 2 * (size_t)r->job->threads;
  r->blocks = iso_alloc_zero(r->count, sizeof *r->blocks);
  r->states = iso_alloc_zero(r->count, sizeof *r->states);
  r->carry = iso_alloc(r->job->block_bytes, 1);
  if (r->blocks == NULL || r->states == NULL || r->carry == NULL) return false;
  for (size_t i = 0; i < r->count; i++) {
    r->blocks[i].text = iso_alloc(r->job->block_bytes + ISO_LINE_PADDING, 1);
    r->blocks[i].parsed = r->job->make(r->job->context);
    if (r->blocks[i].text == NULL || r->blocks[i].parsed == NULL) return false;
  }
  return true;
}

/* Puts what was read and not merged back into the window: blocks, the carry, and what the window still had. */
static isoproof_status hand_back(run *r) {
  iso_window *window = r->window;
  size_t there = (size_t)(window->end - window->cur), total = r->carry_length + there;
  for (uint64_t n = r->merged; n < r->taken; n++) total += r->blocks[n % r->count].length;
  uint64_t first = r->offset + r->carry_length + there - total;
  if (total > there) {
    size_t capacity = window->capacity;
    while (capacity < total) capacity *= 2;
    char *buffer = iso_alloc(capacity, 1), *at = buffer;
    if (buffer == NULL) return iso_fail_memory(r->error);
    for (uint64_t n = r->merged; n < r->taken; n++) {
      const iso_line_block *block = &r->blocks[n % r->count];
      memcpy(at, block->text, block->length);
      at += block->length;
    }
    if (r->carry_length > 0) memcpy(at, r->carry, r->carry_length);
    if (there > 0) memcpy(at + r->carry_length, window->cur, there);
    free(window->buffer);
    window->buffer = buffer;
    window->capacity = capacity;
    window->cur = buffer;
    window->end = buffer + total;
  }
  window->offset = first - (uint64_t)(window->cur - window->buffer);
  return ISOPROOF_OK;
}

isoproof_status iso_line_blocks(iso_window *window, const iso_line_job *job, isoproof_error *error) {
  run r = {.job = job, .window = window, .error = error, .offset = iso_window_at(window)};
  if (!make_blocks(&r)) {
    free_blocks(&r);
    return iso_fail_memory(error);
  }
  pthread_mutex_init(&r.lock, NULL);
  pthread_cond_init(&r.changed, NULL);
  iso_parallel(job->threads, work, &r);
  pthread_cond_destroy(&r.changed);
  pthread_mutex_destroy(&r.lock);
  isoproof_status status = r.status == ISOPROOF_OK ? hand_back(&r) : r.status;
  free_blocks(&r);
  return status;
}
