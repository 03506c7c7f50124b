/* conformance.c - isoproof_conformance: runs the checks of a client on a table of their own. */
#include "database/conformance.h"

#include <isoproof/database.h>
#include <string.h>

#include "base/abi.h"
#include "base/task.h"
#include "database/driver_table.h"

enum { STATEMENT_MS = 10000, TAG_BITS = 22 };

typedef struct check {
  const char *name, *text;
  iso_conformance_need need;
  bool (*run)(iso_conformance *c);
} check;

static const check checks[] = {
#define ISO_X(name, text, need) {#name, text, ISO_NEED_##need, iso_conformance_##name},
    ISO_CONFORMANCE_LIST(ISO_X)
#undef ISO_X
};

/* Names as people write them. */
static void name_of(const check *one, char name[32]) {
  size_t i = 0;
  for (; i < 31 && one->name[i] != 0; i++) name[i] = (char)(one->name[i] == '_' ? ' ' : one->name[i]);
  name[i] = 0;
}

/* Both sessions without a transaction, whatever the last check left. */
static isoproof_status settle(iso_conformance *c, isoproof_error *error) {
  iso_connection **const both[] = {&c->one, &c->two};
  for (size_t i = 0; i < 2; i++) {
    if (*both[i] != NULL && iso_connected(*both[i])) {
      iso_rollback(*both[i], &c->reply);
      if (iso_connected(*both[i])) continue;
    }
    iso_disconnect(*both[i]);
    *both[i] = NULL;
    ISO_TRY(iso_connect(c->database, 0, both[i], error));
  }
  return ISOPROOF_OK;
}

static isoproof_status run_checks(iso_conformance *c, isoproof_task *task, isoproof_conformance_fn told, void *user,
                                  isoproof_error *error) {
  iso_capabilities can = iso_database_capabilities(c->database);
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    ISO_TRY(iso_task_check(task, error));
    char name[32];
    name_of(&checks[i], name);
    isoproof_conformance_check made = {.struct_size = sizeof made, .name = name, .text = checks[i].text};
    made.skipped =
        (checks[i].need == ISO_NEED_ROWS && !can.predicates) || (checks[i].need == ISO_NEED_LISTS && !can.lists);
    c->found[0] = 0;
    if (!made.skipped) {
      ISO_TRY(settle(c, error));
      made.passed = checks[i].run(c);
    }
    made.found = made.passed || made.skipped ? "" : c->found;
    told(user, &made);
  }
  return ISOPROOF_OK;
}

isoproof_status isoproof_conformance(const char *url, const char *password, isoproof_task *task,
                                     isoproof_conformance_fn told, void *user, isoproof_error *error) {
  iso_conformance c = {.next_key = 1000};
  iso_database_options options = {
      .statement_timeout_ms = STATEMENT_MS, .tag_bits = TAG_BITS, .password = password, .family = "isoproof_doctor"};
  ISO_TRY(iso_database_open(&url, 1, &options, &c.database, error));
  isoproof_status status = iso_database_setup(c.database, error);
  if (status == ISOPROOF_OK) {
    status = run_checks(&c, task, told, user, error);
    iso_disconnect(c.one);
    iso_disconnect(c.two);
    isoproof_status removed = iso_database_teardown(c.database, status == ISOPROOF_OK ? error : NULL);
    if (status == ISOPROOF_OK) status = removed;
  }
  iso_reply_free(&c.reply);
  iso_reply_free(&c.second);
  iso_database_close(c.database);
  return status;
}
