/* clocks.c - intervals of the offset of a clock, and their intersection over time. */
#include "run/clocks.h"

/* By how much an interval widens over a time, rounded up. */
static int64_t drift(int64_t nanoseconds) {
  enum { MILLION = 1000000 };
  int64_t distance = nanoseconds < 0 ? -nanoseconds : nanoseconds;
  return distance / MILLION * ISO_CLOCK_DRIFT_PPM + (distance % MILLION * ISO_CLOCK_DRIFT_PPM + MILLION - 1) / MILLION;
}

bool iso_clock_add(iso_clock *clock, iso_round_trip trip) {
  /* Both halves of the trip, at the moment of its arrival. */
  iso_clock_bound bound = {.moment = trip.received,
                           .high = trip.received - trip.sent,
                           .low = trip.answered - trip.returned - drift(trip.answered - trip.received)};
  bool backwards = clock->bounds.count > 0 && bound.moment < clock->bounds.items[clock->bounds.count - 1].moment;
  if (backwards || trip.returned < trip.sent || trip.answered < trip.received || bound.low > bound.high) {
    clock->adrift = true;
    return true;
  }
  return iso_vec_push(&clock->bounds, bound);
}

/* What one bound leaves of another one that is `distance` away. */
static void narrow(iso_clock_bound *bound, const iso_clock_bound *by) {
  int64_t more = drift(bound->moment - by->moment);
  if (by->low - more > bound->low) bound->low = by->low - more;
  if (by->high + more < bound->high) bound->high = by->high + more;
}

/* A bound that a farther one narrows is narrowed by way of the nearer ones too, so that neighbours are enough. */
void iso_clock_settle(iso_clock *clock) {
  iso_clock_bound *bounds = clock->bounds.items;
  size_t count = clock->bounds.count;
  for (size_t i = 1; i < count; i++) narrow(&bounds[i], &bounds[i - 1]);
  for (size_t i = count; i-- > 1;) narrow(&bounds[i - 1], &bounds[i]);
  for (size_t i = 0; i < count; i++)
    if (bounds[i].low > bounds[i].high) clock->adrift = true;
}

bool iso_clock_is_known(const iso_clock *clock) { return clock->bounds.count > 0 && !clock->adrift; }

iso_clock_bound iso_clock_at(const iso_clock *clock, int64_t moment) {
  const iso_clock_bound *bounds = clock->bounds.items;
  size_t low = 0, high = clock->bounds.count; /* the first bound after the moment is in [low, high] */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (bounds[middle].moment <= moment)
      low = middle + 1;
    else
      high = middle;
  }
  const iso_clock_bound *near = &bounds[low > 0 ? low - 1 : 0];
  int64_t more = drift(moment - near->moment);
  iso_clock_bound found = {.moment = moment, .low = near->low - more, .high = near->high + more};
  if (low > 0 && low < clock->bounds.count) narrow(&found, &bounds[low]);
  return found;
}

void iso_clock_free(iso_clock *clock) { iso_vec_free(&clock->bounds); }
