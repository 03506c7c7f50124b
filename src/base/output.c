/* Buffered output to files that appear whole or not at all, to descriptors and to callbacks. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deflate.h"
#include "base/hash.h"
#include "base/text.h"

enum { BUFFER = 1 << 20, TEMP_TRIES = 100, TEMP_NAME_MOST = 200 };

struct iso_output {
  char *buffer;
  size_t used;
  bool failed;
  isoproof_error problem; /* the first failure */
  iso_deflate *deflate;   /* NULL: plain */
  isoproof_write_fn write;
  void *user;
  int fd;
  bool close_fd;
  char *name;  /* for messages */
  char *final; /* where the file will appear, NULL when it is written in place */
  char *temp;
};

/* ---- the sink ---- */

/* Waits until a descriptor that somebody made non-blocking takes bytes again. */
static bool wait_writable(int fd) {
  struct pollfd poller = {.fd = fd, .events = POLLOUT};
  int n;
  do n = poll(&poller, 1, -1);
  while (n < 0 && errno == EINTR);
  return n >= 0;
}

static bool push(void *context, const void *bytes, size_t size) {
  iso_output *output = context;
  if (output->write != NULL) {
    if (output->write(output->user, bytes, size)) return true;
    iso_fail(&output->problem, ISOPROOF_ERR_IO, "cannot write: the receiver of the output refused it");
    output->failed = true;
    return false;
  }
  const char *next = bytes;
  while (size > 0) {
    ssize_t n = write(output->fd, next, size);
    if (n >= 0) {
      next += n;
      size -= (size_t)n;
    } else if (errno != EINTR && (errno != EAGAIN || !wait_writable(output->fd))) {
      iso_fail_errno(&output->problem, output->name, "write");
      output->failed = true;
      return false;
    }
  }
  return true;
}

static void deliver(iso_output *output, const void *bytes, size_t size, bool last) {
  if (output->failed) return;
  if (output->deflate == NULL) {
    if (size > 0) push(output, bytes, size);
    return;
  }
  isoproof_error error;
  isoproof_status status = iso_deflate_write(output->deflate, bytes, size, last, &error);
  if (status == ISOPROOF_OK || output->failed) return;
  output->problem = error;
  output->failed = true;
}

static void flush(iso_output *output, bool last) {
  deliver(output, output->buffer, output->used, last);
  output->used = 0;
}

void iso_output_flush(iso_output *output) {
  if (output->used > 0) flush(output, false);
}

/* ---- opening ---- */

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && memcmp(text + length - tail, ending, tail) == 0;
}

static isoproof_compression choose(const char *path, isoproof_compression compression) {
  if (compression != ISOPROOF_COMPRESS_AUTO) return compression;
  if (path != NULL && ends_with(path, ".gz")) return ISOPROOF_COMPRESS_GZIP;
  if (path != NULL && ends_with(path, ".zst")) return ISOPROOF_COMPRESS_ZSTD;
  return ISOPROOF_COMPRESS_NO;
}

static isoproof_status new_output(const char *name, isoproof_compression compression, iso_output **output,
                                  isoproof_error *error) {
  *output = NULL;
  iso_output *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->fd = -1;
  made->name = strdup(name);
  made->buffer = malloc(BUFFER);
  isoproof_status status = made->name != NULL && made->buffer != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK && compression != ISOPROOF_COMPRESS_NO) {
    status = iso_deflate_new(compression, push, made, &made->deflate, error);
  }
  if (status != ISOPROOF_OK) {
    iso_output_abandon(made);
    return status;
  }
  *output = made;
  return ISOPROOF_OK;
}

isoproof_status iso_output_open_callback(isoproof_write_fn write, void *user, isoproof_compression compression,
                                         iso_output **output, isoproof_error *error) {
  ISO_TRY(new_output("<output>", choose(NULL, compression), output, error));
  (*output)->write = write;
  (*output)->user = user;
  return ISOPROOF_OK;
}

/* Makes a new file beside the final one; its mode is what the umask allows, or that of the file it will replace. */
static isoproof_status open_temp(iso_output *output, const struct stat *replaced, isoproof_error *error) {
  const char *slash = strrchr(output->final, '/');
  size_t directory = slash == NULL ? 0 : (size_t)(slash + 1 - output->final);
  const char *base = output->final + directory;
  for (int i = 0; i < TEMP_TRIES; i++) {
    free(output->temp);
    if (asprintf(&output->temp, "%.*s.%.*s.%08llx", (int)directory, output->final, TEMP_NAME_MOST, base,
                 (unsigned long long)(iso_hash_seed() & 0xffffffffu)) < 0) {
      output->temp = NULL;
      return iso_fail_memory(error);
    }
    output->fd = open(output->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0 || errno != EEXIST) break;
  }
  if (output->fd < 0) {
    isoproof_status status = iso_fail_errno(error, output->name, "create a file beside it");
    free(output->temp);
    output->temp = NULL;
    return status;
  }
  output->close_fd = true;
  /* Not being allowed to copy the mode is no reason to fail. */
  if (replaced != NULL && fchmod(output->fd, replaced->st_mode & 0777) != 0) errno = 0;
  return ISOPROOF_OK;
}

static isoproof_status open_path(iso_output *output, const char *path, isoproof_error *error) {
  struct stat facts;
  bool exists = stat(path, &facts) == 0;
  bool link = false;
  if (!exists) {
    struct stat itself;
    link = lstat(path, &itself) == 0; /* a link to nothing: write through it */
  }
  if (link || (exists && !S_ISREG(facts.st_mode))) {
    output->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->fd < 0) return iso_fail_errno(error, path, "open for writing");
    output->close_fd = true;
    return ISOPROOF_OK;
  }
  /* Renaming would not mind a file that says it must not be written. */
  if (exists && access(path, W_OK) != 0) return iso_fail_errno(error, path, "write");
  /* Replace what a symbolic link points to, not the link. */
  output->final = exists ? realpath(path, NULL) : strdup(path);
  if (output->final == NULL) {
    return exists ? iso_fail_errno(error, path, "find") : iso_fail_memory(error);
  }
  return open_temp(output, exists ? &facts : NULL, error);
}

isoproof_status iso_output_open(const char *path, isoproof_compression compression, iso_output **output,
                                isoproof_error *error) {
  bool standard = strcmp(path, "-") == 0;
  ISO_TRY(new_output(standard ? "<stdout>" : path, choose(standard ? NULL : path, compression), output, error));
  isoproof_status status = ISOPROOF_OK;
  if (standard) {
    (*output)->fd = STDOUT_FILENO;
  } else {
    status = open_path(*output, path, error);
  }
  if (status != ISOPROOF_OK) {
    iso_output_abandon(*output);
    *output = NULL;
  }
  return status;
}

/* ---- closing ---- */

static void close_file(iso_output *output) {
  if (!output->close_fd) return;
  output->close_fd = false;
  /* Network file systems report a full disk only here. */
  if (close(output->fd) != 0 && errno != EINTR && !output->failed) {
    iso_fail_errno(&output->problem, output->name, "write");
    output->failed = true;
  }
}

isoproof_status iso_output_close(iso_output *output, isoproof_error *error) {
  if (output == NULL) return ISOPROOF_OK;
  flush(output, true);
  close_file(output);
  if (!output->failed && output->temp != NULL) {
    if (rename(output->temp, output->final) == 0) {
      free(output->temp);
      output->temp = NULL;
    } else {
      iso_fail_errno(&output->problem, output->name, "rename the finished file to this name");
      output->failed = true;
    }
  }
  isoproof_status status = output->failed ? output->problem.code : ISOPROOF_OK;
  if (output->failed && error != NULL) *error = output->problem;
  iso_output_abandon(output);
  return status;
}

void iso_output_abandon(iso_output *output) {
  if (output == NULL) return;
  close_file(output);
  if (output->temp != NULL) unlink(output->temp);
  iso_deflate_free(output->deflate);
  free(output->temp);
  free(output->final);
  free(output->name);
  free(output->buffer);
  free(output);
}

bool iso_output_failed(const iso_output *output) { return output->failed; }

/* ---- writing ---- */

void iso_out_bytes(iso_output *output, const void *bytes, size_t size) {
  if (__builtin_expect(size > BUFFER - output->used, 0)) {
    flush(output, false);
    if (size >= BUFFER) {
      deliver(output, bytes, size, false);
      return;
    }
  }
  if (size > 0) memcpy(output->buffer + output->used, bytes, size);
  output->used += size;
}

void iso_out_char(iso_output *output, char c) {
  if (__builtin_expect(output->used == BUFFER, 0)) flush(output, false);
  output->buffer[output->used++] = c;
}

void iso_out_text(iso_output *output, const char *text) { iso_out_bytes(output, text, strlen(text)); }

void iso_out_u64(iso_output *output, uint64_t number) {
  if (__builtin_expect(BUFFER - output->used < ISO_NUMBER_BYTES, 0)) flush(output, false);
  output->used += iso_format_u64(number, output->buffer + output->used);
}

void iso_out_i64(iso_output *output, int64_t number) {
  if (__builtin_expect(BUFFER - output->used < ISO_NUMBER_BYTES, 0)) flush(output, false);
  output->used += iso_format_i64(number, output->buffer + output->used);
}

void iso_out_printf(iso_output *output, const char *format, ...) {
  char small[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(small, sizeof small, format, arguments);
  va_end(arguments);
  if (length >= 0 && (size_t)length < sizeof small) {
    iso_out_bytes(output, small, (size_t)length);
    return;
  }
  char *large = NULL;
  va_start(arguments, format);
  if (length >= 0) length = vasprintf(&large, format, arguments);
  va_end(arguments);
  if (length >= 0) {
    iso_out_bytes(output, large, (size_t)length);
    free(large);
  } else if (!output->failed) {
    iso_fail_memory(&output->problem);
    output->failed = true;
  }
}

/* The escape of a byte that cannot stand in a JSON string as it is. */
static void out_json_escape(iso_output *output, unsigned char c) {
  static const char digits[] = "0123456789abcdef";
  const char *shorts = "\"\"\\\\\bb\ff\nn\rr\tt";
  for (const char *s = shorts; *s != '\0'; s += 2) {
    if ((unsigned char)s[0] == c) {
      iso_out_char(output, '\\');
      iso_out_char(output, s[1]);
      return;
    }
  }
  iso_out_text(output, "\\u00");
  iso_out_char(output, digits[c >> 4]);
  iso_out_char(output, digits[c & 15]);
}

void iso_out_json_string(iso_output *output, const char *text, size_t length) {
  iso_out_char(output, '"');
  size_t plain = 0; /* start of the bytes that can be copied */
  for (size_t i = 0; i < length;) {
    unsigned char c = (unsigned char)text[i];
    size_t step = c < 0x80 ? 1 : iso_utf8_step(text + i, length - i);
    if (step > 0 && c >= 0x20 && c != '"' && c != '\\') {
      i += step;
      continue;
    }
    iso_out_bytes(output, text + plain, i - plain);
    if (step == 0) {
      iso_out_text(output, "\xef\xbf\xbd");
    } else {
      out_json_escape(output, c);
    }
    plain = ++i;
  }
  iso_out_bytes(output, text + plain, length - plain);
  iso_out_char(output, '"');
}
