/* postgres_conninfo.c - from the text of a URL to the parameters of libpq, which reads all of its forms itself. */
#include <stdio.h>
#include <string.h>

#include "database/drivers/postgres.h"
#include "database/redact.h"

/* ---- the text for libpq ---- */

/* Cuts [start, end) out of a text. */
static void cut(char *text, size_t start, size_t end) { memmove(text + start, text + end, strlen(text + end) + 1); }

static char *copy(const char *text, size_t length) {
  char *made = iso_alloc(length + 1, 1);
  if (made == NULL) return NULL;
  memcpy(made, text, length);
  made[length] = 0;
  return made;
}

/* Takes our own option `init` out of the options of a URL; false when memory is out. */
static bool take_init_of_url(char *text, char **init) {
  char *options = strchr(text, '?');
  size_t at = options != NULL ? (size_t)(options - text) + 1 : strlen(text);
  while (text[at] != 0) {
    size_t end = at + strcspn(text + at, "&");
    if (strncmp(text + at, "init=", 5) != 0) {
      at = text[end] != 0 ? end + 1 : end;
      continue;
    }
    free(*init);
    *init = copy(text + at + 5, end - at - 5);
    if (*init == NULL) return false;
    iso_percent_decode(*init);
    /* With the sign behind it, or, at the end, the one before it. */
    if (text[end] != 0)
      cut(text, at, end + 1);
    else
      cut(text, --at, end);
  }
  return true;
}

/* The same of key=value text. */
static bool take_init_of_keys(char *text, char **init) {
  iso_conninfo_item item;
  for (size_t at = 0; iso_conninfo_next(text, &at, &item);) {
    if (item.name_length != 4 || strncmp(text + item.name, "init", 4) != 0) continue;
    free(*init);
    *init = copy(text + item.value, item.end - item.value);
    if (*init == NULL) return false;
    iso_conninfo_unquote(*init);
    cut(text, item.name, item.end);
    at = item.name;
  }
  return true;
}

/* "postgresql:" and the rest of the URL.  libpq ends a password at the first '@'; a person means the last one. */
static char *url_text(const char *rest) {
  size_t length = strlen(rest), authority = 2, used;
  while (authority < length && rest[authority] != '/') authority++;
  const char *last = memrchr(rest, '@', authority);
  char *made = iso_alloc(length * 3 + 16, 1);
  if (made == NULL) return NULL;
  used = (size_t)snprintf(made, 16, "postgresql:");
  for (const char *at = rest; *at != 0; at++) {
    if (*at == '@' && last != NULL && at < last)
      used += (size_t)snprintf(made + used, 4, "%%40");
    else
      made[used++] = *at;
  }
  made[used] = 0;
  return made;
}

/* A name alone is that of a database. */
static char *name_text(const char *name) {
  char *made = iso_alloc(strlen(name) * 2 + 16, 1);
  if (made == NULL) return NULL;
  size_t used = (size_t)snprintf(made, 16, "dbname='");
  for (; *name != 0; name++) {
    if (*name == '\'' || *name == '\\') made[used++] = '\\';
    made[used++] = *name;
  }
  memcpy(made + used, "'", 2);
  return made;
}

/* What libpq is given for the text after "postgres:"; NULL when memory is out. */
static char *client_text(const char *rest, char **init) {
  bool url = strncmp(rest, "//", 2) == 0, name = !url && rest[0] != 0 && strchr(rest, '=') == NULL;
  char *made = url ? url_text(rest) : name ? name_text(rest) : copy(rest, strlen(rest));
  if (made != NULL && (url ? take_init_of_url(made, init) : take_init_of_keys(made, init))) return made;
  free(made);
  return NULL;
}

/* ---- what libpq says of it ---- */

/* The words of libpq, which may quote what they are about, without a newline; *found is freed. */
static void take_words(const iso_pq *pq, char words[ISO_MESSAGE_BYTES], char **found) {
  snprintf(words, ISO_MESSAGE_BYTES, "%s", *found != NULL ? *found : "out of memory");
  size_t length = strlen(words);
  while (length > 0 && (unsigned char)words[length - 1] <= ' ') words[--length] = 0;
  pq->freemem(*found);
  *found = NULL;
}

/* Why libpq does not take a text.  Its words are about the same text with *** for the password, if it does not take
 * that one either; otherwise it is the password that it does not take, and nothing of it is shown. */
static isoproof_status refused(const iso_pq *pq, const iso_url *url, isoproof_error *error) {
  char *found = NULL, *init = NULL, words[ISO_MESSAGE_BYTES];
  char *text = client_text(url->shown + strlen(url->scheme) + 1, &init);
  PQconninfoOption *taken = text != NULL ? pq->conninfoParse(text, &found) : NULL;
  free(text);
  free(init);
  if (taken != NULL) {
    pq->conninfoFree(taken);
    return iso_fail(
        error, ISOPROOF_ERR_USAGE,
        "%s: libpq does not take the password: in a URL, write : / ? # @ and %% as %%3A %%2F %%3F %%23 %%40 "
        "and %%25; in key=value text, put it between '...' with \\' and \\\\ for ' and \\",
        url->shown);
  }
  take_words(pq, words, &found);
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "%s: %s; expected init=STATEMENT and libpq's options: host, port, user, dbname, passfile, service, "
                  "sslmode, sslrootcert, connect_timeout, application_name, options, target_session_attrs, ...",
                  url->shown, words);
}

const char *iso_pg_node_value(const iso_pg_node *node, const char *name) {
  for (const PQconninfoOption *o = node->options; o != NULL && o->keyword != NULL; o++)
    if (strcmp(o->keyword, name) == 0) return o->val != NULL && o->val[0] != 0 ? o->val : NULL;
  return NULL;
}

/* ---- parameters ---- */

void iso_pg_add(iso_pg_parameters *parameters, const char *name, const char *value) {
  if (value == NULL || parameters->count + 1 >= ISO_PG_PARAMETERS) return;
  parameters->names[parameters->count] = name;
  parameters->values[parameters->count++] = value;
  parameters->names[parameters->count] = parameters->values[parameters->count] = NULL;
}

void iso_pg_given(const iso_database *database, const iso_pg_node *node, iso_pg_parameters *parameters) {
  *parameters = (iso_pg_parameters){.count = 0};
  for (const PQconninfoOption *o = node->options; o != NULL && o->keyword != NULL; o++)
    iso_pg_add(parameters, o->keyword, o->val);
  if (iso_pg_node_value(node, "password") == NULL) iso_pg_add(parameters, "password", database->options.password);
}

/* What libpq would take from the environment for an option that the text does not set. */
static const char *environment(const iso_pg_node *node, const char *name) {
  for (const PQconninfoOption *o = node->options; o != NULL && o->keyword != NULL; o++)
    if (strcmp(o->keyword, name) == 0) return o->envvar != NULL ? getenv(o->envvar) : NULL;
  return NULL;
}

/* A service may set anything; what it sets is found out by beginning to connect. */
static isoproof_status look_into_service(const iso_database *database, const iso_url *url, iso_pg_node *node,
                                         char **timeout, char **settings, isoproof_error *error) {
  if (iso_pg_node_value(node, "service") == NULL && environment(node, "service") == NULL) return ISOPROOF_OK;
  const iso_pq *pq = &((const iso_pg_state *)database->state)->pq;
  iso_pg_parameters parameters;
  iso_pg_given(database, node, &parameters);
  PGconn *handle = pq->connectStartParams(parameters.names, parameters.values, 0);
  PQconninfoOption *all = handle != NULL ? pq->conninfo(handle) : NULL;
  isoproof_status status = all != NULL ? ISOPROOF_OK
                                       : iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s", url->shown,
                                                  handle != NULL ? pq->errorMessage(handle) : "out of memory");
  for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
    char **to = strcmp(o->keyword, "connect_timeout") == 0 ? timeout
                : strcmp(o->keyword, "options") == 0       ? settings
                                                           : NULL;
    if (to != NULL && *to == NULL && o->val != NULL && o->val[0] != 0) *to = strdup(o->val);
  }
  pq->conninfoFree(all);
  pq->finish(handle);
  return status;
}

/* What makes the planner take the path, where it can. */
static const char *const access_settings[ISO_ACCESSES] = {
    [ISO_ACCESS_AUTO] = "",
    [ISO_ACCESS_INDEX] = " -c enable_seqscan=off -c enable_bitmapscan=off",
    [ISO_ACCESS_BITMAP] = " -c enable_seqscan=off -c enable_indexscan=off -c enable_indexonlyscan=off",
    [ISO_ACCESS_SEQUENTIAL] = " -c enable_indexscan=off -c enable_indexonlyscan=off -c enable_bitmapscan=off",
};

/* Our limits come first, so that what the user sets wins. */
static isoproof_status add_defaults(const iso_database *database, const iso_url *url, iso_pg_node *node,
                                    isoproof_error *error) {
  const iso_database_options *how = &database->options;
  char *timeout = NULL, *settings = NULL;
  isoproof_status status = look_into_service(database, url, node, &timeout, &settings, error);
  const char *own = iso_pg_node_value(node, "options");
  if (own == NULL) own = settings != NULL ? settings : environment(node, "options");
  bool waits = iso_pg_node_value(node, "connect_timeout") == NULL && timeout == NULL &&
               environment(node, "connect_timeout") == NULL;
  if (waits) snprintf(node->timeout, sizeof node->timeout, "%u", (how->connect_timeout_ms + 999) / 1000);
  const char *path = (unsigned)how->access < ISO_ACCESSES ? access_settings[how->access] : "";
  size_t size = 256 + (own != NULL ? strlen(own) : 0);
  node->settings = iso_alloc(size, 1);
  if (node->settings != NULL)
    snprintf(node->settings, size, "-c statement_timeout=%u -c lock_timeout=%u%s%s%s", how->statement_timeout_ms,
             how->lock_timeout_ms, path, own != NULL ? " " : "", own != NULL ? own : "");
  free(timeout);
  free(settings);
  return node->settings == NULL && status == ISOPROOF_OK ? iso_fail_memory(error) : status;
}

isoproof_status iso_pg_node_read(iso_database *database, size_t number, isoproof_error *error) {
  const iso_url *url = &database->urls[number];
  iso_pg_state *state = database->state;
  const iso_pq *pq = &state->pq;
  iso_pg_node *node = &state->nodes[number];
  char *text = client_text(url->path, &node->init), *words = NULL;
  if (text == NULL) return iso_fail_memory(error);
  node->options = pq->conninfoParse(text, &words);
  explicit_bzero(text, strlen(text));
  free(text);
  pq->freemem(words);
  if (node->options == NULL) return refused(pq, url, error);
  static const char *const open_names[] = {"user", "dbname", "host", "service"};
  for (size_t i = 0; i < sizeof open_names / sizeof *open_names; i++)
    iso_secrets_except(&database->secrets, iso_pg_node_value(node, open_names[i]));
  if (!iso_secrets_add(&database->secrets, getenv("PGPASSWORD"))) return iso_fail_memory(error);
  return add_defaults(database, url, node, error);
}

void iso_pg_node_free(const iso_pq *pq, iso_pg_node *node) {
  for (PQconninfoOption *o = node->options; o != NULL && o->keyword != NULL; o++)
    if (o->val != NULL && iso_redact_is_secret(o->keyword, strlen(o->keyword))) explicit_bzero(o->val, strlen(o->val));
  if (node->options != NULL) pq->conninfoFree(node->options);
  free(node->init);
  free(node->settings);
}
