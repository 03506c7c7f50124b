/* format.h - the table of readers and writers, and detection.
 *
 * A reader fills a builder from an input (or from a directory) and does not own either; a writer puts a history into
 * an output.  Adding a format means a line in ISOPROOF_FORMAT_LIST (isoproof/format.h) and in the table of format.c.
 */
#ifndef ISO_FORMAT_FORMAT_H
#define ISO_FORMAT_FORMAT_H

#include "base/input.h"
#include "base/output.h"
#include "base/task.h"
#include "history/builder.h"

/* Reads a single stream into the builder.  The origin of the builder is set by the reader. */
typedef isoproof_status (*iso_read_fn)(iso_input *input, isoproof_builder *builder, isoproof_task *task,
                                       isoproof_error *error);
/* Reads a directory. */
typedef isoproof_status (*iso_read_dir_fn)(const char *path, isoproof_builder *builder, isoproof_task *task,
                                           isoproof_error *error);

/* What a writer needs to know besides the history. */
typedef struct iso_write_job {
  const isoproof_history *history;
  iso_output *output;
  bool lossy;
  isoproof_task *task;
  isoproof_write_loss *loss; /* never NULL; the writer adds to it */
  isoproof_error *error;
} iso_write_job;
typedef isoproof_status (*iso_write_format_fn)(iso_write_job *job);

isoproof_status iso_read_plume(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_dbcop(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_edn(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_json(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_veristrong(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_timekiller(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_jsonl(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
/* The same in blocks of so many bytes; 0 is without blocks. */
isoproof_status iso_read_jsonl_in_blocks(iso_input *, isoproof_builder *, isoproof_task *, size_t block_bytes,
                                         isoproof_error *);
isoproof_status iso_read_jepsen_in_blocks(iso_input *, isoproof_format, isoproof_builder *, isoproof_task *,
                                          size_t block_bytes, isoproof_error *);
/* One session of Cobra or Viper as a single stream (one T*.log or J*.log file); `session` is its number. */
isoproof_status iso_read_cobra_log(iso_input *, uint64_t session, isoproof_builder *, isoproof_task *,
                                   isoproof_error *);
isoproof_status iso_read_viper_log(iso_input *, uint64_t session, isoproof_builder *, isoproof_task *,
                                   isoproof_error *);
isoproof_status iso_read_cobra(const char *path, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_viper(const char *path, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_porcupine(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_jepsen_log(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_etcd(iso_input *, isoproof_builder *, isoproof_task *, isoproof_error *);
isoproof_status iso_read_etcd_directory(const char *path, isoproof_builder *, isoproof_task *, isoproof_error *);
/* Whether a directory of this name is that of a client. */
bool iso_etcd_is_client(const char *name);
/* The binary form is no stream of operations: it makes a history by itself, in place where it can be mapped. */
isoproof_status iso_read_binary(iso_input *, isoproof_history **, isoproof_task *, isoproof_error *);
/* The same where what is in memory at a time must stay small, whatever the size of the file: pages that were looked at
 * are let go. */
isoproof_status iso_read_binary_frugally(iso_input *, isoproof_history **, isoproof_task *, isoproof_error *);

isoproof_status iso_write_plume(iso_write_job *);
isoproof_status iso_write_dbcop(iso_write_job *);
isoproof_status iso_write_edn(iso_write_job *);
isoproof_status iso_write_json(iso_write_job *);
isoproof_status iso_write_jsonl(iso_write_job *);
isoproof_status iso_write_binary(iso_write_job *);
isoproof_status iso_write_porcupine(iso_write_job *);
isoproof_status iso_write_jepsen_log(iso_write_job *);
isoproof_status iso_write_etcd(iso_write_job *);

/* The format of the first bytes of an input (decompressed); false when it is none that we know. */
bool iso_detect_bytes(const char *bytes, size_t length, isoproof_format *format);
/* The format of a directory: COBRA, VIPER, or false when it is not itself a history. */
bool iso_detect_directory(const char *path, isoproof_format *format);

/* For writers of formats that know only committed and aborted: is the transaction written, and as what?  Unknown
 * transactions that somebody read from are committed in effect, others are left out; without `lossy` an unknown
 * transaction is ISOPROOF_ERR_UNSUPPORTED.  Fills *as, which the caller frees with free(): one iso_write_outcome per
 * transaction. */
typedef enum iso_write_outcome { ISO_WRITE_COMMITTED, ISO_WRITE_ABORTED, ISO_WRITE_NOT } iso_write_outcome;
isoproof_status iso_write_outcomes(iso_write_job *job, const char *format_name, uint8_t **as);

#endif
