/* isoproof/format.h - the formats that histories come in, and writing them.
 *
 * Reading is isoproof_history_open (isoproof/history.h), which detects the format from the content.
 */
#ifndef ISOPROOF_FORMAT_H
#define ISOPROOF_FORMAT_H

#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Formats: C name, id for --format, whether it can be written, usual file name ending, description. */
#define ISOPROOF_FORMAT_LIST(X)                                                                                        \
  X(PLUME, "plume", true, ".txt", "Plume text: r(key,value,session,txn), one operation per line")                      \
  X(DBCOP, "dbcop", true, ".bincode", "dbcop bincode (history.bincode)")                                               \
  X(COBRA, "cobra", false, "", "Cobra: a directory of T*.log, one per session")                                        \
  X(VIPER, "viper", false, "", "Viper: a directory of J*.log, one per session")                                        \
  X(EDN, "edn", true, ".edn", "Jepsen and Elle history, EDN")                                                          \
  X(JSON, "json", true, ".json", "Jepsen and Elle history, JSON")                                                      \
  X(VERISTRONG, "veristrong", false, ".txt", "VeriStrong list text: session txn R key n a1 .. an")                     \
  X(TIMEKILLER, "timekiller", false, ".json", "TimeKiller JSON with start and commit timestamps")                      \
  X(JSONL, "jsonl", true, ".jsonl", "isoproof's own text: a header, then one JSON object per transaction")             \
  X(BINARY, "binary", true, ".isoproof", "isoproof's own binary: columnar, checksummed, memory-mapped")                \
  X(PORCUPINE, "porcupine", true, ".kv", "Porcupine's key-value log: get, put, append; one map per line")              \
  X(JEPSEN_LOG, "jepsen-log", true, ".log", "what Jepsen prints of a register: read, write, cas")                      \
  X(ETCD, "etcd", true, ".etcd",                                                                                       \
    "etcd's robustness tests: operations.json, or the directory of client-*/operations.json")

typedef enum isoproof_format {
#define ISOPROOF_X(name, id, writable, ending, text) ISOPROOF_FORMAT_##name,
  ISOPROOF_FORMAT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_FORMATS
} isoproof_format;

typedef struct isoproof_format_info {
  isoproof_format format;
  const char *id;
  bool writable;
  const char *ending;
  const char *description;
} isoproof_format_info;

/* `number` from 0; NULL after the last. */
ISOPROOF_API const isoproof_format_info *isoproof_format_at(size_t number);
/* By id; NULL when there is none. */
ISOPROOF_API const isoproof_format_info *isoproof_format_find(const char *id);
/* The format of a file, or of a directory that is itself a history, by its first bytes.  ISOPROOF_ERR_FORMAT when it is
 * none that isoproof knows.  `info` may be NULL; "-" cannot be asked, since its bytes could not be read again. */
ISOPROOF_API isoproof_status isoproof_format_detect(const char *path, const isoproof_format_info **info,
                                                    isoproof_error *error);

typedef enum isoproof_compression {
  ISOPROOF_COMPRESS_AUTO, /* by the ending of the path: .gz, .zst */
  ISOPROOF_COMPRESS_NO,
  ISOPROOF_COMPRESS_GZIP,
  ISOPROOF_COMPRESS_ZSTD
} isoproof_compression;

typedef struct isoproof_write_options {
  size_t struct_size; /* sizeof(isoproof_write_options) */
  isoproof_compression compression;
  bool lossy; /* leave out what the format cannot say instead of failing with ISOPROOF_ERR_UNSUPPORTED */
} isoproof_write_options;

/* What a lossy write had to leave out or change. */
typedef struct isoproof_write_loss {
  size_t struct_size;        /* sizeof(isoproof_write_loss), set by the caller */
  uint64_t unknown_txns;     /* unknown transactions left out because nobody read from them */
  uint64_t promoted_txns;    /* unknown transactions that somebody read from, written as committed */
  uint64_t empty_txns;       /* transactions without operations that the format cannot hold */
  uint64_t unrecorded_reads; /* reads without a result */
  uint64_t merged_aborts;    /* aborted transactions that read back as part of their predecessor */
  bool times;
  bool nodes;
  bool ids;
  bool session_names;
  uint64_t isolations; /* transactions whose own isolation level is left out */
} isoproof_write_loss;

/* Writes to a path ("-" is standard output).  A file is written beside its final name and renamed when complete, so
 * that an interrupted or failed write leaves what was there before.  `options`, `task` and `loss` may be NULL. */
ISOPROOF_API isoproof_status isoproof_history_write(const isoproof_history *history, isoproof_format format,
                                                    const char *path, const isoproof_write_options *options,
                                                    isoproof_task *task, isoproof_write_loss *loss,
                                                    isoproof_error *error);
/* The same through a callback. */
ISOPROOF_API isoproof_status isoproof_history_write_to(const isoproof_history *history, isoproof_format format,
                                                       isoproof_write_fn write, void *user,
                                                       const isoproof_write_options *options, isoproof_task *task,
                                                       isoproof_write_loss *loss, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
