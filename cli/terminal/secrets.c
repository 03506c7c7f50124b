/* secrets.c - passwords out of the arguments, and out of what the program says. */
#include "cli/terminal/secrets.h"

#include <isoproof/database.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static isoproof_secrets *known;
static char **arguments; /* the copies, kept to the end */

void secrets_learn(const char *password) {
  if (known != NULL || isoproof_secrets_new(&known, NULL) == ISOPROOF_OK) isoproof_secrets_add(known, password, NULL);
}

void secrets_hide(const char *text, char *buffer, size_t size) {
  if (known != NULL)
    isoproof_secrets_hide(known, text, buffer, size);
  else
    snprintf(buffer, size, "%s", text);
}

/* The length of the first URL of a list: up to the end, or a comma before another one. */
static size_t url_length(const char *urls) {
  size_t length = strcspn(urls, ",");
  while (urls[length] == ',' && !isoproof_url_begins(urls + length + 1)) length += 1 + strcspn(urls + length + 1, ",");
  return length;
}

/* Learns URLs and writes them without their passwords. */
static void take_urls(const char *urls, FILE *shown) {
  while (*urls != 0) {
    size_t length = url_length(urls);
    char *one = strndup(urls, length), hidden[8192];
    if (one == NULL) return;
    if (known != NULL || isoproof_secrets_new(&known, NULL) == ISOPROOF_OK) isoproof_secrets_add_url(known, one, NULL);
    isoproof_url_show(one, hidden, sizeof hidden);
    if (shown != NULL) fputs(hidden, shown);
    free(one);
    urls += length;
    if (*urls != ',') return;
    if (shown != NULL) fputc(',', shown);
    urls++;
  }
}

void secrets_learn_urls(const char *urls) {
  if (urls != NULL) take_urls(urls, NULL);
}

/* What an argument may be.  File names have colons and at signs, too; only what looks like a database is taken for one,
 * unless it is where one is expected. */
static bool may_be_url(const char *text) {
  return strstr(text, "://") != NULL || isoproof_url_begins(text) || strchr(text, '=') != NULL;
}

/* Writes an argument as the list of processes is to show it. */
static void take_argument(const char *before, const char *word, FILE *shown) {
  bool option = strncmp(word, "--", 2) == 0;
  const char *equals = option ? strchr(word, '=') : NULL, *value = equals != NULL ? equals + 1 : word;
  bool password = option ? strncmp(word, "--password=", 11) == 0 : strcmp(before, "--password") == 0 && word[0] != '-';
  bool database = option ? strncmp(word, "--db=", 5) == 0 : strcmp(before, "--db") == 0;
  fwrite(word, 1, (size_t)(value - word), shown);
  if (password) secrets_learn(value);
  if (password)
    fputs("***", shown);
  else if (database || may_be_url(value))
    take_urls(value, shown);
  else
    fputs(value, shown);
}

/* The list of processes reads the memory of the arguments; what is left of an argument becomes empty. */
static void overwrite(char *argument, const char *shown) {
  size_t length = strlen(argument), wanted = strlen(shown);
  if (strcmp(argument, shown) == 0) return;
  memset(argument, 0, length);
  memcpy(argument, shown, wanted < length ? wanted : length);
}

char **secrets_take_arguments(int argc, char **argv) {
  arguments = calloc((size_t)argc + 1, sizeof *arguments);
  if (arguments == NULL) return NULL;
  for (int i = 0; i < argc; i++) {
    char *text = NULL;
    size_t size = 0;
    arguments[i] = strdup(argv[i]);
    FILE *shown = i > 0 ? open_memstream(&text, &size) : NULL;
    if (arguments[i] == NULL || (i > 0 && shown == NULL)) return NULL;
    if (shown == NULL) continue;
    take_argument(arguments[i - 1], arguments[i], shown);
    if (fclose(shown) == 0) overwrite(argv[i], text);
    free(text);
  }
  return arguments;
}
