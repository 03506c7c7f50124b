/* isoproof.h - does a database give the isolation that it documents?
 *
 * This header is the whole library:
 *   isoproof/base.h      status codes, errors, tasks (cancellation, time limit, threads, progress)
 *   isoproof/history.h   open a history, or build one by hand, and look inside
 *   isoproof/format.h    formats, writing
 *   isoproof/json.h      JSON, written value by value
 *   isoproof/level.h     levels, models and anomalies: names and meanings
 *   isoproof/distinguish.h  the smallest history that tells two levels apart, or why there is none
 *   isoproof/check.h     verdicts, anomalies, witnesses
 *   isoproof/object.h    histories of single operations on a bank, a set, a register, ...
 *   isoproof/coo.h       schedules, their anomalies, and every anomaly as a test case
 *   isoproof/systematic.h  every small schedule of rows and predicates on a database
 *   isoproof/database.h  which databases this build can talk to
 *   isoproof/minimize.h  the smallest part of a history that still violates a level
 *   isoproof/live.h      the verdict while the database runs
 *   isoproof/follow.h    histories that are still being written, for it
 *   isoproof/stats.h     counts and shape
 *   isoproof/simulate.h  histories from a simulated database
 *   isoproof/workload.h  what the clients of a database under test do
 *   isoproof/run.h       run a workload on a database, and record it
 *   isoproof/plan.h      plans (isoproof.toml): databases by levels by workloads, their results, two of them compared
 *   isoproof/report.h    reports: pages, drawings, files for other tools
 *   isoproof/serve.h     past runs and those in progress in a browser, on this machine only
 *   isoproof/cluster.h   private servers to run it on, and faults that happen to them
 *
 * ABI: handles are opaque; structs that the caller allocates begin with their size, unless they are frozen, and fields
 * are only ever added at their ends (isoproof/base.h has the rule); enum values keep their numbers.
 */
#ifndef ISOPROOF_H
#define ISOPROOF_H

#include <isoproof/base.h>
#include <isoproof/check.h>
#include <isoproof/cluster.h>
#include <isoproof/coo.h>
#include <isoproof/database.h>
#include <isoproof/distinguish.h>
#include <isoproof/follow.h>
#include <isoproof/format.h>
#include <isoproof/history.h>
#include <isoproof/json.h>
#include <isoproof/level.h>
#include <isoproof/live.h>
#include <isoproof/minimize.h>
#include <isoproof/object.h>
#include <isoproof/plan.h>
#include <isoproof/report.h>
#include <isoproof/run.h>
#include <isoproof/serve.h>
#include <isoproof/simulate.h>
#include <isoproof/stats.h>
#include <isoproof/systematic.h>
#include <isoproof/workload.h>

#endif
