/* schedule_parse.c - schedules from text. */
#include <stdlib.h>
#include <string.h>

#include "coo/schedule.h"

/* What is read next.  `at` points into the caller's text. */
typedef struct reader {
  const char *text, *at;
  isoproof_error *error;
} reader;

/* Enough for any schedule within the limits, however it is spaced and bracketed. */
enum { TEXT_MOST = 1 << 20 };

static iso_place place_of(const reader *r) {
  int64_t offset = r->at - r->text;
  return (iso_place){NULL, 1, (uint64_t)offset + 1, offset};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z'); }

static void skip_space(reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r' || *r->at == ',') r->at++;
}

static void skip_underscore(reader *r) {
  if (*r->at == '_') r->at++;
}

static isoproof_status expected(const reader *r, const char *what) {
  char quoted[256];
  return iso_fail_at(r->error, ISOPROOF_ERR_FORMAT, place_of(r), "expected %s, found %s", what,
                     iso_quote(r->at, strcspn(r->at, " \t\r\n,"), quoted));
}

/* A number up to six digits, which is far above every limit of a schedule. */
static isoproof_status read_number(reader *r, const char *what, uint32_t *number) {
  enum { DIGITS = 6 };
  uint32_t value = 0;
  int digits = 0;
  if (!is_digit(*r->at)) return expected(r, what);
  while (digits <= DIGITS && is_digit(r->at[digits])) {
    value = value * 10 + (uint32_t)(r->at[digits] - '0');
    digits++;
  }
  if (digits > DIGITS) return expected(r, "a number of at most six digits");
  r->at += digits;
  *number = value;
  return ISOPROOF_OK;
}

static isoproof_status read_object(reader *r, char name[ISOPROOF_SCHEDULE_NAME_BYTES], uint32_t *version) {
  bool bracket = *r->at == '[';
  size_t length = 0;
  if (bracket) r->at++;
  while (is_letter(r->at[length])) {
    if (length == ISOPROOF_SCHEDULE_NAME_BYTES - 1) return expected(r, "an object of at most 31 letters");
    name[length] = r->at[length];
    length++;
  }
  if (length == 0) return expected(r, "an object, in small letters");
  name[length] = 0;
  r->at += length;
  skip_underscore(r);
  if (is_digit(*r->at)) ISO_TRY(read_number(r, "a version", version));
  if (!bracket) return ISOPROOF_OK;
  if (*r->at != ']') return expected(r, "']'");
  r->at++;
  return ISOPROOF_OK;
}

static isoproof_status read_kind(reader *r, isoproof_schedule_step_kind *kind) {
  switch (*r->at) {
  case 'R':
  case 'r':
    *kind = ISOPROOF_STEP_READ;
    break;
  case 'W':
  case 'w':
    *kind = ISOPROOF_STEP_WRITE;
    break;
  case 'C':
  case 'c':
    *kind = ISOPROOF_STEP_COMMIT;
    break;
  case 'A':
  case 'a':
    *kind = ISOPROOF_STEP_ABORT;
    break;
  default:
    return expected(r, "a step: R, W, C or A");
  }
  r->at++;
  return ISOPROOF_OK;
}

static isoproof_status read_step(reader *r, isoproof_schedule *schedule) {
  isoproof_schedule_step_kind kind = ISOPROOF_STEP_READ;
  uint32_t label = 0, version = ISO_VERSION_LATEST;
  char name[ISOPROOF_SCHEDULE_NAME_BYTES] = "";
  iso_place start = place_of(r);
  ISO_TRY(read_kind(r, &kind));
  skip_underscore(r);
  ISO_TRY(read_number(r, "the number of a transaction", &label));
  if (kind == ISOPROOF_STEP_READ || kind == ISOPROOF_STEP_WRITE) ISO_TRY(read_object(r, name, &version));
  return iso_schedule_add(schedule, kind, label, name, version, start, r->error);
}

static isoproof_status read_steps(reader *r, isoproof_schedule *schedule) {
  skip_space(r);
  if (*r->at == 0) return expected(r, "a step: R, W, C or A");
  for (; *r->at != 0; skip_space(r)) ISO_TRY(read_step(r, schedule));
  return iso_schedule_seal(schedule, r->error);
}

isoproof_status isoproof_schedule_parse(const char *text, isoproof_schedule **schedule, isoproof_error *error) {
  reader r = {text, text, error};
  *schedule = NULL;
  if (strnlen(text, TEXT_MOST + 1) > TEXT_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected a schedule of at most %d bytes", TEXT_MOST);
  }
  isoproof_schedule *made = NULL;
  ISO_TRY(iso_schedule_new(&made, error));
  isoproof_status status = read_steps(&r, made);
  if (status != ISOPROOF_OK) {
    isoproof_schedule_free(made);
    return status;
  }
  *schedule = made;
  return ISOPROOF_OK;
}
