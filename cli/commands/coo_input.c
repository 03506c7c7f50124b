/* coo_input.c - schedules from the command line and from a file, one on a line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/coo.h"

enum { SCHEDULES_MOST = 100000, LINE_MOST = 64 << 10 };

static char *trim(char *text) {
  text += strspn(text, " \t\r\n");
  size_t length = strlen(text);
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) text[--length] = '\0';
  return text;
}

/* Takes copies; false after a message. */
static bool add(coo_schedules *all, const char *name, const char *text) {
  if (all->count == all->room) {
    size_t room = all->room == 0 ? 16 : 2 * all->room;
    char **names = realloc(all->names, room * sizeof *names);
    if (names != NULL) all->names = names;
    char **texts = names != NULL ? realloc(all->texts, room * sizeof *texts) : NULL;
    if (texts == NULL) return message("memory is out"), false;
    all->texts = texts;
    all->room = room;
  }
  char *kept_name = name != NULL ? strdup(name) : NULL, *kept = strdup(text);
  if (kept == NULL || (name != NULL && kept_name == NULL)) {
    free(kept_name);
    free(kept);
    message("memory is out");
    return false;
  }
  all->names[all->count] = kept_name;
  all->texts[all->count++] = kept;
  return true;
}

/* "name: R1x ...", or the steps alone; what is no schedule is said with its place. */
static bool add_line(coo_schedules *all, const char *path, unsigned long number, char *line) {
  char *comment = strchr(line, '#');
  if (comment != NULL) *comment = '\0';
  char *colon = strrchr(line, ':'), *text = line;
  const char *name = NULL;
  if (colon != NULL) {
    *colon = '\0';
    name = trim(line);
    text = colon + 1;
  }
  size_t skipped = (size_t)(text - line) + strspn(text, " \t\r\n");
  text = trim(text);
  if (*text == '\0' && name == NULL) return true;
  isoproof_schedule *schedule = NULL;
  isoproof_error error = {.offset = -1};
  if (isoproof_schedule_parse(text, &schedule, &error) != ISOPROOF_OK) {
    error.line = number;
    error.column += skipped;
    snprintf(error.file, sizeof error.file, "%s", path);
    message_error(&error, NULL);
    return false;
  }
  isoproof_schedule_free(schedule);
  if (all->count == SCHEDULES_MOST) {
    message("%s: expected at most %d schedules, found more", path, SCHEDULES_MOST);
    return false;
  }
  return add(all, name != NULL && *name != '\0' ? name : NULL, text);
}

static bool read_lines(coo_schedules *all, const char *path, FILE *file) {
  char *line = NULL;
  size_t room = 0;
  bool good = true;
  ssize_t length;
  for (unsigned long number = 1; good && (length = getline(&line, &room, file)) >= 0; number++) {
    if (length > LINE_MOST || strlen(line) != (size_t)length) {
      message("%s:%lu: expected a line of text of at most %d bytes", path, number, LINE_MOST);
      good = false;
    } else {
      good = add_line(all, path, number, line);
    }
  }
  if (good && ferror(file)) {
    message("%s: %s", path, strerror(errno));
    good = false;
  }
  free(line);
  return good;
}

static bool read_file(coo_schedules *all, const char *path) {
  bool standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdin : fopen(path, "re");
  if (file == NULL) {
    message("%s: %s", path, strerror(errno));
    return false;
  }
  bool good = read_lines(all, standard ? "standard input" : path, file);
  if (!standard) fclose(file);
  if (good && all->count == 0) {
    message("%s: expected a schedule on each line, found none", path);
    good = false;
  }
  return good;
}

int coo_schedules_read(const options *parsed, coo_schedules *all) {
  const option_value *v = parsed->values;
  if (v[COO_SCHEDULE].given && !add(all, NULL, v[COO_SCHEDULE].text)) return EXIT_USAGE;
  if (v[COO_SCHEDULES].given && !read_file(all, v[COO_SCHEDULES].text)) return EXIT_USAGE;
  return EXIT_SATISFIED;
}

void coo_schedules_free(coo_schedules *all) {
  for (size_t i = 0; i < all->count; i++) {
    free(all->names[i]);
    free(all->texts[i]);
  }
  free(all->names);
  free(all->texts);
}
