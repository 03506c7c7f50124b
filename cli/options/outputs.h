/* outputs.h - the reports that check, test and report write beside their own output: one row of a table each.
 *
 * A collection owns the documents handed to it until outputs_free; options and paths are those of the command line.
 */
#ifndef CLI_OPTIONS_OUTPUTS_H
#define CLI_OPTIONS_OUTPUTS_H

#include <isoproof/report.h>

#include "cli/options/options.h"

/* Every output: C name, option, whether one file holds many documents, its function, help.  A function writes documents
 * (one, unless it holds many) to `write`. */
#define OUTPUT_LIST(X)                                                                                                 \
  X(HTML, "html", false, output_html, "Write a report to look at in a browser: one file that needs no network.")       \
  X(SVG, "svg", false, output_svg, "Write a drawing of the first counterexample.")                                     \
  X(DOT, "dot", false, output_dot, "Write the first counterexample for Graphviz.")                                     \
  X(TRACE, "trace", false, output_trace, "Write a trace for Perfetto: sessions, transactions, faults, anomalies.")     \
  X(JUNIT, "junit", true, isoproof_documents_write_junit, "Write JUnit XML: a test case per level.")                   \
  X(SARIF, "sarif", true, isoproof_documents_write_sarif, "Write SARIF 2.1.0: a result per anomaly.")                  \
  X(MARKDOWN, "markdown", true, isoproof_documents_write_markdown, "Write a summary in Markdown.")                     \
  X(CSV, "csv", true, isoproof_documents_write_csv, "Write a table: a line per history, a column per level.")

enum {
#define OUTPUT_X(name, option, many, function, help) OUTPUT_##name,
  OUTPUT_LIST(OUTPUT_X)
#undef OUTPUT_X
      OUTPUT_FILES,
  OUTPUT_GITHUB = OUTPUT_FILES, /* a flag, no file */
  OUTPUTS
};

/* Rows for the table of options of a command, from place `first` on. */
#define OUTPUT_ROW_X(c_name, option_name, many, function, text)                                                        \
  [OUTPUT_ROW_FIRST + OUTPUT_##c_name] = {.name = option_name,                                                         \
                                          .argument = "FILE",                                                          \
                                          .type = OPTION_FILE,                                                         \
                                          .help = text,                                                                \
                                          .group = "Reports ('-' is standard output)"},
#define OUTPUT_ROWS                                                                                                    \
  OUTPUT_LIST(OUTPUT_ROW_X)                                                                                            \
  [OUTPUT_ROW_FIRST + OUTPUT_GITHUB] = {.name = "github",                                                              \
                                        .type = OPTION_FLAG,                                                           \
                                        .help = "Print annotations for GitHub Actions, and add the summary to the "    \
                                                "file that GITHUB_STEP_SUMMARY names.",                                \
                                        .group = "Reports ('-' is standard output)"},

typedef isoproof_status (*output_fn)(const isoproof_document *const *documents, size_t count, isoproof_write_fn write,
                                     void *user, isoproof_error *error);

typedef struct outputs {
  const option_value *values; /* OUTPUTS of them */
  isoproof_document **documents;
  size_t count;
  bool stdout_taken; /* by something that a program reads: annotations then go to standard error */
} outputs;

/* Whether one of them is asked for, and how many go to standard output. */
bool outputs_wanted(const option_value *values);
size_t outputs_to_stdout(const option_value *values);
/* Room for `count` documents; false after a message when memory is out, or when many documents are to go where only one
 * has room. */
bool outputs_init(outputs *o, const option_value *values, size_t count);
/* The same for rounds that come one after the other, of which nobody knows the number; `many` when there may be
 * several.
 */
bool outputs_begin(outputs *o, const option_value *values, bool many);
/* Hands over the next document; false after a message when memory is out. */
bool outputs_add(outputs *o, isoproof_document *document);
void outputs_free(outputs *o);
/* Whether documents must not refer to their histories, because they are written when those are gone. */
bool outputs_many(const outputs *o);
/* Hands over document `number`; from any thread, once for each number. */
void outputs_put(outputs *o, size_t number, isoproof_document *document);
/* Whether documents wait to be written, or an output of many waits for none. */
bool outputs_pending(const outputs *o);
/* Writes everything asked for; an exit code, after a message where it is no success.  Documents that were never handed
 * over are left out. */
int outputs_write(outputs *o);
/* Writes one output to a path, "-" for standard output. */
int output_write_file(size_t output, const char *path, const isoproof_document *const *documents, size_t count);

#endif
