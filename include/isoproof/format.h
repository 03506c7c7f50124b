/* isoproof/format.h - the formats that histories come in, and writing them.
 *
 * Reading is isolde_history_open (isoproof/history.h), which detects the format from the content.
 */
#ifndef ISOLDE_FORMAT_H
#define ISOLDE_FORMAT_H

#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Formats: C name, id for --format, whether it can be written, usual file name ending, description. */
#define ISOLDE_FORMAT_LIST(X)                                                                                          \
  X(PLUME, "plume", true, ".txt", "Plume text: r(key,value,session,txn), one operation a line")                        \
  X(DBCOP, "dbcop", true, ".bincode", "dbcop bincode (history.bincode)")                                               \
  X(COBRA, "cobra", false, "", "Cobra: a directory of T*.log, one a session")                                          \
  X(VIPER, "viper", false, "", "Viper: a directory of J*.log, one a session")                                          \
  X(EDN, "edn", true, ".edn", "Jepsen and Elle history, EDN")                                                          \
  X(JSON, "json", true, ".json", "Jepsen and Elle history, JSON")                                                      \
  X(VERISTRONG, "veristrong", false, ".txt", "VeriStrong list text: session txn R key n a1 .. an")                     \
  X(TIMEKILLER, "timekiller", false, ".json", "TimeKiller JSON with start and commit timestamps")                      \
  X(JSONL, "jsonl", true, ".jsonl", "isolde's own text: a header, then one JSON object a transaction")                 \
  X(BINARY, "binary", true, ".isolde", "isolde's own binary: columnar, checksummed, memory-mapped")

typedef enum isolde_format {
#define ISOLDE_X(name, id, writable, ending, text) ISOLDE_FORMAT_##name,
  ISOLDE_FORMAT_LIST(ISOLDE_X)
#undef ISOLDE_X
      ISOLDE_FORMATS
} isolde_format;

typedef struct isolde_format_info {
  isolde_format format;
  const char *id;
  bool writable;
  const char *ending;
  const char *description;
} isolde_format_info;

/* `number` from 0; NULL after the last. */
ISOLDE_API const isolde_format_info *isolde_format_at(size_t number);
/* By id; NULL when there is none. */
ISOLDE_API const isolde_format_info *isolde_format_find(const char *id);
/* The format of a file, or of a directory that is itself a history, by its first bytes.  ISOLDE_ERR_FORMAT when it is
 * none that isolde knows.  `info` may be NULL; "-" cannot be asked, since its bytes could not be read again. */
ISOLDE_API isolde_status isolde_format_detect(const char *path, const isolde_format_info **info, isolde_error *error);

typedef enum isolde_compression {
  ISOLDE_COMPRESS_AUTO, /* by the ending of the path: .gz, .zst */
  ISOLDE_COMPRESS_NO,
  ISOLDE_COMPRESS_GZIP,
  ISOLDE_COMPRESS_ZSTD
} isolde_compression;

typedef struct isolde_write_options {
  size_t struct_size; /* sizeof(isolde_write_options) */
  isolde_compression compression;
  bool lossy; /* leave out what the format cannot say instead of failing with ISOLDE_ERR_UNSUPPORTED */
} isolde_write_options;

/* What a lossy write had to leave out or change. */
typedef struct isolde_write_loss {
  uint64_t unknown_txns;     /* unknown transactions left out because nobody read from them */
  uint64_t promoted_txns;    /* unknown transactions that somebody read from, written as committed */
  uint64_t empty_txns;       /* transactions without operations that the format cannot hold */
  uint64_t unrecorded_reads; /* reads without a result */
  uint64_t merged_aborts;    /* aborted transactions that read back as part of their predecessor */
  bool times;
  bool nodes;
  bool ids;
  bool session_names;
} isolde_write_loss;

/* Writes to a path ("-" is standard output).  A file is written beside its final name and renamed when complete, so
 * that an interrupted or failed write leaves what was there before.  `options`, `task` and `loss` may be NULL. */
ISOLDE_API isolde_status isolde_history_write(const isolde_history *history, isolde_format format, const char *path,
                                              const isolde_write_options *options, isolde_task *task,
                                              isolde_write_loss *loss, isolde_error *error);
/* The same through a callback. */
ISOLDE_API isolde_status isolde_history_write_to(const isolde_history *history, isolde_format format,
                                                 isolde_write_fn write, void *user, const isolde_write_options *options,
                                                 isolde_task *task, isolde_write_loss *loss, isolde_error *error);

#ifdef __cplusplus
}
#endif

#endif
