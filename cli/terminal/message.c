/* message.c - messages on standard error. */
#include "cli/terminal/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/secrets.h"
#include "cli/terminal/terminal.h"

static atomic_bool verbose, muted;
static char name_shown[64] = "isoproof";

void message_set_name(const char *name) { snprintf(name_shown, sizeof name_shown, "%s", name); }
const char *message_name(void) { return name_shown; }
void message_mute(bool mute) { atomic_store(&muted, mute); }

void message_set_verbose(bool wanted) { atomic_store(&verbose, wanted); }

int exit_worse(int a, int b) {
  int weights[2] = {0, 0};
  int codes[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    switch (codes[i]) {
#define EXIT_X(name, code, weight, text)                                                                               \
  case code:                                                                                                           \
    weights[i] = (weight);                                                                                             \
    break;
      EXIT_LIST(EXIT_X)
#undef EXIT_X
    default:
      weights[i] = 5;
    }
  }
  return weights[0] >= weights[1] ? a : b;
}

int exit_of_status(isoproof_status status) {
  switch (status) {
  case ISOPROOF_OK:
    return EXIT_SATISFIED;
  case ISOPROOF_ERR_USAGE:
  case ISOPROOF_ERR_IO:
  case ISOPROOF_ERR_FORMAT:
  case ISOPROOF_ERR_LIMIT:
  case ISOPROOF_ERR_UNSUPPORTED:
    return EXIT_USAGE;
  case ISOPROOF_ERR_MEMORY:
  case ISOPROOF_ERR_TIMEOUT:
    return EXIT_UNKNOWN;
  case ISOPROOF_ERR_CANCELLED:
    return EXIT_INTERRUPTED;
  case ISOPROOF_ERR_INTERFERENCE:
    return EXIT_RUN;
  case ISOPROOF_ERR_INTERNAL:
    break;
  }
  return EXIT_INTERNAL;
}

/* The length of the UTF-8 sequence at `s` and its code point; 0 when it is broken. */
static size_t utf8_at(const unsigned char *s, uint32_t *code) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = s[0] < 0x80                   ? 1
                  : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                  : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                  : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                                : 0;
  if (length < 2) return *code = s[0], length;
  *code = s[0] & (0x7fU >> length);
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (s[i] & 0x3fU);
  }
  bool surrogate = *code >= 0xd800 && *code < 0xe000;
  return *code < smallest[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

/* C0, DEL, C1, and the marks that reorder text: they could make a file name lie. */
static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void put_safely(FILE *out, const char *text, const char *allowed) {
  const unsigned char *s = (const unsigned char *)text;
  while (*s != 0) {
    uint32_t code;
    size_t length = utf8_at(s, &code);
    bool plain = length > 0 && (!is_control(code) || (length == 1 && strchr(allowed, (int)code) != NULL));
    if (plain)
      fwrite(s, 1, length, out);
    else if (length == 1 && code == '\n')
      fputs("\\n", out);
    else if (length == 1 && code == '\t')
      fputs("\\t", out);
    else if (length <= 1)
      fprintf(out, "\\x%02x", s[0]);
    else
      fprintf(out, "\\u{%x}", (unsigned)code);
    s += length > 0 ? length : 1;
  }
}

void put_escaped(FILE *out, const char *text) { put_safely(out, text, ""); }
void put_text(FILE *out, const char *text) { put_safely(out, text, "\n\t"); }

/* A message in words: servers part theirs with line breaks and tabs. */
static void flatten(char *text) {
  size_t to = 0;
  for (size_t i = 0; text[i] != 0; i++) {
    bool blank = text[i] == '\n' || text[i] == '\r' || text[i] == '\t' || text[i] == ' ';
    bool again = blank && to > 0 && text[to - 1] == ' ' && text[i] != ' ';
    if (!again) text[to++] = (char)(blank ? ' ' : text[i]);
  }
  while (to > 0 && text[to - 1] == ' ') to--;
  text[to] = 0;
}

/* On a terminal wrapped at its width. */
static void put_message(const char *text) {
  char *line = NULL, safe[4096];
  size_t bytes;
  if (atomic_load(&muted)) return;
  FILE *whole = open_memstream(&line, &bytes);
  if (whole == NULL) return;
  fprintf(whole, "%s: ", name_shown);
  secrets_hide(text, safe, sizeof safe);
  put_escaped(whole, safe);
  fputc('\n', whole);
  if (fclose(whole) == 0) print_lines_in(stderr, line, isatty(STDERR_FILENO) ? terminal_width(stderr) : 0);
  free(line);
}

static void print_line(char *text) {
  flatten(text);
  /* Results printed so far come before what is said about the next one. */
  fflush(stdout);
  progress_clear();
  flockfile(stderr);
  put_message(text);
  funlockfile(stderr);
}

void message(const char *format, ...) {
  char text[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  print_line(text);
}

void note(const char *format, ...) {
  if (!atomic_load(&verbose)) return;
  char text[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  print_line(text);
}

/* Whether it says no more than that nobody reads standard output any more. */
static bool is_of_closed_pipe(const isoproof_error *error) {
  bool of_stdout = error->file[0] == 0 || strcmp(error->file, "-") == 0 || error->file[0] == '<';
  bool about_output = strstr(error->message, strerror(EPIPE)) != NULL || strstr(error->message, "write") != NULL;
  return error->code == ISOPROOF_ERR_IO && of_stdout && about_output && output_gone();
}

void message_notice(const char *text, void *user) {
  (void)user;
  message("%s", text);
}

void message_error(const isoproof_error *error, const char *file) {
  char text[ISOPROOF_ERROR_FILE_BYTES + ISOPROOF_ERROR_MESSAGE_BYTES + 64];
  if (error->code == ISOPROOF_ERR_CANCELLED) {
    message("interrupted");
    return;
  }
  if (is_of_closed_pipe(error)) {
    output_note_gone();
    return;
  }
  isoproof_error_format(error, text, sizeof text);
  if (error->file[0] != 0 || file == NULL)
    message("%s", text);
  else
    message("%s: %s", file, text);
}

void message_errno(const char *file, const char *doing) { message("%s: cannot %s: %s", file, doing, strerror(errno)); }

void message_notices(const isoproof_history *history, const char *file) {
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t i = 0; isoproof_history_notice_at(history, i, &notice); i++) {
    char line[32] = "";
    if (notice.line > 0) snprintf(line, sizeof line, ":%llu", (unsigned long long)notice.line);
    message("%s%s: notice: %s", file, line, notice.message);
  }
}
