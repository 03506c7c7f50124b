/* isolde.h - does a database give the isolation that it promises?
 *
 * This header is the whole library:
 *   isolde/base.h      status codes, errors, tasks (cancellation, time limit, threads, progress)
 *   isolde/history.h   open a history, or build one by hand, and look inside
 *   isolde/format.h    formats, writing
 *   isolde/level.h     levels, models and anomalies: names and meanings
 *   isolde/check.h     verdicts, anomalies, witnesses
 *   isolde/object.h    histories of single operations on a bank, a set, a register, ...
 *   isolde/coo.h       schedules, their anomalies, and every anomaly as a test case
 *   isolde/database.h  which databases this build can talk to
 *   isolde/minimize.h  the smallest part of a history that still violates a level
 *   isolde/stats.h     counts and shape
 *   isolde/simulate.h  histories from a simulated database
 *   isolde/workload.h  what the clients of a database under test do
 *   isolde/run.h       run a workload on a database, and record it
 *   isolde/report.h    reports: pages, drawings, files for other tools
 *   isolde/serve.h     past runs in a browser, on this machine only
 *   isolde/cluster.h   private servers to run it on, and faults that happen to them
 *
 * ABI: handles are opaque; option structs begin with their size, and fields are only ever added at their ends; enum
 * values keep their numbers.
 */
#ifndef ISOLDE_H
#define ISOLDE_H

#include <isolde/base.h>
#include <isolde/check.h>
#include <isolde/cluster.h>
#include <isolde/coo.h>
#include <isolde/database.h>
#include <isolde/format.h>
#include <isolde/history.h>
#include <isolde/level.h>
#include <isolde/minimize.h>
#include <isolde/object.h>
#include <isolde/report.h>
#include <isolde/run.h>
#include <isolde/serve.h>
#include <isolde/simulate.h>
#include <isolde/stats.h>
#include <isolde/workload.h>

#endif
