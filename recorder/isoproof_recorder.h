/* isoproof_recorder.h - records what the transactions of a program read and wrote, for isoproof to judge.
 *
 * One file without dependencies, for C99 and C++ on POSIX systems.  In one source file of the program:
 *
 *     #define ISOPROOF_RECORDER_IMPLEMENTATION
 *     #include <isoproof_recorder.h>
 *
 * and wherever it is used:
 *
 *     isoproof_recorder *recorder = isoproof_recorder_open("history.jsonl", NULL);
 *     int session = isoproof_recorder_session(recorder);           (one per connection)
 *     isoproof_record *t = isoproof_record_begin(recorder, session);  (before BEGIN is sent)
 *     isoproof_record_read(t, "stock/3", version);
 *     isoproof_record_write(t, "stock/3", isoproof_recorder_unique(recorder));
 *     isoproof_record_end(t, ISOPROOF_RECORD_COMMITTED, NULL);     (after COMMIT was answered)
 *     isoproof_recorder_close(recorder);
 *
 * Then `isoproof check history.jsonl`.  docs/format-jsonl.md defines what is written.
 *
 * Unknown is what the client did not learn.  A transaction is ABORTED only when the server said so or its commit was
 * never sent; when the answer to a commit did not come it is UNKNOWN.
 *
 * Threads may share a recorder; a record belongs to one thread at a time.  A session is one connection: its
 * transactions begin one after the other.  A line is written when a transaction ends, whole or not at all, so that a
 * program that is killed loses no whole line.  Memory that is out shows when a record ends: errno is then ENOMEM.
 */
#ifndef ISOPROOF_RECORDER_H
#define ISOPROOF_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_recorder isoproof_recorder;
typedef struct isoproof_record isoproof_record; /* a transaction that is being recorded */

typedef enum isoproof_record_outcome {
  ISOPROOF_RECORD_COMMITTED,
  ISOPROOF_RECORD_ABORTED,
  ISOPROOF_RECORD_UNKNOWN
} isoproof_record_outcome;

/* Makes the file; one that exists is left alone (NULL, errno EEXIST).  `facts` are fields of JSON for the header, such
 * as "\"database\":\"PostgreSQL 15\",\"isolation\":\"serializable\"", or NULL. */
isoproof_recorder *isoproof_recorder_open(const char *path, const char *facts);
/* Ends the history and frees the recorder; records must have ended.  0, or -1 with errno. */
int isoproof_recorder_close(isoproof_recorder *recorder);
/* A new session. */
int isoproof_recorder_session(isoproof_recorder *recorder);
/* A number that was not handed out before: values that are different for every write of a key tell most. */
int64_t isoproof_recorder_unique(isoproof_recorder *recorder);

/* NULL when memory is out. */
isoproof_record *isoproof_record_begin(isoproof_recorder *recorder, int session);
/* Writes the line and frees the record.  `error` is the code of what ended it, or NULL.  0, or -1 with errno. */
int isoproof_record_end(isoproof_record *record, isoproof_record_outcome outcome, const char *error);

/* What it did, in order. */
void isoproof_record_read(isoproof_record *record, const char *key, int64_t value);
void isoproof_record_read_text(isoproof_record *record, const char *key, const char *value);
void isoproof_record_read_nothing(isoproof_record *record, const char *key);   /* the key had no value yet */
void isoproof_record_read_not_known(isoproof_record *record, const char *key); /* the answer never came */
void isoproof_record_write(isoproof_record *record, const char *key, int64_t value);
void isoproof_record_write_text(isoproof_record *record, const char *key, const char *value);
void isoproof_record_append(isoproof_record *record, const char *key, int64_t element);
void isoproof_record_read_list(isoproof_record *record, const char *key, const int64_t *elements, size_t count);

/* Rows of a table, with integers for keys and values. */
void isoproof_record_insert(isoproof_record *record, int64_t key, int64_t value);
void isoproof_record_update(isoproof_record *record, int64_t key, int64_t value);
void isoproof_record_delete(isoproof_record *record, int64_t key);
void isoproof_record_missed_update(isoproof_record *record, int64_t key); /* it found no row */
void isoproof_record_missed_delete(isoproof_record *record, int64_t key); /* it found no row */
/* A read of the rows with keys from `low` to `high`: pairs of key and value. */
void isoproof_record_read_rows(isoproof_record *record, int64_t low, int64_t high, const int64_t (*rows)[2],
                               size_t count);

#ifdef __cplusplus
}
#endif

#endif

#ifdef ISOPROOF_RECORDER_IMPLEMENTATION

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct isoproof_recorder {
  pthread_mutex_t lock;
  int file, sessions;
  int64_t values;
};

struct isoproof_record {
  isoproof_recorder *recorder;
  int session;
  int64_t start;
  char *text; /* its operations */
  size_t length, room;
  bool failed; /* memory is out */
};

static int64_t isoproof_record_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void isoproof_record_bytes(isoproof_record *record, const char *bytes, size_t count) {
  if (!record->failed && record->room - record->length < count) {
    size_t room = 2 * record->room + count + 128;
    char *text = (char *)realloc(record->text, room);
    if (text == NULL) {
      record->failed = true;
    } else {
      record->text = text;
      record->room = room;
    }
  }
  if (record->failed) return;
  memcpy(record->text + record->length, bytes, count);
  record->length += count;
}

/* For short texts. */
static void isoproof_record_format(isoproof_record *record, const char *format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (length > 0) isoproof_record_bytes(record, text, (size_t)length);
}

static void isoproof_record_string(isoproof_record *record, const char *text) {
  isoproof_record_bytes(record, "\"", 1);
  for (; *text != 0; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\' || c < 0x20)
      isoproof_record_format(record, "\\u%04x", c);
    else
      isoproof_record_bytes(record, text, 1);
  }
  isoproof_record_bytes(record, "\"", 1);
}

/* The begin of an operation, up to its value. */
static void isoproof_record_op(isoproof_record *record, const char *name, const char *key) {
  isoproof_record_format(record, "%s[\"%s\",", record->length > 0 ? "," : "", name);
  isoproof_record_string(record, key);
  isoproof_record_bytes(record, ",", 1);
}

static void isoproof_record_number_op(isoproof_record *record, const char *name, const char *key, int64_t value) {
  isoproof_record_op(record, name, key);
  isoproof_record_format(record, "%" PRId64 "]", value);
}

static void isoproof_record_text_op(isoproof_record *record, const char *name, const char *key, const char *value) {
  isoproof_record_op(record, name, key);
  isoproof_record_string(record, value);
  isoproof_record_bytes(record, "]", 1);
}

void isoproof_record_read(isoproof_record *record, const char *key, int64_t value) {
  isoproof_record_number_op(record, "r", key, value);
}

void isoproof_record_read_text(isoproof_record *record, const char *key, const char *value) {
  isoproof_record_text_op(record, "r", key, value);
}

void isoproof_record_read_nothing(isoproof_record *record, const char *key) {
  isoproof_record_op(record, "r", key);
  isoproof_record_format(record, "null]");
}

void isoproof_record_read_not_known(isoproof_record *record, const char *key) {
  isoproof_record_op(record, "r", key);
  isoproof_record_format(record, "{\"none\":true}]");
}

void isoproof_record_write(isoproof_record *record, const char *key, int64_t value) {
  isoproof_record_number_op(record, "w", key, value);
}

void isoproof_record_write_text(isoproof_record *record, const char *key, const char *value) {
  isoproof_record_text_op(record, "w", key, value);
}

void isoproof_record_append(isoproof_record *record, const char *key, int64_t element) {
  isoproof_record_number_op(record, "append", key, element);
}

void isoproof_record_read_list(isoproof_record *record, const char *key, const int64_t *elements, size_t count) {
  isoproof_record_op(record, "read-list", key);
  isoproof_record_bytes(record, "[", 1);
  for (size_t i = 0; i < count; i++) isoproof_record_format(record, "%s%" PRId64, i > 0 ? "," : "", elements[i]);
  isoproof_record_bytes(record, "]]", 2);
}

static void isoproof_record_row(isoproof_record *record, const char *name, int64_t key, const int64_t *value) {
  isoproof_record_format(record, "%s[\"%s\",%" PRId64 ",", record->length > 0 ? "," : "", name, key);
  if (value == NULL)
    isoproof_record_format(record, "null]");
  else
    isoproof_record_format(record, "%" PRId64 "]", *value);
}

void isoproof_record_insert(isoproof_record *record, int64_t key, int64_t value) {
  isoproof_record_row(record, "insert", key, &value);
}

void isoproof_record_update(isoproof_record *record, int64_t key, int64_t value) {
  isoproof_record_row(record, "update", key, &value);
}

void isoproof_record_delete(isoproof_record *record, int64_t key) { isoproof_record_row(record, "delete", key, NULL); }

void isoproof_record_missed_update(isoproof_record *record, int64_t key) {
  isoproof_record_row(record, "missed-update", key, NULL);
}

void isoproof_record_missed_delete(isoproof_record *record, int64_t key) {
  isoproof_record_row(record, "missed-delete", key, NULL);
}

void isoproof_record_read_rows(isoproof_record *record, int64_t low, int64_t high, const int64_t (*rows)[2],
                               size_t count) {
  isoproof_record_format(record, "%s[\"rp\",{\"keys\":[%" PRId64 ",%" PRId64 "]},[", record->length > 0 ? "," : "", low,
                         high);
  for (size_t i = 0; i < count; i++)
    isoproof_record_format(record, "%s[%" PRId64 ",%" PRId64 "]", i > 0 ? "," : "", rows[i][0], rows[i][1]);
  isoproof_record_bytes(record, "]]", 2);
}

/* Appends a line, whole or not at all. */
static int isoproof_recorder_line(isoproof_recorder *recorder, const char *line, size_t length) {
  size_t done = 0;
  int problem = 0;
  pthread_mutex_lock(&recorder->lock);
  while (done < length && problem == 0) {
    ssize_t some = write(recorder->file, line + done, length - done);
    if (some >= 0)
      done += (size_t)some;
    else if (errno != EINTR)
      problem = errno;
  }
  struct stat now;
  /* A full disk: nothing of the line is better than a part of it. */
  if (problem != 0 && done > 0 && fstat(recorder->file, &now) == 0 &&
      ftruncate(recorder->file, now.st_size - (off_t)done) != 0)
    problem = errno;
  pthread_mutex_unlock(&recorder->lock);
  errno = problem != 0 ? problem : errno;
  return problem != 0 ? -1 : 0;
}

isoproof_recorder *isoproof_recorder_open(const char *path, const char *facts) {
  isoproof_record header = {NULL, 0, 0, NULL, 0, 0, false};
  isoproof_recorder *recorder = (isoproof_recorder *)calloc(1, sizeof *recorder);
  if (recorder == NULL) return NULL;
  recorder->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (recorder->file < 0) {
    free(recorder);
    return NULL;
  }
  pthread_mutex_init(&recorder->lock, NULL);
  isoproof_record_format(&header, "{\"isoproof\":1,\"initial\":null,\"finished\":\"no\"");
  if (facts != NULL) {
    isoproof_record_bytes(&header, ",", 1);
    isoproof_record_bytes(&header, facts, strlen(facts));
  }
  isoproof_record_bytes(&header, "}\n", 2);
  bool good = !header.failed && isoproof_recorder_line(recorder, header.text, header.length) == 0;
  free(header.text);
  if (good) return recorder;
  int problem = header.failed ? ENOMEM : errno;
  close(recorder->file);
  pthread_mutex_destroy(&recorder->lock);
  free(recorder);
  errno = problem;
  return NULL;
}

int isoproof_recorder_close(isoproof_recorder *recorder) {
  static const char end[] = "{\"isoproof\":1,\"initial\":null,\"finished\":\"yes\"}\n";
  if (recorder == NULL) return 0;
  int written = isoproof_recorder_line(recorder, end, sizeof end - 1), problem = errno;
  int closed = close(recorder->file);
  if (written != 0) errno = problem;
  pthread_mutex_destroy(&recorder->lock);
  free(recorder);
  return written != 0 ? written : closed;
}

int isoproof_recorder_session(isoproof_recorder *recorder) {
  pthread_mutex_lock(&recorder->lock);
  int session = recorder->sessions++;
  pthread_mutex_unlock(&recorder->lock);
  return session;
}

int64_t isoproof_recorder_unique(isoproof_recorder *recorder) {
  pthread_mutex_lock(&recorder->lock);
  int64_t value = ++recorder->values;
  pthread_mutex_unlock(&recorder->lock);
  return value;
}

isoproof_record *isoproof_record_begin(isoproof_recorder *recorder, int session) {
  isoproof_record *record = (isoproof_record *)calloc(1, sizeof *record);
  if (record == NULL) return NULL;
  record->recorder = recorder;
  record->session = session;
  record->start = isoproof_record_now();
  return record;
}

int isoproof_record_end(isoproof_record *record, isoproof_record_outcome outcome, const char *error) {
  static const char *const names[] = {"committed", "aborted", "unknown"};
  isoproof_record line = {NULL, 0, 0, NULL, 0, 0, false};
  isoproof_record_format(&line, "{\"session\":%d,\"status\":\"%s\",\"start\":%" PRId64, record->session, names[outcome],
                         record->start);
  if (outcome != ISOPROOF_RECORD_UNKNOWN) isoproof_record_format(&line, ",\"end\":%" PRId64, isoproof_record_now());
  if (error != NULL) {
    isoproof_record_format(&line, ",\"error\":");
    isoproof_record_string(&line, error);
  }
  isoproof_record_format(&line, ",\"ops\":[");
  if (record->length > 0) isoproof_record_bytes(&line, record->text, record->length);
  isoproof_record_bytes(&line, "]}\n", 3);
  int status = -1, problem = ENOMEM;
  if (!line.failed && !record->failed) {
    status = isoproof_recorder_line(record->recorder, line.text, line.length);
    problem = errno;
  }
  free(line.text);
  free(record->text);
  free(record);
  if (status != 0) errno = problem;
  return status;
}

#ifdef __cplusplus
}
#endif

#endif
