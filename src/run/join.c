/* join.c - parts of a history, recorded by several clients, written as one with times on one clock. */
#include "run/join.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "format/jsonl.h"
#include "history/notice.h"

enum { PATH_BYTES = 4096 };

typedef struct part {
  char path[PATH_BYTES];
  FILE *file;
  char *line;
  size_t room;
  ssize_t length;
  uint64_t number; /* of the line */
} part;

static isoproof_status unexpected(const part *p, const char *what, isoproof_error *error) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, ((iso_place){.file = p->path, .line = p->number, .offset = -1}),
                     "expected %s, as isoproof-mpi records it", what);
}

/* ---- lines ---- */

static isoproof_status open_part(part *p, const char *folder, const char *name, bool *there, isoproof_error *error) {
  memset(p, 0, sizeof *p);
  if (snprintf(p->path, sizeof p->path, "%s/%s", folder, name) >= (int)sizeof p->path)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "the path of the folder is too long");
  p->file = fopen(p->path, "re");
  *there = p->file != NULL;
  if (p->file == NULL && errno != ENOENT) return iso_fail_errno(error, p->path, "open it");
  return ISOPROOF_OK;
}

static void close_part(part *p) {
  if (p->file != NULL) fclose(p->file);
  free(p->line);
}

/* The next whole line; a last one without an end counts as not written. */
static bool next_line(part *p) {
  p->length = getline(&p->line, &p->room, p->file);
  p->number++;
  return p->length > 0 && p->line[p->length - 1] == '\n';
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }
static bool is_header(const part *p) { return begins(p->line, "{\"" ISO_JSONL_HEADER "\":"); }

/* A fact of a header that is a number, or -1: quotes within texts are escaped, so that no text is taken for one. */
static int64_t number_fact(const part *p, const char *name) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\":\"", name);
  const char *found = strstr(p->line, wanted);
  return found != NULL ? strtoll(found + strlen(wanted), NULL, 10) : -1;
}

/* ---- transactions ---- */

/* A transaction, as far as joining has to know it: the rest of the line stays as it is. */
typedef struct record {
  int64_t session, start, end;
  char status[16];
  const char *node; /* as it is written; NULL none */
  int node_length;
  const char *rest;
} record;

static bool take_number(const char **at, const char *name, int64_t *number) {
  size_t length = strlen(name);
  if (strncmp(*at, name, length) != 0) return false;
  char *end;
  errno = 0;
  *number = strtoll(*at + length, &end, 10);
  if (errno != 0 || end == *at + length) return false;
  *at = end;
  return true;
}

static bool read_record(const char *line, record *r) {
  const char *at = line;
  *r = (record){.end = ISOPROOF_NO_TIME};
  if (!take_number(&at, "{\"session\":", &r->session) || !begins(at, ",\"status\":\"")) return false;
  at += strlen(",\"status\":\"");
  size_t length = strcspn(at, "\"");
  if (length == 0 || length >= sizeof r->status || at[length] != '"') return false;
  memcpy(r->status, at, length);
  at += length + 1;
  if (!take_number(&at, ",\"start\":", &r->start)) return false;
  if (begins(at, ",\"end\":") && !take_number(&at, ",\"end\":", &r->end)) return false;
  if (begins(at, ",\"node\":")) {
    r->node = at + strlen(",\"node\":");
    r->node_length = (int)strspn(r->node, "0123456789");
    at = r->node + r->node_length;
    if (r->node_length == 0) return false;
  }
  r->rest = at;
  return *at == ',';
}

/* ---- times ---- */

/* From the clock of a machine to that of the first: no later than it began, no earlier than it ended. */
static void place(const iso_joined *joined, uint32_t machine, record *r) {
  iso_join_machine *m = &joined->machines[machine];
  int64_t first = joined->machines[0].base;
  if (machine == 0) return;
  if (!iso_clock_is_known(&m->clock)) {
    r->start = joined->begin;
    if (r->end != ISOPROOF_NO_TIME) r->end = joined->end;
    return;
  }
  iso_clock_bound at = iso_clock_at(&m->clock, r->start + m->base);
  if (at.high - at.low > m->uncertainty) m->uncertainty = at.high - at.low;
  r->start = r->start + m->base - at.high - first;
  if (r->end == ISOPROOF_NO_TIME) return;
  at = iso_clock_at(&m->clock, r->end + m->base);
  if (at.high - at.low > m->uncertainty) m->uncertainty = at.high - at.low;
  r->end = r->end + m->base - at.low - first;
}

/* ---- reading what there is ---- */

static isoproof_status read_clocks(const char *folder, iso_joined *joined, isoproof_error *error) {
  part p;
  bool there;
  ISO_TRY(open_part(&p, folder, ISO_JOIN_CLOCKS, &there, error));
  isoproof_status status = ISOPROOF_OK;
  while (there && status == ISOPROOF_OK && next_line(&p)) {
    unsigned number;
    iso_round_trip t;
    int fields = sscanf(p.line,
                        "{\"machine\":%u,\"sent\":%" SCNd64 ",\"received\":%" SCNd64 ",\"answered\":%" SCNd64
                        ",\"returned\":%" SCNd64 "}",
                        &number, &t.sent, &t.received, &t.answered, &t.returned);
    if (fields != 5 || number == 0 || number >= joined->count)
      status = unexpected(&p, "a round trip", error);
    else if (!iso_clock_add(&joined->machines[number].clock, t))
      status = iso_fail_memory(error);
    joined->trips++;
  }
  close_part(&p);
  for (uint32_t i = 1; i < joined->count; i++) iso_clock_settle(&joined->machines[i].clock);
  return status;
}

void iso_join_write_trip(FILE *file, uint32_t client, iso_round_trip t) {
  fprintf(file,
          "{\"machine\":%u,\"sent\":%" PRId64 ",\"received\":%" PRId64 ",\"answered\":%" PRId64 ",\"returned\":%" PRId64
          "}\n",
          client, t.sent, t.received, t.answered, t.returned);
}

/* What a header says of the machine that recorded the part. */
static void take_header(const part *p, iso_join_machine *m) {
  int64_t base = number_fact(p, ISO_JOIN_BASE);
  if (base >= 0) {
    m->base = base;
    m->started = true;
  }
  if (strstr(p->line, "\"" ISO_JSONL_FINISHED "\":\"") == NULL) return;
  m->ended = strstr(p->line, "\"" ISO_JSONL_FINISHED "\":\"" ISO_JSONL_FINISHED_NO "\"") == NULL;
  m->end_said = true;
}

/* A look at a line: where the clock begins, whether there is an end, and between which times everything lies. */
static isoproof_status scan_line(iso_joined *joined, uint32_t number, const part *p, isoproof_error *error) {
  iso_join_machine *m = &joined->machines[number];
  record r;
  if (is_header(p)) {
    take_header(p, m);
    return ISOPROOF_OK;
  }
  if (!begins(p->line, "{\"session\":")) return number > 0 ? unexpected(p, "a transaction", error) : ISOPROOF_OK;
  if (!m->started || !read_record(p->line, &r)) return unexpected(p, "a transaction", error);
  m->txns++;
  if (r.session > joined->last_name) joined->last_name = r.session;
  if (number > 0 && !iso_clock_is_known(&m->clock)) return ISOPROOF_OK;
  place(joined, number, &r);
  if (r.start < joined->begin) joined->begin = r.start;
  if (r.start >= joined->end) joined->end = r.start + 1;
  if (r.end != ISOPROOF_NO_TIME && r.end >= joined->end) joined->end = r.end + 1;
  return ISOPROOF_OK;
}

/* How many clients there were, from the part of the first. */
static isoproof_status count_machines(const char *folder, iso_joined *joined, isoproof_error *error) {
  part p;
  bool there;
  int64_t count = -1;
  char name[64];
  snprintf(name, sizeof name, ISO_JOIN_PART, 0U);
  ISO_TRY(open_part(&p, folder, name, &there, error));
  while (there && count < 0 && next_line(&p) && is_header(&p)) count = number_fact(&p, ISO_JOIN_COUNT);
  close_part(&p);
  if (!there) return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected parts of a run (%s, ...)", folder, name);
  if (count < 1 || count > ISO_JOIN_MOST)
    return iso_fail(error, ISOPROOF_ERR_FORMAT,
                    "%s: expected the number of machines in a header of %s: the run did not begin", folder, name);
  joined->count = (uint32_t)count;
  joined->machines = iso_alloc_zero(joined->count, sizeof *joined->machines);
  return joined->machines != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- writing ---- */

static void write_record(iso_output *out, uint32_t machine, const record *r) {
  iso_out_printf(out, "{\"session\":%" PRId64 ",\"status\":\"%s\",\"start\":%" PRId64, r->session, r->status, r->start);
  if (r->end != ISOPROOF_NO_TIME) iso_out_printf(out, ",\"end\":%" PRId64, r->end);
  if (r->node != NULL)
    iso_out_printf(out, ",\"node\":\"%u/%.*s\"", machine, r->node_length, r->node);
  else
    iso_out_printf(out, ",\"node\":%u", machine);
  iso_out_text(out, r->rest);
}

/* Headers of the first part are those of the whole; of others only what forbids to judge it. */
static void write_header(iso_output *out, uint32_t machine, const part *p) {
  bool keeps = machine == 0 ? number_fact(p, ISO_JOIN_BASE) < 0 : strstr(p->line, "\"interference\":\"") != NULL;
  if (keeps) iso_out_bytes(out, p->line, (size_t)p->length);
}

static isoproof_status copy_line(const iso_joined *joined, uint32_t number, const part *p, iso_output *out,
                                 isoproof_error *error) {
  record r;
  if (is_header(p)) {
    write_header(out, number, p);
  } else if (begins(p->line, "{\"session\":")) {
    if (!read_record(p->line, &r)) return unexpected(p, "a transaction", error);
    place(joined, number, &r);
    write_record(out, number, &r);
  } else {
    iso_out_bytes(out, p->line, (size_t)p->length);
  }
  return ISOPROOF_OK;
}

/* ---- all lines of a part, or some ---- */

static isoproof_status open_machine(part *p, const char *folder, uint32_t number, bool *there, isoproof_error *error) {
  char name[64];
  snprintf(name, sizeof name, ISO_JOIN_PART, number);
  return open_part(p, folder, name, there, error);
}

/* Without an output the lines are looked at only. */
static isoproof_status one_line(iso_joined *joined, uint32_t number, const part *p, iso_output *out,
                                isoproof_error *error) {
  return out == NULL ? scan_line(joined, number, p, error) : copy_line(joined, number, p, out, error);
}

static isoproof_status go_through(const char *folder, uint32_t number, iso_joined *joined, iso_output *out,
                                  isoproof_error *error) {
  part p;
  bool there;
  ISO_TRY(open_machine(&p, folder, number, &there, error));
  isoproof_status status = ISOPROOF_OK;
  while (there && status == ISOPROOF_OK && next_line(&p)) status = one_line(joined, number, &p, out, error);
  close_part(&p);
  return status;
}

isoproof_status iso_join_lines(iso_joined *joined, uint32_t number, const char *lines, size_t bytes, iso_output *out,
                               isoproof_error *error) {
  part p = {.file = NULL};
  isoproof_status status = ISOPROOF_OK;
  snprintf(p.path, sizeof p.path, ISO_JOIN_PART, number);
  for (const char *at = lines, *end = lines + bytes; at < end && status == ISOPROOF_OK; at += p.length) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    p.length = newline != NULL ? newline + 1 - at : end - at;
    p.number++;
    if ((size_t)p.length >= p.room) {
      char *larger = realloc(p.line, 2 * (size_t)p.length + 1);
      if (larger == NULL) status = iso_fail_memory(error);
      if (larger == NULL) break;
      p.line = larger;
      p.room = 2 * (size_t)p.length + 1;
    }
    memcpy(p.line, at, (size_t)p.length);
    p.line[p.length] = '\0';
    status = one_line(joined, number, &p, out, error);
  }
  close_part(&p);
  return status;
}

/* ---- the end ---- */

static void write_notice(iso_output *out, unsigned *number, isoproof_notice_code code, const char *sentence) {
  iso_out_printf(out, ",\"" ISO_NOTICE_FACT "%u\":\"%s 0 %s\"", ++*number, isoproof_notice_code_name(code), sentence);
}

void iso_join_write_facts(iso_joined *joined, iso_output *out) {
  unsigned notices = 0;
  char text[400];
  iso_out_printf(out, "{\"" ISO_JSONL_HEADER "\":%d,\"" ISO_JOIN_COUNT "\":\"%u\"", ISO_JSONL_VERSION, joined->count);
  for (uint32_t i = 1; i < joined->count; i++) {
    const iso_join_machine *m = &joined->machines[i];
    if (m->uncertainty > joined->uncertainty) joined->uncertainty = m->uncertainty;
    iso_out_printf(out, ",\"clock.%u\":\"", i);
    if (iso_clock_is_known(&m->clock))
      iso_out_printf(out, "certain within %.1f us, by %zu round trips\"", (double)m->uncertainty * 1e-3,
                     m->clock.bounds.count);
    else
      iso_out_text(out, m->clock.adrift ? "adrift\"" : "not compared\"");
  }
  iso_out_printf(out, ",\"clock-uncertainty\":\"%.1f us\",\"clock-drift\":\"%d ppm at most\"",
                 (double)joined->uncertainty * 1e-3, ISO_CLOCK_DRIFT_PPM);
  snprintf(text, sizeof text,
           "recorded by %u machines, whose clocks were compared by %" PRIu64
           " round trips: times are widened by what is not certain of them, up to %.1f us",
           joined->count, joined->trips, (double)joined->uncertainty * 1e-3);
  if (joined->count > 1) write_notice(out, &notices, ISOPROOF_NOTICE_CLOCKS, text);
  if (joined->adrift > 0) {
    snprintf(text, sizeof text,
             "machines of whose clocks nothing is certain: %u; real time says nothing about what these did",
             joined->adrift);
    write_notice(out, &notices, ISOPROOF_NOTICE_CLOCKS, text);
  }
  for (uint32_t i = 1; i < joined->count; i++) {
    if (joined->machines[i].ended) continue;
    snprintf(text, sizeof text,
             "machine %u (of %u, numbered from 0) was lost: what it did after the %" PRIu64
             " transactions that it recorded is unknown",
             i, joined->count, joined->machines[i].txns);
    write_notice(out, &notices, ISOPROOF_NOTICE_UNFINISHED, text);
  }
  iso_out_text(out, "}\n");
}

/* The headers at the start of a part, of which the first that becomes one of the whole is kept as its head. */
static isoproof_status look_at_headers(const char *folder, uint32_t number, iso_joined *joined, iso_output *out,
                                       isoproof_error *error) {
  part p;
  bool there;
  ISO_TRY(open_machine(&p, folder, number, &there, error));
  iso_join_machine *m = &joined->machines[number];
  while (there && next_line(&p) && is_header(&p)) {
    int64_t base = number_fact(&p, ISO_JOIN_BASE);
    if (base >= 0) {
      m->base = base;
      m->started = true;
    }
    if (number == 0 && out != NULL) write_header(out, 0, &p);
    if (number == 0 && base < 0) out = NULL;
  }
  close_part(&p);
  return ISOPROOF_OK;
}

isoproof_status iso_join_heads(const char *folder, iso_joined *joined, iso_output *out, isoproof_error *error) {
  for (uint32_t i = 0; i < joined->count; i++) ISO_TRY(look_at_headers(folder, i, joined, out, error));
  return ISOPROOF_OK;
}

isoproof_status iso_join_open(const char *folder, iso_joined *joined, isoproof_error *error) {
  memset(joined, 0, sizeof *joined);
  joined->end = 1;
  ISO_TRY(count_machines(folder, joined, error));
  return read_clocks(folder, joined, error);
}

void iso_join_scanned(iso_joined *joined) {
  for (uint32_t i = 0; i < joined->count; i++) {
    const iso_join_machine *m = &joined->machines[i];
    joined->lost += !m->ended;
    joined->adrift += i > 0 && m->txns > 0 && !iso_clock_is_known(&m->clock);
    joined->txns += m->txns;
  }
}

static isoproof_status write_all(const char *folder, iso_joined *joined, iso_output *out, isoproof_error *error) {
  for (uint32_t i = 0; i < joined->count; i++) ISO_TRY(go_through(folder, i, joined, out, error));
  iso_join_write_facts(joined, out);
  return ISOPROOF_OK;
}

static isoproof_status join(const char *folder, const char *path, iso_joined *joined, isoproof_error *error) {
  ISO_TRY(iso_join_open(folder, joined, error));
  for (uint32_t i = 0; i < joined->count; i++) ISO_TRY(go_through(folder, i, joined, NULL, error));
  iso_join_scanned(joined);
  iso_output *out;
  ISO_TRY(iso_output_open(path, ISOPROOF_COMPRESS_NO, &out, error));
  isoproof_status status = write_all(folder, joined, out, error);
  if (status == ISOPROOF_OK) return iso_output_close(out, error);
  iso_output_abandon(out);
  return status;
}

isoproof_status iso_join(const char *folder, const char *path, isoproof_task *task, iso_joined *joined,
                         isoproof_error *error) {
  ISO_TRY(join(folder, path, joined, error));
  return joined->lost > 0 ? iso_join_lost(path, task, joined, error) : ISOPROOF_OK;
}

void iso_joined_free(iso_joined *joined) {
  for (uint32_t i = 0; joined->machines != NULL && i < joined->count; i++) iso_clock_free(&joined->machines[i].clock);
  free(joined->machines);
  memset(joined, 0, sizeof *joined);
}
