/* database.c - which database, and where its password comes from. */
#include "cli/options/database.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/secrets.h"

enum { PASSWORD_MOST = 4096 };

/* ---- reading a password ---- */

/* Reads up to the end of the input or of a line; false after a message.  *more: something comes after the line. */
static bool read_line(int from, const char *name, char password[PASSWORD_MOST], bool *more) {
  size_t used = 0;
  char c = 0;
  ssize_t got;
  while ((got = read(from, &c, 1)) == 1 && c != '\n' && used < PASSWORD_MOST) {
    password[used < PASSWORD_MOST - 1 ? used : PASSWORD_MOST - 1] = c;
    used++;
  }
  *more = got == 1 && read(from, &c, 1) == 1;
  if (got < 0) {
    if (!interrupted()) message_errno(name, "read the password");
    return false;
  }
  if (used >= PASSWORD_MOST) {
    message("%s: expected a password of less than %d bytes", name, PASSWORD_MOST);
    return false;
  }
  if (used > 0 && password[used - 1] == '\r') used--;
  password[used] = 0;
  if (strlen(password) == used) return true;
  message("%s: expected a password, found a NUL byte", name);
  return false;
}

/* Whether a file is for its owner alone; pipes and the like are. */
static bool is_private(int file, const char *name) {
  struct stat about;
  if (fstat(file, &about) != 0) return message_errno(name, "look at it"), false;
  if (!S_ISREG(about.st_mode) || (about.st_mode & (S_IRWXG | S_IRWXO)) == 0) return true;
  message("%s: others may read this password; 'chmod 600' makes it yours alone", name);
  return false;
}

static bool read_file(const char *path, char password[PASSWORD_MOST]) {
  bool standard = strcmp(path, "-") == 0, more = false;
  const char *name = standard ? "standard input" : path;
  int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return message_errno(path, "open it"), false;
  bool good = (standard || is_private(file, name)) && read_line(file, name, password, &more);
  if (!standard) close(file);
  if (good && (more || password[0] == 0)) {
    message("%s: expected a password on one line, found %s", name, more ? "more than one line" : "nothing");
    good = false;
  }
  return good;
}

/* Waits for a line and reads it.  Signals that end the program are let in while it waits only, so that none comes too
 * early to be noticed, or leaves a terminal behind that shows nothing. */
static bool read_answer(int terminal, const sigset_t *open_signals, char password[PASSWORD_MOST]) {
  struct pollfd answer = {.fd = terminal, .events = POLLIN};
  if (interrupted() || ppoll(&answer, 1, NULL, open_signals) < 0) return false;
  ssize_t got = read(terminal, password, PASSWORD_MOST - 1);
  size_t used = got > 0 ? (size_t)got : 0;
  while (used > 0 && (password[used - 1] == '\n' || password[used - 1] == '\r')) used--;
  password[used] = 0;
  return got >= 0;
}

/* Asks on a terminal without showing the answer. */
static bool ask_silently(int terminal, const struct termios *before, char password[PASSWORD_MOST]) {
  static const char question[] = "Password of the database: ";
  struct termios silent = *before;
  sigset_t ends, open_signals;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, &open_signals);
  silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
  silent.c_lflag |= ICANON | ISIG;
  bool good = tcsetattr(terminal, TCSAFLUSH, &silent) == 0;
  if (!good) message_errno("--password", "silence the terminal");
  good = good && write(terminal, question, sizeof question - 1) > 0 && read_answer(terminal, &open_signals, password);
  tcsetattr(terminal, TCSAFLUSH, before);
  if (write(terminal, "\n", 1) < 0) good = false;
  sigprocmask(SIG_SETMASK, &open_signals, NULL);
  return good;
}

/* Asks on the terminal, whatever standard input and output are. */
static bool ask(char password[PASSWORD_MOST]) {
  struct termios before;
  int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  bool good = terminal >= 0 && tcgetattr(terminal, &before) == 0;
  if (!good)
    message("--password: there is no terminal to ask on; --password-file and ISOPROOF_PASSWORD need none");
  else
    good = ask_silently(terminal, &before, password);
  if (terminal >= 0) close(terminal);
  if (!good && interrupted()) message("interrupted");
  return good;
}

/* ---- choosing ---- */

static bool takes_password(const char *url) {
  static const char *const without[] = {"sqlite", "duckdb:", "rocksdb:", "sim:"};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (strncmp(url, without[i], strlen(without[i])) == 0) return false;
  return true;
}

/* Whether a password that was asked for has a use. */
static bool is_useful(const database_choice *choice, const char *name, bool private) {
  bool some = false;
  for (size_t i = 0; i < choice->count; i++) {
    some |= takes_password(choice->urls[i]);
    if (!isoproof_url_has_password(choice->urls[i])) continue;
    message("--%s: the URL of the database has a password, too; leave it out there", name);
    return false;
  }
  if (some && !private) return true;
  message("--%s: %s", name,
          private ? "the servers of --cluster have no passwords" : "--db names no database that takes one");
  return false;
}

static bool take_password(database_choice *choice, const option_value *values, bool private) {
  const option_value *prompt = &values[DATABASE_PASSWORD], *file = &values[DATABASE_PASSWORD_FILE];
  if (prompt->on && file->given) {
    message("--password and --password-file exclude each other");
    return false;
  }
  const char *from = getenv("ISOPROOF_PASSWORD");
  char password[PASSWORD_MOST] = "";
  bool good = true, asked = prompt->on || file->given;
  if (asked) good = is_useful(choice, prompt->on ? "password" : "password-file", private);
  if (good && asked) good = prompt->on ? ask(password) : read_file(file->text, password);
  if (good && (asked || (from != NULL && from[0] != 0 && !private))) {
    choice->secret = strdup(asked ? password : from);
    choice->password = choice->secret;
    secrets_learn(choice->secret);
    if (choice->secret == NULL) message("out of memory");
    good = choice->secret != NULL;
  }
  explicit_bzero(password, sizeof password);
  return good;
}

/* The URLs of ISOPROOF_DB, where --db is not given. */
static bool take_environment(database_choice *choice) {
  const char *list = getenv("ISOPROOF_DB");
  if (list == NULL || list[0] == 0) return true;
  secrets_learn_urls(list);
  choice->list = strdup(list);
  size_t most = 1;
  for (const char *c = list; *c != 0; c++) most += *c == ',';
  choice->items = calloc(most, sizeof *choice->items);
  if (choice->list == NULL || choice->items == NULL) {
    message("out of memory");
    return false;
  }
  choice->items[choice->count++] = choice->list;
  for (char *c = choice->list; *c != 0; c++) {
    if (*c != ',' || !isoproof_url_begins(c + 1)) continue;
    *c = 0;
    choice->items[choice->count++] = c + 1;
  }
  choice->urls = (const char *const *)choice->items;
  return true;
}

bool database_choose(database_choice *choice, const option_value *db, const option_value *values, bool private) {
  *choice = (database_choice){.urls = db->items, .count = db->item_count};
  if (!db->given && !private && !take_environment(choice)) return false;
  return take_password(choice, values, private);
}

void database_free(database_choice *choice) {
  if (choice->secret != NULL) explicit_bzero(choice->secret, strlen(choice->secret));
  free(choice->secret);
  free(choice->list);
  free(choice->items);
  *choice = (database_choice){.count = 0};
}
