/* etcd_connect.c - connecting to etcd, logging in, and what the server says of itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "database/drivers/etcd.h"

enum { DEFAULT_PORT = 2379, FOREVER_SECONDS = 1 << 30 };

static const char *const options[] = {"cacert", "cert", "key", "tls", "insecure-skip-tls-verify", "socket", NULL};

/* ---- URLs ---- */

static bool is_on(const char *value) { return value != NULL && (strcmp(value, "1") == 0 || strcmp(value, "on") == 0); }

static bool wants_tls(const iso_url *url) {
  return is_on(iso_url_option(url, "tls")) || iso_url_option(url, "cacert") != NULL ||
         iso_url_option(url, "cert") != NULL || is_on(iso_url_option(url, "insecure-skip-tls-verify"));
}

void iso_etcd_base(const iso_url *url, char *text, size_t size) {
  const char *host = url->host != NULL ? url->host : "127.0.0.1";
  bool brackets = strchr(host, ':') != NULL;
  snprintf(text, size, "%s://%s%.300s%s:%u", wants_tls(url) ? "https" : "http", brackets ? "[" : "", host,
           brackets ? "]" : "", (unsigned)(url->port != 0 ? url->port : DEFAULT_PORT));
}

static isoproof_status check_url(const iso_url *url, isoproof_error *error) {
  ISO_TRY(iso_url_only(url, options, error));
  if ((iso_url_option(url, "cert") == NULL) != (iso_url_option(url, "key") == NULL))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected cert and key, found one of them", url->shown);
  if (url->host != NULL && (strpbrk(url->host, "/?#@\\ ") != NULL || strlen(url->host) > 255))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected the name of a host, found something else", url->shown);
  if (strlen(url->path) < ISO_ETCD_PREFIX_BYTES - 2) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected a prefix of at most %d bytes", url->shown,
                  ISO_ETCD_PREFIX_BYTES - 3);
}

/* ---- connecting ---- */

static bool append(void *user, const void *bytes, size_t size) {
  iso_etcd_session *s = user;
  if (!iso_vec_reserve(&s->body, size)) return false;
  memcpy(s->body.items + s->body.count, bytes, size);
  s->body.count += size;
  return true;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
  const iso_etcd_session *s = user;
  (void)purpose;
  if (!s->may_open) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_bytes(char *bytes, size_t one, size_t size, void *user) {
  iso_etcd_session *s = user;
  (void)one; /* always 1 */
  s->too_large = s->answer.count + size > ISO_MOST_REPLY_BYTES;
  if (s->too_large || !iso_vec_reserve(&s->answer, size)) return 0;
  memcpy(s->answer.items + s->answer.count, bytes, size);
  s->answer.count += size;
  return size;
}

static void set_tls(const iso_etcd_session *s, const iso_url *url) {
  const char *authority = iso_url_option(url, "cacert"), *certificate = iso_url_option(url, "cert");
  if (authority != NULL) s->curl->easy_setopt(s->easy, CURLOPT_CAINFO, authority);
  if (certificate != NULL) s->curl->easy_setopt(s->easy, CURLOPT_SSLCERT, certificate);
  if (certificate != NULL) s->curl->easy_setopt(s->easy, CURLOPT_SSLKEY, iso_url_option(url, "key"));
  if (!is_on(iso_url_option(url, "insecure-skip-tls-verify"))) return;
  s->curl->easy_setopt(s->easy, CURLOPT_SSL_VERIFYPEER, 0L);
  s->curl->easy_setopt(s->easy, CURLOPT_SSL_VERIFYHOST, 0L);
}

/* Neither what stands between us and the server nor libcurl may repeat or delay a request. */
static void set_options(iso_etcd_session *s, const iso_url *url, uint32_t connect_ms) {
  const char *path = iso_url_option(url, "socket");
  s->curl->easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L);
  s->curl->easy_setopt(s->easy, CURLOPT_PROXY, "");
  s->curl->easy_setopt(s->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  s->curl->easy_setopt(s->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
  s->curl->easy_setopt(s->easy, CURLOPT_MAXAGE_CONN, (long)FOREVER_SECONDS);
  s->curl->easy_setopt(s->easy, CURLOPT_TCP_KEEPALIVE, 1L);
  s->curl->easy_setopt(s->easy, CURLOPT_ERRORBUFFER, s->words);
  s->curl->easy_setopt(s->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  s->curl->easy_setopt(s->easy, CURLOPT_OPENSOCKETDATA, s);
  s->curl->easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, take_bytes);
  s->curl->easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
  s->curl->easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
  if (path != NULL) s->curl->easy_setopt(s->easy, CURLOPT_UNIX_SOCKET_PATH, path);
  set_tls(s, url);
}

static bool add_header(iso_etcd_session *s, const char *text) {
  struct curl_slist *longer = s->curl->slist_append(s->headers, text);
  if (longer != NULL) s->headers = longer;
  return longer != NULL;
}

static isoproof_status cannot(const iso_url *url, const char *words, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s", url->shown, words);
}

/* One question whose answer has to be fine. */
static isoproof_status ask(const iso_connection *connection, isoproof_json *json, const char *path,
                           iso_etcd_answer *answer, isoproof_error *error) {
  iso_etcd_session *s = connection->state;
  const iso_database *database = connection->database;
  const iso_url *url = &database->urls[connection->node];
  char base[512];
  long status = 0;
  isoproof_json_end(json);
  iso_output_flush(s->output);
  iso_etcd_base(url, base, sizeof base);
  if (!iso_etcd_exchange(s, base, path, database->options.connect_timeout_ms, NULL))
    return cannot(url, s->words, error);
  s->curl->easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
  isoproof_error reason = {.offset = -1};
  if (iso_etcd_read_answer(s->answer.items, s->answer.count, answer, &reason) != ISOPROOF_OK)
    return cannot(url, "what answers is not etcd's JSON gateway of version 3.4 or newer", error);
  return status == 200 ? ISOPROOF_OK : cannot(url, answer->message, error);
}

/* A token is asked for with name and password, and sent with every request from then on. */
static isoproof_status log_in(iso_connection *connection, isoproof_error *error) {
  iso_etcd_session *s = connection->state;
  const iso_database *database = connection->database;
  const iso_url *url = &database->urls[connection->node];
  const char *password = url->password != NULL ? url->password : database->options.password;
  if (url->user == NULL || url->user[0] == 0 || password == NULL) return ISOPROOF_OK;
  isoproof_json json;
  iso_etcd_answer answer = {.revision = 0};
  iso_etcd_begin(s, &json);
  iso_json_field_text(&json, "name", url->user);
  iso_json_field_text(&json, "password", password);
  isoproof_status status = ask(connection, &json, "/v3/auth/authenticate", &answer, error);
  explicit_bzero(s->body.items, s->body.count);
  char header[sizeof answer.token + 32];
  snprintf(header, sizeof header, "Authorization: %s", answer.token);
  if (status == ISOPROOF_OK && !add_header(s, header)) status = iso_fail_memory(error);
  s->curl->easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
  iso_etcd_answer_free(&answer);
  return status;
}

/* Whether the server answers, and to this user. */
static isoproof_status greet(iso_connection *connection, isoproof_error *error) {
  isoproof_json json;
  iso_etcd_answer answer = {.revision = 0};
  char key[ISO_ETCD_KEY_BYTES];
  iso_etcd_begin(connection->state, &json);
  iso_etcd_mark_key(connection->database, "isoproof_", key);
  iso_etcd_write_range(&json, key, NULL);
  iso_json_field_bool(&json, "serializable", true);
  isoproof_status status = ask(connection, &json, "/v3/kv/range", &answer, error);
  iso_etcd_answer_free(&answer);
  return status;
}

isoproof_status iso_etcd_connect(iso_connection *connection, isoproof_error *error) {
  const iso_database *database = connection->database;
  iso_etcd_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->curl = database->state;
  connection->state = s;
  ISO_TRY(iso_output_open_callback(append, s, ISOPROOF_COMPRESS_NO, &s->output, error));
  s->multi = s->curl->multi_init();
  s->easy = s->curl->easy_init();
  bool good = s->multi != NULL && s->easy != NULL && iso_vec_reserve(&s->body, 1) && iso_vec_reserve(&s->answer, 1) &&
              iso_vec_reserve(&s->texts, 1) && add_header(s, "Content-Type: application/json") &&
              add_header(s, "Expect:");
  uint32_t limit = database->options.statement_timeout_ms;
  char header[64];
  snprintf(header, sizeof header, "Grpc-Timeout: %" PRIu32 "m", limit < 99999999 ? limit : 99999999);
  if (good && limit > 0) good = add_header(s, header);
  if (!good) return iso_fail_memory(error);
  set_options(s, &database->urls[connection->node], database->options.connect_timeout_ms);
  s->may_open = true;
  ISO_TRY(log_in(connection, error));
  ISO_TRY(greet(connection, error));
  s->may_open = false;
  return ISOPROOF_OK;
}

void iso_etcd_disconnect(iso_connection *connection) {
  iso_etcd_session *s = connection->state;
  if (s == NULL) return;
  if (s->easy != NULL) s->curl->easy_cleanup(s->easy);
  if (s->multi != NULL) s->curl->multi_cleanup(s->multi);
  s->curl->slist_free_all(s->headers);
  if (s->output != NULL) iso_output_abandon(s->output);
  iso_vec_free(&s->body);
  iso_vec_free(&s->answer);
  iso_vec_free(&s->pending.writes);
  iso_vec_free(&s->seen);
  iso_vec_free(&s->ranges);
  iso_vec_free(&s->texts);
  free(s);
  connection->state = NULL;
}

bool iso_etcd_cancel(iso_connection *connection) {
  const iso_etcd_session *s = connection->state;
  return s != NULL && s->curl->multi_wakeup(s->multi) == CURLM_OK;
}

/* ---- what the server says of itself ---- */

/* Name, cluster; a question that is not answered is left out. */
static isoproof_status learn(iso_database *database, iso_connection *connection, isoproof_error *error) {
  isoproof_json json;
  iso_etcd_answer version = {.revision = 0}, members = {.revision = 0};
  char text[24] = "";
  iso_etcd_begin(connection->state, &json);
  isoproof_status status = ask(connection, &json, "/v3/maintenance/status", &version, error);
  if (status == ISOPROOF_OK) {
    iso_database_add_setting(database, "version", version.version);
    iso_database_add_setting(database, "leader", version.leader == version.member ? "this node" : "another node");
    iso_etcd_begin(connection->state, &json);
    (void)ask(connection, &json, "/v3/cluster/member/list", &members, NULL);
    if (members.members > 0) snprintf(text, sizeof text, "%zu", members.members);
    if (text[0] != 0) iso_database_add_setting(database, "members", text);
    snprintf(database->version, sizeof database->version, "etcd %s%s%s", version.version,
             members.members > 1 ? ", cluster of " : "", members.members > 1 ? text : "");
  }
  iso_etcd_answer_free(&version);
  iso_etcd_answer_free(&members);
  return status;
}

isoproof_status iso_etcd_open(iso_database *database, isoproof_error *error) {
  for (size_t i = 0; i < database->nodes; i++) {
    const iso_url *url = &database->urls[i];
    ISO_TRY(check_url(url, error));
    iso_secrets_except(&database->secrets, url->user);
    iso_secrets_except(&database->secrets, url->host);
    if (strcmp(url->path, database->urls[0].path) != 0)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected the same prefix on all nodes, found another one",
                      url->shown);
  }
  iso_curl *curl = iso_alloc_zero(1, sizeof *curl);
  if (curl == NULL) return iso_fail_memory(error);
  database->state = curl;
  ISO_TRY(iso_curl_load(curl, error));
  database->dialect = ISO_SQL_NONE;
  iso_database_add_claim(database, ISO_CLAIM_ETCD_READ_COMMITTED);
  iso_database_add_claim(database, ISO_CLAIM_ETCD_REPEATABLE_READS);
  iso_database_add_claim(database, ISO_CLAIM_ETCD_SERIALIZABLE);
  iso_database_add_claim(database, ISO_CLAIM_ETCD_SERIALIZABLE_SNAPSHOT);
  database->default_isolation = database->isolation_count - 1;
  iso_connection *connection;
  ISO_TRY(iso_connect(database, 0, &connection, error));
  isoproof_status status = learn(database, connection, error);
  iso_disconnect(connection);
  return status;
}

void iso_etcd_close(iso_database *database) {
  iso_curl *curl = database->state;
  if (curl != NULL) iso_curl_unload(curl);
  free(curl);
}
