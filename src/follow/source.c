/* Reads a file that grows, or a pipe, as far as it is there, and sees when the file is not the same any more. */
#include "follow/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/inflate.h"

enum { PIPE_WAIT_MS = 100, FILE_WAIT_MS = 20, LONGEST_HEADER = 1 << 20 };

static iso_place place_of(const iso_source *source) { return (iso_place){source->name, 0, 0, -1}; }

isoproof_status iso_source_open(iso_source *source, const char *path, bool to_end, const isoproof_task *task,
                                isoproof_error *error) {
  bool standard = strcmp(path, "-") == 0;
  *source = (iso_source){.path = path, .name = standard ? "<stdin>" : path, .to_end = to_end, .fd = -1};
  /* A pipe that nobody has opened for writing yet must be waited for in poll, not in open. */
  source->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source->fd < 0) return iso_fail_errno(error, path, "open");
  isoproof_status status = ISOPROOF_OK;
  if (fstat(source->fd, &source->opened) != 0) {
    status = iso_fail_errno(error, source->name, "look at");
  } else if (S_ISDIR(source->opened.st_mode)) {
    status = iso_fail_at(error, ISOPROOF_ERR_IO, place_of(source), "expected a file, found a directory");
  } else {
    source->regular = S_ISREG(source->opened.st_mode);
    if (to_end && source->regular) status = iso_input_open_for(path, task, &source->input, error);
  }
  if (status != ISOPROOF_OK) iso_source_close(source);
  return status;
}

isoproof_status iso_source_skip(iso_source *source, uint64_t bytes, char **line, size_t *length,
                                isoproof_error *error) {
  struct stat now;
  char *start = source->regular ? malloc(LONGEST_HEADER) : NULL;
  if (source->regular && start == NULL) return iso_fail_memory(error);
  ssize_t got = start != NULL ? pread(source->fd, start, LONGEST_HEADER, 0) : -1;
  const char *newline = got > 0 ? memchr(start, '\n', (size_t)got) : NULL;
  isoproof_status status = ISOPROOF_OK;
  if (newline == NULL || iso_packing_of(start, (size_t)got) != ISO_PACKING_NONE) {
    status = iso_fail_at(error, ISOPROOF_ERR_UNSUPPORTED, place_of(source),
                         "this input cannot be followed from its middle on");
  } else if (fstat(source->fd, &now) != 0 || (uint64_t)now.st_size < bytes) {
    status = iso_fail_at(error, ISOPROOF_ERR_IO, place_of(source), "the file ends before byte %llu",
                         (unsigned long long)bytes);
  } else if (lseek(source->fd, (off_t)bytes, SEEK_SET) < 0) {
    status = iso_fail_errno(error, source->name, "go on reading");
  }
  if (status != ISOPROOF_OK) {
    free(start);
    return status;
  }
  iso_input_close(source->input);
  source->input = NULL;
  source->pulled = bytes;
  *line = start;
  *length = (size_t)(newline - start) + 1;
  return ISOPROOF_OK;
}

void iso_source_close(iso_source *source) {
  iso_input_close(source->input);
  source->input = NULL;
  if (source->fd > STDIN_FILENO) close(source->fd);
  source->fd = -1;
}

/* Nothing more is there at the moment: is it the same file still? */
static isoproof_status look_again(const iso_source *source, isoproof_error *error) {
  struct stat now;
  if (fstat(source->fd, &now) == 0 && (uint64_t)now.st_size < source->pulled)
    return iso_fail_at(error, ISOPROOF_ERR_IO, place_of(source),
                       "the file became shorter while it was followed: %llu bytes of it were read, and it has %llu",
                       (unsigned long long)source->pulled, (unsigned long long)now.st_size);
  if (strcmp(source->path, "-") == 0) return ISOPROOF_OK;
  if (stat(source->path, &now) != 0) {
    if (errno != ENOENT) return ISOPROOF_OK;
    return iso_fail_at(error, ISOPROOF_ERR_IO, place_of(source), "the file was removed while it was followed");
  }
  if (now.st_ino == source->opened.st_ino && now.st_dev == source->opened.st_dev) return ISOPROOF_OK;
  return iso_fail_at(error, ISOPROOF_ERR_IO, place_of(source),
                     "another file has taken the place of the one that was followed");
}

static isoproof_status refuse_packed(const iso_source *source, const char *bytes, size_t size, isoproof_error *error) {
  if (iso_packing_of(bytes, size) == ISO_PACKING_NONE) return ISOPROOF_OK;
  return iso_fail_at(error, ISOPROOF_ERR_UNSUPPORTED, place_of(source),
                     source->regular
                         ? "a compressed file cannot be followed while it grows, but be read to its end as it is"
                         : "what comes through a pipe cannot be compressed; decompress it before the pipe");
}

isoproof_status iso_source_read(iso_source *source, char *buffer, size_t size, size_t *got, bool *ended,
                                isoproof_error *error) {
  *got = 0;
  *ended = false;
  if (source->input != NULL) {
    uint64_t total;
    ISO_TRY(iso_input_read(source->input, buffer, size, got, error));
    iso_input_progress(source->input, &source->pulled, &total);
    *ended = *got == 0;
    return ISOPROOF_OK;
  }
  if (!source->regular) {
    struct pollfd one = {.fd = source->fd, .events = POLLIN};
    if (poll(&one, 1, 0) == 0) return ISOPROOF_OK;
  }
  ssize_t n = read(source->fd, buffer, size);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return ISOPROOF_OK;
  if (n < 0) return iso_fail_errno(error, source->name, "read");
  if (source->pulled == 0 && n > 0) ISO_TRY(refuse_packed(source, buffer, (size_t)n, error));
  source->pulled += (uint64_t)n;
  *got = (size_t)n;
  if (n > 0) return ISOPROOF_OK;
  if (!source->regular || source->to_end) {
    *ended = true;
    return ISOPROOF_OK;
  }
  return look_again(source, error);
}

void iso_source_wait(const iso_source *source) {
  if (!source->regular) {
    struct pollfd one = {.fd = source->fd, .events = POLLIN};
    (void)poll(&one, 1, PIPE_WAIT_MS);
    return;
  }
  struct timespec moment = {.tv_nsec = FILE_WAIT_MS * 1000000L};
  nanosleep(&moment, NULL);
}

uint64_t iso_source_waiting(const iso_source *source) {
  struct stat now;
  int in_pipe = 0;
  if (!source->regular) return ioctl(source->fd, FIONREAD, &in_pipe) == 0 && in_pipe > 0 ? (uint64_t)in_pipe : 0;
  if (fstat(source->fd, &now) != 0 || (uint64_t)now.st_size < source->pulled) return 0;
  return (uint64_t)now.st_size - source->pulled;
}
