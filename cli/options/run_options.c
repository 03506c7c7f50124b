/* run_options.c - from options to a run. */
#include "cli/options/run_options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/message.h"

/* ---- URLs ---- */

/* Whether a piece between commas begins a URL: "scheme:". */
static bool begins_url(const char *piece) {
  size_t n = 0;
  while (isalpha((unsigned char)piece[n]) || (n > 0 && (isdigit((unsigned char)piece[n]) || piece[n] == '+'))) n++;
  return n > 1 && piece[n] == ':';
}

/* Commas separate URLs, but may also be part of one (the bugs of sim:): a piece without a scheme belongs to the URL
 * before it. */
static bool collect_urls(run_plan *plan, const option_value *db) {
  plan->urls = calloc(db->item_count > 0 ? db->item_count : 1, sizeof *plan->urls);
  if (plan->urls == NULL) return false;
  for (size_t i = 0; i < db->item_count; i++) {
    if (plan->url_count == 0 || begins_url(db->items[i])) {
      plan->urls[plan->url_count] = strdup(db->items[i]);
      if (plan->urls[plan->url_count] == NULL) return false;
      plan->url_count++;
      continue;
    }
    char *longer;
    char **last = &plan->urls[plan->url_count - 1];
    if (asprintf(&longer, "%s,%s", *last, db->items[i]) < 0) return false;
    free(*last);
    *last = longer;
  }
  return true;
}

/* ---- the command line again ---- */

static void print_word(FILE *out, const char *word) {
  if (word[0] != 0 &&
      strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+") == strlen(word)) {
    fputs(word, out);
    return;
  }
  fputc('\'', out);
  for (; *word != 0; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
  fputc('\'', out);
}

/* "//user:secret@host" without the secret: histories get around. */
static void print_url(FILE *out, const char *url) {
  const char *slashes = strstr(url, "//"), *at = slashes != NULL ? strchr(slashes, '@') : NULL;
  const char *colon = at != NULL ? memchr(slashes, ':', (size_t)(at - slashes)) : NULL;
  const char *password = strcasestr(url, "pwd=");
  if (password == NULL) password = strcasestr(url, "password=");
  if (colon != NULL) {
    fprintf(out, "'%.*s:***%s'", (int)(colon - url), url, at);
  } else if (password != NULL) {
    const char *value = strchr(password, '=') + 1;
    fprintf(out, "'%.*s***%s'", (int)(value - url), url, value + strcspn(value, ";&"));
  } else {
    print_word(out, url);
  }
}

static void print_option(FILE *out, const option *o, const option_value *value) {
  if (o->type == OPTION_FLAG) {
    fprintf(out, " --%s%s", value->on ? "" : "no-", o->name);
    return;
  }
  fprintf(out, " --%s=", o->name);
  if (o->type != OPTION_LIST) print_word(out, value->text);
  for (size_t i = 0; i < value->item_count; i++) {
    if (i > 0) fputc(',', out);
    print_word(out, value->items[i]);
  }
}

/* What repeats the run: every option given, and the seed. */
static char *command_line(const run_plan *plan, const options *parsed, const char *command) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return NULL;
  fprintf(out, "isoproof %s", command);
  for (size_t i = 0; i < plan->url_count; i++) {
    fputs(i == 0 ? " --db=" : ",", out);
    print_url(out, plan->urls[i]);
  }
  for (size_t i = 0; i < parsed->count; i++)
    if (parsed->values[i].given && i != RUN_WORKLOAD + WORKLOAD_SEED && i != RUN_DB)
      print_option(out, &parsed->table[i], &parsed->values[i]);
  fprintf(out, " --seed=%" PRIu64, plan->workload.seed);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* ---- all ---- */

static bool fill(run_plan *plan, const options *parsed) {
  const option_value *v = parsed->values;
  const option_value *workload[WORKLOAD_OPTIONS];
  for (size_t i = 0; i < WORKLOAD_OPTIONS; i++) workload[i] = &v[RUN_WORKLOAD + i];
  isoproof_run_options *run = &plan->run;
  run->struct_size = sizeof *run;
  plan->workload.struct_size = sizeof plan->workload;
  isoproof_run_defaults(run);
  run->workload = &plan->workload;
  if (!workload_fill(&plan->workload, workload)) return false;
  if (plan->url_count > 0) {
    run->urls = (const char *const *)plan->urls;
    run->url_count = plan->url_count;
  }
  if (v[RUN_ISOLATION].given) run->isolation = v[RUN_ISOLATION].text;
  if (v[RUN_TIME].given)
    run->seconds = v[RUN_TIME].number;
  else if (plan->workload.txns > 0)
    run->seconds = 0;
  if (run->seconds == 0 && plan->workload.txns == 0) {
    message("--time=0 needs a limit of another kind: --transactions");
    return false;
  }
  if (v[RUN_RETRIES].given) run->retries = (uint32_t)v[RUN_RETRIES].integer;
  if (v[RUN_STATEMENT_TIMEOUT].given) run->statement_timeout = v[RUN_STATEMENT_TIMEOUT].number;
  if (v[RUN_LOCK_TIMEOUT].given) run->lock_timeout = v[RUN_LOCK_TIMEOUT].number;
  if (v[RUN_TABLE].given) run->table = v[RUN_TABLE].text;
  if (v[RUN_TABLES].given) run->tables = (uint32_t)v[RUN_TABLES].integer;
  run->keep_tables = v[RUN_KEEP_TABLES].on;
  run->notice = message_notice;
  return true;
}

bool run_plan_fill(run_plan *plan, const options *parsed, const char *command) {
  memset(plan, 0, sizeof *plan);
  if (parsed->values[RUN_DB].given && parsed->values[RUN_CLUSTER + CLUSTER_KIND].given) {
    message("--db and --cluster exclude each other");
    return false;
  }
  if (!collect_urls(plan, &parsed->values[RUN_DB])) {
    message("out of memory");
    return false;
  }
  if (!fill(plan, parsed)) return false;
  plan->command = command_line(plan, parsed, command);
  plan->run.command = plan->command;
  if (plan->command == NULL) message("out of memory");
  return plan->command != NULL;
}

int run_plan_start(run_plan *plan, const options *parsed) {
  return run_cluster_start(&plan->cluster, &parsed->values[RUN_CLUSTER], parsed->common[COMMON_QUIET].on, &plan->run);
}

void run_plan_free(run_plan *plan) {
  run_cluster_stop(&plan->cluster);
  for (size_t i = 0; i < plan->url_count; i++) free(plan->urls[i]);
  free(plan->urls);
  free(plan->command);
}
