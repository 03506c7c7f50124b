/* transaction_order.c - names of transactions, one a line, turned into their numbers. */
#include "cli/options/transaction_order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
  char name[64];
  uint64_t txn;
  bool taken;
} named;

static isoproof_status fail(isoproof_error *error, isoproof_status code, const char *path, uint64_t line,
                            const char *what, const char *which) {
  memset(error, 0, sizeof *error);
  error->code = code;
  error->line = line;
  error->offset = -1;
  snprintf(error->file, sizeof error->file, "%s", path);
  snprintf(error->message, sizeof error->message, "%s%s", what, which);
  return code;
}

static int by_name(const void *a, const void *b) { return strcmp(((const named *)a)->name, ((const named *)b)->name); }

static named *name_all(const isoproof_history *history, size_t *count) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  *count = (size_t)counts.transactions;
  named *names = calloc(*count + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < *count; i++) {
    isoproof_history_txn_name(history, i, names[i].name, sizeof names[i].name);
    names[i].txn = i;
  }
  if (names != NULL && *count > 1) qsort(names, *count, sizeof *names, by_name);
  return names;
}

/* The name on a line, without remark and blanks; it may be empty. */
static char *name_on(char *line) {
  line[strcspn(line, "#\r\n")] = '\0';
  line += strspn(line, " \t");
  line[strcspn(line, " \t")] = '\0';
  return line;
}

static isoproof_status read_lines(FILE *in, const char *path, named *names, size_t count, transaction_order *out,
                                  isoproof_error *error) {
  char *line = NULL;
  size_t size = 0, number = 0;
  isoproof_status status = ISOPROOF_OK;
  while (status == ISOPROOF_OK && getline(&line, &size, in) >= 0) {
    named wanted = {.txn = 0};
    const char *name = name_on(line);
    number++;
    if (name[0] == '\0') continue;
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    named *found = bsearch(&wanted, names, count, sizeof wanted, by_name);
    if (found == NULL || found->taken) {
      const char *what = found == NULL ? "the history has no transaction " : "once more transaction ";
      status = fail(error, ISOPROOF_ERR_FORMAT, path, number, what, wanted.name);
    } else {
      found->taken = true;
      out->txns[out->count++] = found->txn;
    }
  }
  if (status == ISOPROOF_OK && ferror(in)) status = fail(error, ISOPROOF_ERR_IO, path, 0, strerror(errno), "");
  free(line);
  return status;
}

isoproof_status transaction_order_read(const char *path, const isoproof_history *history, transaction_order *out,
                                       isoproof_error *error) {
  *out = (transaction_order){NULL, 0};
  if (path == NULL) return ISOPROOF_OK;
  FILE *in = fopen(path, "r");
  if (in == NULL) return fail(error, ISOPROOF_ERR_IO, path, 0, strerror(errno), "");
  size_t count;
  named *names = name_all(history, &count);
  out->txns = malloc((count + 1) * sizeof *out->txns);
  isoproof_status status = ISOPROOF_OK;
  if (names == NULL || out->txns == NULL) status = fail(error, ISOPROOF_ERR_MEMORY, path, 0, "out of memory", "");
  if (status == ISOPROOF_OK) status = read_lines(in, path, names, count, out, error);
  free(names);
  fclose(in);
  if (status != ISOPROOF_OK) transaction_order_free(out);
  return status;
}

void transaction_order_free(transaction_order *order) {
  free(order->txns);
  *order = (transaction_order){NULL, 0};
}
