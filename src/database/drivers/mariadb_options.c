/* mariadb_options.c - the options of MariaDB's URLs: TLS, option files, where the database is. */
#include <string.h>
#include <strings.h>

#include "database/drivers/mariadb.h"

/* ---- options that are handed to libmariadb ---- */

typedef enum kind { TEXT, SWITCH } kind;

/* Names as the client programs have them. */
static const struct {
  const char *name;
  enum mysql_option option;
  kind kind;
} tls[] = {
    {"ssl", MYSQL_OPT_SSL_ENFORCE, SWITCH},
    {"ssl-ca", MYSQL_OPT_SSL_CA, TEXT},
    {"ssl-capath", MYSQL_OPT_SSL_CAPATH, TEXT},
    {"ssl-cert", MYSQL_OPT_SSL_CERT, TEXT},
    {"ssl-key", MYSQL_OPT_SSL_KEY, TEXT},
    {"ssl-passphrase", MARIADB_OPT_TLS_PASSPHRASE, TEXT},
    {"ssl-cipher", MYSQL_OPT_SSL_CIPHER, TEXT},
    {"ssl-crl", MYSQL_OPT_SSL_CRL, TEXT},
    {"ssl-crlpath", MYSQL_OPT_SSL_CRLPATH, TEXT},
    {"ssl-fp", MARIADB_OPT_TLS_PEER_FP, TEXT},
    {"ssl-fplist", MARIADB_OPT_TLS_PEER_FP_LIST, TEXT},
    {"ssl-verify-server-cert", MYSQL_OPT_SSL_VERIFY_SERVER_CERT, SWITCH},
    {"tls-version", MARIADB_OPT_TLS_VERSION, TEXT},
};

/* MySQL's ssl-mode: whether there must be TLS, and whether the certificate of the server must be good. */
static const struct {
  const char *name;
  bool off, enforced, verified;
} modes[] = {{"disabled", true, false, false},
             {"preferred", false, false, false},
             {"required", false, true, false},
             {"verify_ca", false, true, true},
             {"verify_identity", false, true, true}};

enum { TLS_OPTIONS = sizeof tls / sizeof *tls, MODES = sizeof modes / sizeof *modes };

static bool switch_of(const char *text, my_bool *on) {
  static const char *const words[][4] = {{"0", "off", "false", "no"}, {"1", "on", "true", "yes"}};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 4; j++)
      if (strcasecmp(text, words[i][j]) == 0) return *on = (my_bool)i, true;
  return false;
}

static isoproof_status wrong(const iso_url *url, const char *name, const char *expected, const char *found,
                             isoproof_error *error) {
  char quoted[256];
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: %s: expected %s, found %s", url->shown, name, expected,
                  iso_quote(found, strlen(found), quoted));
}

static bool has_tls(const iso_url *url) {
  for (size_t i = 0; i < TLS_OPTIONS; i++)
    if (iso_url_option(url, tls[i].name) != NULL) return true;
  return iso_url_option(url, "ssl-mode") != NULL;
}

static const char *mode_of(const iso_url *url, size_t *at) {
  const char *mode = iso_url_option(url, "ssl-mode");
  for (*at = 0; mode != NULL && *at < MODES && strcasecmp(mode, modes[*at].name) != 0;) ++*at;
  return mode;
}

bool iso_maria_wants_tls(const iso_url *url) {
  size_t at;
  my_bool on;
  const char *plain = iso_url_option(url, "ssl");
  if (mode_of(url, &at) != NULL) return at < MODES && modes[at].enforced;
  if (plain != NULL) return switch_of(plain, &on) && on != 0;
  return has_tls(url);
}

/* libmariadb takes `enforce` for a wish: whether it was heard is asked after connecting. */
static void set_mode(const iso_mysql *my, const iso_url *url, MYSQL *handle) {
  size_t at;
  my_bool on = 1;
  bool named = mode_of(url, &at) != NULL && at < MODES;
  if (named ? !modes[at].off : iso_maria_wants_tls(url)) my->mysql_optionsv(handle, MYSQL_OPT_SSL_ENFORCE, &on);
  if (named && modes[at].verified) my->mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
}

bool iso_maria_alone(const iso_url *url) {
  const char *text = iso_url_option(url, "no-defaults");
  my_bool on = 0;
  return text != NULL && switch_of(text, &on) && on != 0;
}

void iso_maria_set_options(const iso_mysql *my, const iso_url *url, MYSQL *handle) {
  const char *file = iso_url_option(url, "defaults-file"), *group = iso_url_option(url, "defaults-group");
  if (file != NULL) my->mysql_optionsv(handle, MYSQL_READ_DEFAULT_FILE, file);
  if (file != NULL || group != NULL || (!has_tls(url) && !iso_maria_alone(url)))
    my->mysql_optionsv(handle, MYSQL_READ_DEFAULT_GROUP, group != NULL ? group : "client");
  for (size_t i = 0; i < TLS_OPTIONS; i++) {
    const char *text = iso_url_option(url, tls[i].name);
    my_bool on = 0;
    if (text == NULL) continue;
    if (tls[i].kind == SWITCH && switch_of(text, &on)) my->mysql_optionsv(handle, tls[i].option, &on);
    if (tls[i].kind == TEXT) my->mysql_optionsv(handle, tls[i].option, text);
  }
  set_mode(my, url, handle);
}

/* ---- what makes no sense, before anything is sent ---- */

static isoproof_status check_names(const iso_url *url, isoproof_error *error) {
  static const char *const others[] = {"socket",         "init",        "password", "defaults-file",
                                       "defaults-group", "no-defaults", "ssl-mode"};
  enum { OTHERS = sizeof others / sizeof *others };
  const char *known[OTHERS + TLS_OPTIONS + 1] = {NULL};
  for (size_t i = 0; i < OTHERS; i++) known[i] = others[i];
  for (size_t i = 0; i < TLS_OPTIONS; i++) known[OTHERS + i] = tls[i].name;
  return iso_url_only(url, known, error);
}

static isoproof_status check_values(const iso_url *url, isoproof_error *error) {
  size_t at;
  my_bool on;
  const char *mode = mode_of(url, &at), *none = iso_url_option(url, "no-defaults");
  if (mode != NULL && at == MODES)
    return wrong(url, "ssl-mode", "disabled, preferred, required, verify_ca or verify_identity", mode, error);
  if (none != NULL && !switch_of(none, &on)) return wrong(url, "no-defaults", "1 or 0", none, error);
  for (size_t i = 0; i < TLS_OPTIONS; i++) {
    const char *text = iso_url_option(url, tls[i].name);
    if (text != NULL && tls[i].kind == SWITCH && !switch_of(text, &on))
      return wrong(url, tls[i].name, "1 or 0", text, error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_maria_no_database(const iso_url *url, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "%s: expected the name of a database, as in mariadb://user@host:port/database, found none: isoproof "
                  "keeps its tables there",
                  url->shown);
}

isoproof_status iso_maria_check_options(const iso_url *url, isoproof_error *error) {
  ISO_TRY(check_names(url, error));
  ISO_TRY(check_values(url, error));
  bool files = iso_url_option(url, "defaults-file") != NULL || iso_url_option(url, "defaults-group") != NULL;
  if (files && has_tls(url))
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "%s: an option file wins over what the URL says of TLS: put the options into one of them",
                    url->shown);
  /* An option file may name the database. */
  if (url->path[0] == 0 && !files) return iso_maria_no_database(url, error);
  return ISOPROOF_OK;
}
