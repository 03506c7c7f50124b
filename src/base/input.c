/* Bytes from files, pipes and memory, decompressed where their first bytes ask for it, and windows for tokenizers. */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inflate.h"

enum {
  BLOCK = 256 * 1024,     /* of the internal buffers: fits the second-level cache */
  PEEK_MOST = 64 * 1024,  /* what iso_input_peek shows at most */
  WINDOW_START = 1 << 20, /* of a tokenizer's window */
  MAGIC_BYTES = 4,        /* enough to tell gzip and zstd */
  WAIT_MS = 100           /* between two looks at the task while nothing comes */
};
/* The kernel does not read more than this at once anyway. */
#define READ_MOST ((size_t)1 << 30)

struct iso_input {
  char *name;
  int fd; /* -1: memory */
  bool close_fd;
  bool regular;              /* a regular file that is read from its start */
  bool touched;              /* iso_input_read was called */
  bool ended;                /* the decoded bytes end after `ready` */
  const isoproof_task *task; /* NULL: none, or nothing has to be waited for */
  const char *memory;
  uint64_t size;    /* of the underlying file or memory, 0 unknown */
  uint64_t pulled;  /* bytes taken from it */
  uint64_t decoded; /* bytes that came out, those in `ready` included */
  char *ready;      /* decoded bytes [ready_first, ready_end) wait to be read */
  size_t ready_first, ready_end;
  iso_inflate *inflate;  /* NULL: plain */
  isoproof_error broken; /* why nothing comes any more; its code is ISOPROOF_OK while all is well */
};

/* Waits until there is something to read, or the end, or the task has to end. */
static isoproof_status wait_for_bytes(const iso_input *input, isoproof_error *error) {
  for (;;) {
    struct pollfd one = {.fd = input->fd, .events = POLLIN};
    ISO_TRY(iso_task_check(input->task, error));
    /* A signal ends the wait, too; whatever else is wrong, reading tells. */
    int ready = poll(&one, 1, WAIT_MS);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return ISOPROOF_OK;
  }
}

/* Takes bytes from the file or the memory as they are; *got 0 at the end. */
static isoproof_status pull(void *context, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  iso_input *input = context;
  *got = 0;
  if (input->fd < 0) {
    uint64_t left = input->size - input->pulled;
    size_t part = size < left ? size : (size_t)left;
    if (part > 0) memcpy(buffer, input->memory + input->pulled, part);
    input->pulled += part;
    *got = part;
    return ISOPROOF_OK;
  }
  if (size > READ_MOST) size = READ_MOST;
  ssize_t n;
  do {
    if (input->task != NULL) ISO_TRY(wait_for_bytes(input, error));
    n = read(input->fd, buffer, size);
  } while (n < 0 && (errno == EINTR || (input->task != NULL && errno == EAGAIN)));
  if (n < 0) return iso_fail_errno(error, input->name, "read");
  input->pulled += (uint64_t)n;
  *got = (size_t)n;
  return ISOPROOF_OK;
}

/* Puts some decoded bytes into the buffer; *got 0 at the end.  Once it has failed, it fails the same way again. */
static isoproof_status decode(iso_input *input, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  isoproof_status status = input->broken.code;
  if (status == ISOPROOF_OK) {
    status = input->inflate == NULL ? pull(input, buffer, size, got, &input->broken)
                                    : iso_inflate_read(input->inflate, buffer, size, got, &input->broken);
  }
  if (status != ISOPROOF_OK) {
    if (error != NULL) *error = input->broken;
    return status;
  }
  input->decoded += *got;
  if (*got == 0) input->ended = true;
  return ISOPROOF_OK;
}

/* Collects the first bytes (a pipe may give them one by one) and puts a decompressor in between where they ask for
 * one. */
static isoproof_status sniff(iso_input *input, isoproof_error *error) {
  input->ready = malloc(BLOCK);
  if (input->ready == NULL) return iso_fail_memory(error);
  while (input->ready_end < MAGIC_BYTES && !input->ended) {
    size_t got;
    ISO_TRY(decode(input, input->ready + input->ready_end, BLOCK - input->ready_end, &got, error));
    input->ready_end += got;
  }
  iso_packing packing = iso_packing_of(input->ready, input->ready_end);
  if (packing == ISO_PACKING_NONE) return ISOPROOF_OK;
  isoproof_status status =
      iso_inflate_new(packing, input->name, pull, input, input->ready, input->ready_end, &input->inflate, error);
  input->ready_end = 0;
  input->decoded = 0;
  input->ended = false;
  return status;
}

static isoproof_status finish_open(iso_input *made, const char *name, iso_input **input, isoproof_error *error) {
  made->name = strdup(name);
  isoproof_status status = made->name == NULL ? iso_fail_memory(error) : sniff(made, error);
  if (status != ISOPROOF_OK) {
    iso_input_close(made);
    return status;
  }
  *input = made;
  return ISOPROOF_OK;
}

isoproof_status iso_input_open(const char *path, iso_input **input, isoproof_error *error) {
  return iso_input_open_for(path, NULL, input, error);
}

isoproof_status iso_input_open_for(const char *path, const isoproof_task *task, iso_input **input,
                                   isoproof_error *error) {
  *input = NULL;
  bool standard = strcmp(path, "-") == 0;
  /* A pipe that nobody has opened for writing yet must be waited for in poll, not in open. */
  int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | (task != NULL ? O_NONBLOCK : 0));
  if (fd < 0) return iso_fail_errno(error, path, "open");
  const char *name = standard ? "<stdin>" : path;
  struct stat facts;
  isoproof_status status = ISOPROOF_OK;
  if (fstat(fd, &facts) != 0) {
    status = iso_fail_errno(error, name, "look at");
  } else if (S_ISDIR(facts.st_mode)) {
    status = iso_fail_at(error, ISOPROOF_ERR_IO, (iso_place){name, 0, 0, -1}, "expected a file, found a directory");
  }
  iso_input *made = status == ISOPROOF_OK ? calloc(1, sizeof *made) : NULL;
  if (status == ISOPROOF_OK && made == NULL) status = iso_fail_memory(error);
  if (status != ISOPROOF_OK) {
    if (!standard) close(fd);
    return status;
  }
  made->fd = fd;
  made->close_fd = !standard;
  made->task = S_ISREG(facts.st_mode) ? NULL : task;
  if (S_ISREG(facts.st_mode) && facts.st_size > 0) {
    made->size = (uint64_t)facts.st_size;
    made->regular = lseek(fd, 0, SEEK_CUR) == 0;
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return finish_open(made, name, input, error);
}

isoproof_status iso_input_open_memory(const void *data, size_t size, const char *name, iso_input **input,
                                      isoproof_error *error) {
  *input = NULL;
  iso_input *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->fd = -1;
  made->memory = data;
  made->size = size;
  return finish_open(made, name != NULL ? name : "<memory>", input, error);
}

void iso_input_close(iso_input *input) {
  if (input == NULL) return;
  iso_inflate_free(input->inflate);
  if (input->close_fd) close(input->fd);
  free(input->ready);
  free(input->name);
  free(input);
}

const char *iso_input_name(const iso_input *input) { return input->name; }

isoproof_status iso_input_read_some(iso_input *input, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  *got = 0;
  input->touched = true;
  if (input->ready_first == input->ready_end && !input->ended) {
    /* A large request goes past the internal buffer. */
    if (size >= BLOCK) return decode(input, buffer, size, got, error);
    input->ready_first = input->ready_end = 0;
    ISO_TRY(decode(input, input->ready, BLOCK, &input->ready_end, error));
  }
  size_t waiting = input->ready_end - input->ready_first, part = waiting < size ? waiting : size;
  if (part > 0) memcpy(buffer, input->ready + input->ready_first, part);
  input->ready_first += part;
  *got = part;
  return ISOPROOF_OK;
}

isoproof_status iso_input_read(iso_input *input, void *buffer, size_t size, size_t *got, isoproof_error *error) {
  char *out = buffer;
  size_t done = 0, part = 1;
  *got = 0;
  while (done < size && part > 0) {
    ISO_TRY(iso_input_read_some(input, out + done, size - done, &part, error));
    done += part;
  }
  *got = done;
  return ISOPROOF_OK;
}

isoproof_status iso_input_peek(iso_input *input, size_t size, const char **bytes, size_t *got, isoproof_error *error) {
  if (size > PEEK_MOST) size = PEEK_MOST;
  size_t waiting = input->ready_end - input->ready_first;
  if (waiting < size && input->ready_first > 0) {
    memmove(input->ready, input->ready + input->ready_first, waiting);
    input->ready_first = 0;
    input->ready_end = waiting;
  }
  while (input->ready_end - input->ready_first < size && !input->ended) {
    size_t part;
    ISO_TRY(decode(input, input->ready + input->ready_end, BLOCK - input->ready_end, &part, error));
    input->ready_end += part;
  }
  *bytes = input->ready + input->ready_first;
  *got = input->ready_end - input->ready_first;
  return ISOPROOF_OK;
}

void iso_input_progress(const iso_input *input, uint64_t *done, uint64_t *total) {
  *done = input->pulled;
  *total = input->size;
}

isoproof_status iso_input_map(iso_input *input, void **map, size_t *size, isoproof_error *error) {
  *map = NULL;
  *size = 0;
  (void)error;
  if (!input->regular || input->touched || input->inflate != NULL) return ISOPROOF_OK;
  struct stat facts;
  if (fstat(input->fd, &facts) != 0 || facts.st_size <= 0) return ISOPROOF_OK;
  if ((uint64_t)facts.st_size > SIZE_MAX) return ISOPROOF_OK;
  /* Where mapping does not work (some file systems), the caller reads instead. */
  void *mapped = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, input->fd, 0);
  if (mapped == MAP_FAILED) return ISOPROOF_OK;
  *map = mapped;
  *size = (size_t)facts.st_size;
  return ISOPROOF_OK;
}

isoproof_status iso_window_init(iso_window *window, iso_input *input, isoproof_error *error) {
  *window = (iso_window){.input = input, .buffer = malloc(WINDOW_START), .capacity = WINDOW_START};
  window->cur = window->end = window->buffer;
  return window->buffer != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_window_free(iso_window *window) {
  free(window->buffer);
  window->buffer = NULL;
  window->cur = window->end = NULL;
  window->capacity = 0;
}

/* Moves what is kept to the front and makes sure that there is room behind it. */
static isoproof_status make_room(iso_window *window, const char *from, isoproof_error *error) {
  size_t kept = (size_t)(window->end - from);
  size_t cur = (size_t)(window->cur - from);
  char *buffer = window->buffer;
  size_t capacity = window->capacity;
  window->offset += (uint64_t)(from - buffer);
  if (kept > capacity / 2) {
    size_t grown;
    if (__builtin_mul_overflow(capacity, (size_t)2, &grown)) return iso_fail_memory(error);
    char *larger = malloc(grown);
    if (larger == NULL) return iso_fail_memory(error);
    memcpy(larger, from, kept);
    free(buffer);
    buffer = larger;
    capacity = grown;
  } else if (kept > 0 && from != buffer) {
    memmove(buffer, from, kept);
  }
  window->buffer = buffer;
  window->capacity = capacity;
  window->cur = buffer + cur;
  window->end = buffer + kept;
  return ISOPROOF_OK;
}

isoproof_status iso_window_more(iso_window *window, const char **keep, size_t longest, isoproof_error *error) {
  if (window->at_end) return ISOPROOF_OK;
  const char *from = window->cur;
  if (keep != NULL && *keep != NULL && *keep < from) from = *keep;
  size_t kept = (size_t)(window->end - from);
  if (kept > longest) {
    int64_t offset = (int64_t)(window->offset + (uint64_t)(from - window->buffer));
    return iso_fail_at(error, ISOPROOF_ERR_LIMIT, (iso_place){window->input->name, 0, 0, offset},
                       "expected an item of at most %zu bytes, found one of more than that", longest);
  }
  size_t keep_at = keep != NULL && *keep != NULL ? (size_t)(*keep - from) : 0;
  ISO_TRY(make_room(window, from, error));
  if (keep != NULL && *keep != NULL) *keep = window->buffer + keep_at;
  size_t got;
  ISO_TRY(iso_input_read_some(window->input, window->buffer + kept, window->capacity - kept, &got, error));
  window->end += got;
  if (got == 0) window->at_end = true;
  return ISOPROOF_OK;
}

isoproof_status iso_window_has(iso_window *window, size_t size, bool *has, isoproof_error *error) {
  while ((size_t)(window->end - window->cur) < size && !window->at_end) {
    ISO_TRY(iso_window_more(window, NULL, SIZE_MAX, error));
  }
  *has = (size_t)(window->end - window->cur) >= size;
  return ISOPROOF_OK;
}
