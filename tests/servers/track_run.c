/* Random SQL transactions on a database, sent through the tracker: what was sent, what came back to the user, and what
 * the tracker recorded, as JSON lines; tests/servers/tracking compares that with what the server itself says.
 *
 *   track_run URL TRANSACTIONS SEED [SESSIONS]
 *
 * Reads a list of statements from its standard input (see `read_script`) and writes to standard output:
 *   {"txn":"S.T","isolation":..,"outcome":..,"statements":[{"n":..,"values":[..],"ok":..,"rows":[[..]]}],"ops":[..]}
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "track/track.h"
#include "workload/random.h"

enum { MOST_STATEMENTS = 64, MOST_SESSIONS = 16, MOST_VALUES = 16, VALUE_BYTES = 64, KEYS = 12 };

typedef struct {
  uint32_t number; /* of the tracker */
  char kind;       /* R read, W write, S savepoint, B back to it */
} statement;

static iso_tracker *tracker;
static iso_database *database;
static iso_track_dialect dialect;
static statement statements[MOST_STATEMENTS];
static uint32_t statement_count;
static uint32_t sessions = 4;
static uint64_t first_txn, last_txn; /* of the round, per session */
static char mark_sql[256];           /* %s: who writes from now on */
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void die(const char *what, const char *why) {
  fprintf(stderr, "track_run: %s: %s\n", what, why);
  exit(1);
}

static bool ask(iso_connection *c, const char *sql, iso_reply *reply) {
  return iso_do(c, &(iso_driver_request){.kind = ISO_EXECUTE, .sql = sql}, reply) == ISO_OUTCOME_OK;
}

static void must(iso_connection *c, const char *sql, iso_reply *reply) {
  if (!ask(c, sql, reply)) {
    fprintf(stderr, "%s\n", sql);
    die("a statement failed", reply->message);
  }
}

/* ---- random values ---- */

/* By the first letter of the name of a variable: k and l keys, v and w numbers, t a kind, d a difference, s a stamp. */
static void choose(iso_random *random, const char *name, const char *stamp, char out[VALUE_BYTES]) {
  static const char *const kinds[] = {"red", "green", "it's", ""};
  switch (name[0]) {
  case 'k':
  case 'l':
    snprintf(out, VALUE_BYTES, "%" PRIu32, iso_random_below(random, KEYS));
    return;
  case 't':
    snprintf(out, VALUE_BYTES, "%s", kinds[iso_random_below(random, 4)]);
    return;
  case 'd':
    snprintf(out, VALUE_BYTES, "%d", (int)iso_random_below(random, 21) - 10);
    return;
  case 's':
    snprintf(out, VALUE_BYTES, "%s", stamp);
    return;
  case 'n': /* a number, or nothing */
    if (iso_random_below(random, 5) == 0) {
      snprintf(out, VALUE_BYTES, "NULL");
      return;
    }
    /* falls through */
  default:
    snprintf(out, VALUE_BYTES, "%d", (int)iso_random_below(random, 120) - 10);
  }
}

/* ---- one transaction ---- */

typedef struct {
  iso_connection *connection;
  iso_track_session *track;
  iso_random random;
  iso_reply reply, after, other;
  uint32_t number;
  FILE *out;
  char *text;
  size_t length;
} session;

static void print_cell(FILE *out, const char *cell) {
  if (cell == NULL) {
    fputs("null", out);
    return;
  }
  fputc('"', out);
  for (; *cell != '\0'; cell++) {
    if (*cell == '"' || *cell == '\\') fputc('\\', out);
    fputc(*cell, out);
  }
  fputc('"', out);
}

static void print_rows(session *s, uint32_t added) {
  const iso_reply *r = &s->reply;
  uint32_t shown = r->columns > added ? r->columns - added : 0;
  fprintf(s->out, ",\"rows\":[");
  for (size_t i = 0; shown > 0 && i < r->cells.count / r->columns; i++) {
    fputs(i > 0 ? ",[" : "[", s->out);
    for (uint32_t c = 0; c < shown; c++) {
      if (c > 0) fputc(',', s->out);
      print_cell(s->out, iso_reply_cell(r, i, c));
    }
    fputc(']', s->out);
  }
  fputc(']', s->out);
}

/* Sends one; false: the transaction is over. */
static bool execute(session *s, size_t number, const char *stamp, bool first) {
  isoproof_error error;
  const statement *what = &statements[number];
  char values[MOST_VALUES][VALUE_BYTES];
  const char *pointers[MOST_VALUES];
  size_t count = iso_tracker_variables(tracker, what->number);
  fprintf(s->out, "%s{\"n\":%zu,\"stamp\":\"%s\",\"values\":{", first ? "" : ",", number, stamp);
  for (size_t i = 0; i < count; i++) {
    const char *name = iso_tracker_variable(tracker, what->number, i);
    choose(&s->random, name, stamp, values[i]);
    pointers[i] = values[i];
    fprintf(s->out, "%s\"%s\":\"%s\"", i > 0 ? "," : "", name, values[i]);
  }
  fputs("}", s->out);
  iso_track_request request;
  if (iso_track_prepare(s->track, what->number, pointers, &request, &error) != ISOPROOF_OK)
    die("prepare", error.message);
  bool ok = true;
  if (what->kind == 'W' && mark_sql[0] != '\0') {
    char sql[512];
    snprintf(sql, sizeof sql, mark_sql, stamp); /* NOLINT: the format is the test's own */
    ok = ask(s->connection, sql, &s->reply);
  }
  ok = ok && (request.before == NULL || ask(s->connection, request.before, &s->other));
  ok = ok && ask(s->connection, request.sql, &s->reply);
  if (!ok && s->reply.error_class == ISO_CLASS_STATEMENT) {
    fprintf(stderr, "%s\n", request.sql);
    die("a statement was refused", s->reply.message);
  }
  bool told = ok && (request.after == NULL || ask(s->connection, request.after, &s->after));
  fprintf(s->out, ",\"ok\":%s", ok && told ? "true" : "false");
  if (ok && told) {
    print_rows(s, request.added);
    isoproof_status status = iso_track_answer(s->track, &s->reply, request.after != NULL ? &s->after : NULL, &error);
    if (status != ISOPROOF_OK) die("answer", error.message);
  } else {
    fprintf(s->out, ",\"error\":");
    print_cell(s->out, s->reply.code);
    iso_track_failed(s->track);
  }
  fputs("}", s->out);
  return ok && told ? true : s->reply.txn == ISO_TXN_ACTIVE;
}

/* A line, without its end. */
static bool to_file(void *user, const void *bytes, size_t size) {
  size_t shown = size > 0 && ((const char *)bytes)[size - 1] == '\n' ? size - 1 : size;
  return fwrite(bytes, 1, shown, user) == shown;
}

static void print_ops(session *s) {
  isoproof_error error;
  iso_output *output;
  size_t count;
  iso_jsonl_txn txn = {.session = isoproof_integer(s->number),
                       .start = ISOPROOF_NO_TIME,
                       .end = ISOPROOF_NO_TIME,
                       .start_index = -1,
                       .end_index = -1};
  txn.ops = iso_track_end(s->track, &count);
  txn.count = count;
  fflush(s->out);
  if (iso_output_open_callback(to_file, s->out, ISOPROOF_COMPRESS_NO, &output, &error) != ISOPROOF_OK)
    die("output", error.message);
  iso_jsonl_write_txn(output, &txn);
  if (iso_output_close(output, &error) != ISOPROOF_OK) die("output", error.message);
}

static const iso_isolation *any_isolation(session *s) {
  uint32_t count = 0;
  while (iso_database_isolation(database, count) != NULL) count++;
  return iso_database_isolation(database, iso_random_below(&s->random, count));
}

/* At most one savepoint at a time; whether something is written is drawn first, since a transaction of SQLite that
 * reads first may not write any more. */
static void one_transaction(session *s, uint64_t number) {
  const iso_isolation *isolation = any_isolation(s);
  char stamp[48];
  size_t length = 1 + iso_random_below(&s->random, 5);
  bool writes = iso_random_below(&s->random, 4) != 0, open = false, alive;
  fprintf(s->out, "{\"txn\":\"%u.%" PRIu64 "\",\"isolation\":\"%s\",\"statements\":[", s->number, number,
          isolation->name);
  iso_track_begin(s->track);
  alive = iso_do(s->connection, &(iso_driver_request){.kind = ISO_BEGIN, .isolation = isolation}, &s->reply) ==
          ISO_OUTCOME_OK;
  for (size_t i = 0; alive && i < length; i++) {
    uint32_t pick;
    do {
      pick = iso_random_below(&s->random, statement_count);
    } while ((statements[pick].kind == 'W' && !writes) || (statements[pick].kind == 'S' && open) ||
             (statements[pick].kind == 'B' && !open));
    bool back = open && iso_random_below(&s->random, 4) == 0;
    for (uint32_t b = 0; back && b < statement_count; b++) pick = statements[b].kind == 'B' ? b : pick;
    if (statements[pick].kind == 'S') open = true;
    snprintf(stamp, sizeof stamp, "%u.%" PRIu64 ".%zu", s->number, number, i);
    alive = execute(s, pick, stamp, i == 0);
  }
  fprintf(s->out, "],\"outcome\":");
  bool commits = alive && iso_random_below(&s->random, 10) != 0;
  iso_outcome outcome =
      iso_do(s->connection, &(iso_driver_request){.kind = commits ? ISO_COMMIT : ISO_ROLLBACK}, &s->reply);
  bool committed = commits && outcome == ISO_OUTCOME_OK && s->reply.txn == ISO_TXN_COMMITTED;
  if (!committed && commits) iso_do(s->connection, &(iso_driver_request){.kind = ISO_ROLLBACK}, &s->reply);
  fprintf(s->out, "\"%s\",\"recorded\":", committed ? "committed" : "aborted");
  print_ops(s);
  fputs("}\n", s->out);
}

/* ---- rounds ---- */

static session all[MOST_SESSIONS];

static void *run_session(void *user) {
  session *s = user;
  for (uint64_t i = first_txn; i < last_txn; i++) {
    rewind(s->out);
    one_transaction(s, i);
    fflush(s->out);
    size_t length = (size_t)ftell(s->out);
    pthread_mutex_lock(&printing);
    fwrite(s->text, 1, length, stdout);
    pthread_mutex_unlock(&printing);
  }
  return NULL;
}

static void open_session(uint32_t number, uint64_t seed) {
  isoproof_error error;
  session *s = &all[number];
  s->number = number;
  iso_random_seed(&s->random, seed, number);
  s->out = open_memstream(&s->text, &s->length);
  if (iso_connect(database, 0, &s->connection, &error) != ISOPROOF_OK) die("connect", error.message);
  if (iso_track_session_make(tracker, number, &s->track, &error) != ISOPROOF_OK) die("session", error.message);
  const char *sql = iso_track_session_sql(tracker);
  if (sql != NULL) must(s->connection, sql, &s->reply);
  if (dialect == ISO_TRACK_POSTGRES) must(s->connection, "SET deadlock_timeout = '20ms'", &s->reply);
}

/* Rows that were met since the last time. */
static void print_names(void) {
  static size_t printed;
  size_t count;
  iso_jsonl_row_name *names = iso_tracker_names(tracker, printed, &count);
  for (size_t i = 0; names != NULL && i < count; i++)
    printf("{\"key\":%" PRId64 ",\"name\":\"%s\"}\n", names[i].key, names[i].name);
  printed += count;
  free(names);
}

/* What the server noted, page by page, and gone afterwards. */
static void print_audit(session *s) {
  for (bool more = true; more;) {
    must(s->connection,
         "SELECT seq, who, tab, op, k, old_stamp, new_stamp, new_version, bal, kind, place FROM audit ORDER BY seq "
         "LIMIT 2000",
         &s->other);
    size_t rows = s->other.cells.count / s->other.columns;
    more = rows == 2000;
    for (size_t i = 0; i < rows; i++) {
      printf("{\"audit\":[");
      for (uint32_t c = 0; c < s->other.columns; c++) {
        if (c > 0) putchar(',');
        print_cell(stdout, iso_reply_cell(&s->other, i, c));
      }
      printf("]}\n");
    }
    char sql[128];
    snprintf(sql, sizeof sql, "DELETE FROM audit WHERE seq <= %s",
             rows > 0 ? iso_reply_cell(&s->other, rows - 1, 0) : "0");
    must(s->connection, sql, &s->reply);
  }
}

/* ---- the script ---- */

/* Lines of a letter and a text: T a statement of the setup that the tracker sees, X one that only the server sees,
 * before the columns are added, A the same after that; M how to say who writes; R, W, S, B statements of transactions.
 */
static void read_script(session *s, bool after) {
  static char *lines[256];
  static size_t count;
  isoproof_error error;
  char *line = NULL;
  size_t capacity = 0;
  while (!after && count < 256 && getline(&line, &capacity, stdin) > 0) {
    line[strcspn(line, "\n")] = '\0';
    lines[count++] = strdup(line);
  }
  free(line);
  for (size_t i = 0; i < count; i++) {
    char kind = lines[i][0];
    const char *text = lines[i] + 2;
    if (after != (kind == 'A')) continue;
    if (kind == 'T' && iso_tracker_setup(tracker, text, &error) != ISOPROOF_OK) die("setup", error.message);
    if (kind == 'T' || kind == 'X' || kind == 'A') must(s->connection, text, &s->reply);
    if (kind == 'M') snprintf(mark_sql, sizeof mark_sql, "%s", text);
    if (strchr("RWSB", kind) == NULL) continue;
    statement *made = &statements[statement_count++];
    made->kind = kind;
    if (iso_tracker_add(tracker, text, &made->number, &error) != ISOPROOF_OK) die("statement", error.message);
  }
}

static void print_plans(void) {
  for (size_t i = 0; i < statement_count; i++) {
    printf("{\"plan\":%zu,\"extent\":\"%s\"}\n", i,
           iso_track_extent_name(iso_tracker_extent(tracker, statements[i].number)));
    fprintf(stderr, "%s\n  %s: %s\n", iso_tracker_sent(tracker, statements[i].number),
            iso_track_extent_name(iso_tracker_extent(tracker, statements[i].number)),
            iso_tracker_explain(tracker, statements[i].number));
  }
}

static void instrument(session *s) {
  isoproof_error error;
  const char *sql;
  for (size_t i = 0; (sql = iso_tracker_instrument(tracker, i)) != NULL; i++) must(s->connection, sql, &s->reply);
  for (size_t i = 0; (sql = iso_tracker_initial_sql(tracker, i)) != NULL; i++) {
    must(s->connection, sql, &s->reply);
    if (iso_tracker_initial(tracker, i, &s->reply, &error) != ISOPROOF_OK) die("initial rows", error.message);
  }
}

int main(int argc, char **argv) {
  enum { ROUND = 500 };
  isoproof_error error;
  session setup;
  memset(&setup, 0, sizeof setup);
  if (argc < 4) die("usage", "track_run URL TRANSACTIONS SEED [SESSIONS] <SCRIPT");
  uint64_t txns = strtoull(argv[2], NULL, 10), seed = strtoull(argv[3], NULL, 10);
  if (argc > 4) sessions = (uint32_t)strtoul(argv[4], NULL, 10);
  dialect = strncmp(argv[1], "sqlite", 6) == 0     ? ISO_TRACK_SQLITE
            : strncmp(argv[1], "postgres", 8) == 0 ? ISO_TRACK_POSTGRES
                                                   : ISO_TRACK_MARIADB;
  iso_value_tag tag = iso_value_tag_of(seed + 7, 20);
  if (iso_database_open((const char *const[]){argv[1]}, 1,
                        &(iso_database_options){.lock_timeout_ms = 1000, .connect_timeout_ms = 20000}, &database,
                        &error) != ISOPROOF_OK)
    die("open", error.message);
  if (iso_tracker_make(dialect, &tag, sessions, &tracker, &error) != ISOPROOF_OK) die("tracker", error.message);
  if (iso_connect(database, 0, &setup.connection, &error) != ISOPROOF_OK) die("connect", error.message);
  read_script(&setup, false);
  if (iso_tracker_decide(tracker, &error) != ISOPROOF_OK) die("decide", error.message);
  print_plans();
  instrument(&setup);
  read_script(&setup, true);
  printf("{\"tag\":[%" PRIu32 ",%" PRId64 "]}\n", tag.bits, tag.tag);
  for (uint32_t i = 0; i < sessions; i++) open_session(i, seed);
  uint64_t per_session = (txns + sessions - 1) / sessions;
  for (; first_txn < per_session; first_txn = last_txn) {
    pthread_t threads[MOST_SESSIONS];
    last_txn = first_txn + ROUND < per_session ? first_txn + ROUND : per_session;
    for (uint32_t i = 0; i < sessions; i++) pthread_create(&threads[i], NULL, run_session, &all[i]);
    for (uint32_t i = 0; i < sessions; i++) pthread_join(threads[i], NULL);
    print_names();
    print_audit(&setup);
    printf("{\"round\":%" PRIu64 "}\n", last_txn);
  }
  for (uint32_t i = 0; i < sessions; i++) {
    fclose(all[i].out);
    free(all[i].text);
    iso_track_session_free(all[i].track);
    iso_disconnect(all[i].connection);
    iso_reply_free(&all[i].reply);
    iso_reply_free(&all[i].after);
    iso_reply_free(&all[i].other);
  }
  iso_disconnect(setup.connection);
  iso_reply_free(&setup.reply);
  iso_reply_free(&setup.other);
  iso_tracker_free(tracker);
  iso_database_close(database);
  return 0;
}
