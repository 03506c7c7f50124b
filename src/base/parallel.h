/* parallel.h - runs one function on several threads and waits for all of them.  Nothing is owned. */
#ifndef ISO_BASE_PARALLEL_H
#define ISO_BASE_PARALLEL_H

#include <isoproof/base.h>

/* `thread` counts from 0 to threads - 1. */
typedef void (*iso_parallel_fn)(void *context, unsigned thread, unsigned threads);

/* Runs fn once per thread number.  The calling thread does number 0.  Where a thread cannot be started, the calling
 * thread does its number too, one after the other: fn must not wait for another number to make progress. */
void iso_parallel(unsigned threads, iso_parallel_fn fn, void *context);

/* The part of `count` items that belongs to a thread: [*first, *end). */
void iso_parallel_range(uint64_t count, unsigned thread, unsigned threads, uint64_t *first, uint64_t *end);

#endif
