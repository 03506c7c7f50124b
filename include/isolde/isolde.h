/* isolde.h - does a database give the isolation that it promises?
 *
 * This header is the whole library:
 *   isolde/base.h      status codes, errors, tasks (cancellation, time limit, threads, progress)
 *   isolde/history.h   open a history, or build one by hand, and look inside
 *   isolde/format.h    formats, writing
 *   isolde/level.h     levels, models and anomalies: names and meanings
 *   isolde/check.h     verdicts, anomalies, witnesses
 *   isolde/stats.h     counts and shape
 *   isolde/simulate.h  histories from a simulated database
 *
 * ABI: handles are opaque; option structs begin with their size, and fields are only ever added at their ends; enum
 * values keep their numbers.
 */
#ifndef ISOLDE_H
#define ISOLDE_H

#include <isolde/base.h>
#include <isolde/check.h>
#include <isolde/format.h>
#include <isolde/history.h>
#include <isolde/level.h>
#include <isolde/simulate.h>
#include <isolde/stats.h>

#endif
