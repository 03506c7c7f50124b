/* Which format is it?  Decided from the first bytes, never from the name. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "format/binary.h"
#include "format/cobra.h"
#include "format/format.h"
#include "format/log_directory.h"
#include "format/single_log.h"

typedef struct view {
  const char *cur;
  const char *end;
} view;

static uint64_t left(view v) { return (uint64_t)(v.end - v.cur); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static view skip_blanks(view v) {
  while (v.cur < v.end && is_blank(*v.cur)) v.cur++;
  return v;
}

static bool at(view v, char c) { return v.cur < v.end && *v.cur == c; }

/* ---- binary formats ---- */

static uint64_t little64(const char *bytes) {
  uint64_t number = 0;
  for (int i = 7; i >= 0; i--) number = number << 8 | (unsigned char)bytes[i];
  return number;
}

/* A string of the dbcop header; moves behind it. */
static bool dbcop_string(view *v, uint64_t longest, view *text) {
  if (left(*v) < 8) return false;
  uint64_t length = little64(v->cur);
  v->cur += 8;
  if (length > longest || length > left(*v)) return false;
  *text = (view){v->cur, v->cur + length};
  v->cur += length;
  return true;
}

static bool looks_like_time(view text) {
  if (text.cur == text.end) return true;
  if (left(text) < 10 || text.cur[4] != '-' || text.cur[7] != '-') return false;
  for (const char *p = text.cur; p < text.end; p++) {
    if (!is_digit(*p) && strchr("-+:.TtZz ", *p) == NULL) return false;
    if (*p == '\0') return false;
  }
  return true;
}

static bool is_dbcop(view v) {
  enum { HEADER_FIELDS = 5, INFO_MOST = 32768, TIME_MOST = 64 };
  const uint64_t plausible = UINT64_C(1) << 40;
  if (left(v) < 8 * HEADER_FIELDS) return false;
  for (int i = 1; i < HEADER_FIELDS; i++) {
    if (little64(v.cur + 8 * i) > plausible) return false;
  }
  v.cur += 8 * HEADER_FIELDS;
  view info, start, end;
  if (!dbcop_string(&v, INFO_MOST, &info) || !dbcop_string(&v, TIME_MOST, &start)) return false;
  if (!dbcop_string(&v, TIME_MOST, &end) || !looks_like_time(start) || !looks_like_time(end)) return false;
  if (!iso_utf8_valid(info.cur, left(info))) return false;
  return left(v) >= 8 && little64(v.cur) < plausible;
}

static bool is_cobra_log(view v) {
  /* The first byte of a transaction's number is 0 in every log, and never in a text. */
  if (left(v) < 2 || v.cur[0] != 'S' || v.cur[1] != 0) return false;
  while (v.cur < v.end) {
    size_t record = iso_cobra_record_bytes(*v.cur);
    if (record == 0) return false;
    if (record > left(v)) break;
    v.cur += record;
  }
  return true;
}

/* ---- text formats ---- */

static bool is_plume(view v) {
  if (left(v) < 3 || (v.cur[0] != 'r' && v.cur[0] != 'w') || v.cur[1] != '(') return false;
  return is_digit(v.cur[2]);
}

/* Moves over a number and the blanks behind it, within the line. */
static bool skip_number(view *v) {
  const char *start = v->cur;
  if (at(*v, '-')) v->cur++;
  while (v->cur < v->end && is_digit(*v->cur)) v->cur++;
  if (v->cur == start) return false;
  while (v->cur < v->end && (*v->cur == ' ' || *v->cur == '\t' || *v->cur == '\r')) v->cur++;
  return true;
}

static bool is_veristrong(view v) {
  const char *start = v.cur;
  if (!skip_number(&v)) return false;
  if (skip_blanks(v).cur == v.end) return *start == '0'; /* a history of no lines */
  if (!at(v, '\n')) return false;
  v = skip_blanks(v);
  if (!skip_number(&v) || !skip_number(&v)) return false;
  return at(v, 'R') || at(v, 'A');
}

/* Moves over a JSON string; false when it does not end. */
static bool skip_string(view *v, view *content) {
  if (!at(*v, '"')) return false;
  const char *start = ++v->cur;
  while (v->cur < v->end && *v->cur != '"') v->cur += *v->cur == '\\' && v->cur + 1 < v->end ? 2 : 1;
  if (v->cur == v->end) return false;
  *content = (view){start, v->cur++};
  return true;
}

/* Moves over a JSON value of any depth; false when it does not end. */
static bool skip_value(view *v) {
  uint64_t depth = 0;
  while (v->cur < v->end) {
    char c = *v->cur;
    if (c == '"') {
      view content;
      if (!skip_string(v, &content)) return false;
      continue;
    }
    if (c == '[' || c == '{') depth++;
    if (c == ']' || c == '}') {
      if (depth == 0) return true;
      depth--;
    }
    if (c == ',' && depth == 0) return true;
    v->cur++;
  }
  return false;
}

static bool is_text(view text, const char *word) {
  return left(text) == strlen(word) && memcmp(text.cur, word, left(text)) == 0;
}

/* What the keys of the first object say. */
typedef struct json_keys {
  bool isoproof_first, timekiller, jepsen, etcd, value, complete;
  bool value_has_flags; /* its first operation ends in true or false, as Viper's do */
} json_keys;

static bool has_flags(view v) {
  for (; v.cur < v.end && *v.cur != ']'; v.cur++) {
    if (left(v) >= 4 && memcmp(v.cur, "true", 4) == 0) return true;
    if (left(v) >= 5 && memcmp(v.cur, "false", 5) == 0) return true;
  }
  return false;
}

static json_keys look_at_keys(view v) {
  json_keys seen = {0};
  for (uint64_t number = 0;; number++) {
    v.cur++; /* the brace or the comma */
    v = skip_blanks(v);
    view key;
    if (!skip_string(&v, &key)) {
      seen.complete = at(v, '}');
      return seen;
    }
    if (number == 0) seen.isoproof_first = is_text(key, "isoproof");
    if (is_text(key, "sts") || is_text(key, "tid") || is_text(key, "cts")) seen.timekiller = true;
    if (is_text(key, "ClientId") || is_text(key, "Input")) seen.etcd = true;
    if (is_text(key, "type") || is_text(key, "process") || is_text(key, "f")) seen.jepsen = true;
    v = skip_blanks(v);
    if (!at(v, ':')) return seen;
    v.cur++;
    if (is_text(key, "value")) {
      seen.value = true;
      seen.value_has_flags = has_flags(v);
    }
    if (!skip_value(&v)) return seen;
    if (!at(v, ',')) {
      seen.complete = at(v, '}');
      return seen;
    }
  }
}

static bool detect_json_object(view v, bool in_array, isoproof_format *format) {
  json_keys seen = look_at_keys(v);
  if (seen.isoproof_first && !in_array) {
    *format = ISOPROOF_FORMAT_JSONL;
  } else if (seen.etcd && !in_array) {
    *format = ISOPROOF_FORMAT_ETCD;
  } else if (seen.timekiller) {
    *format = ISOPROOF_FORMAT_TIMEKILLER;
  } else if (seen.value && !seen.jepsen && !in_array && (seen.complete || seen.value_has_flags)) {
    *format = ISOPROOF_FORMAT_VIPER;
  } else if (seen.jepsen || seen.value) {
    *format = ISOPROOF_FORMAT_JSON;
  } else {
    return false;
  }
  return true;
}

/* Blanks of EDN: commas and comments, too. */
static view skip_edn_blanks(view v) {
  while (v.cur < v.end && (is_blank(*v.cur) || *v.cur == ',' || *v.cur == ';')) {
    if (*v.cur == ';') {
      while (v.cur < v.end && *v.cur != '\n') v.cur++;
    } else {
      v.cur++;
    }
  }
  return v;
}

static bool detect_braces(view v, isoproof_format *format) {
  bool comments = at(v, ';');
  v = skip_edn_blanks(v);
  bool in_array = at(v, '[');
  if (in_array) {
    v.cur++;
    v = skip_edn_blanks(v);
    if (at(v, ']')) {
      *format = comments ? ISOPROOF_FORMAT_EDN : ISOPROOF_FORMAT_JSON;
      return true;
    }
  }
  *format = ISOPROOF_FORMAT_EDN;
  if (at(v, '#')) return left(v) < 2 || v.cur[1] == '_' || (v.cur[1] >= 'a' && v.cur[1] <= 'z');
  if (!at(v, '{')) return comments && v.cur == v.end;
  view inner = {v.cur + 1, v.end};
  if (!in_array && iso_single_log_is_porcupine(v.cur, left(v))) *format = ISOPROOF_FORMAT_PORCUPINE;
  if (at(skip_edn_blanks(inner), ':')) return true;
  return at(skip_blanks(inner), '"') && detect_json_object(v, in_array, format);
}

bool iso_detect_bytes(const char *bytes, size_t length, isoproof_format *format) {
  view v = {bytes, bytes + length};
  if (iso_binary_magic(bytes, length)) {
    *format = ISOPROOF_FORMAT_BINARY;
  } else if (is_cobra_log(v)) {
    *format = ISOPROOF_FORMAT_COBRA;
  } else if (is_dbcop(v)) {
    *format = ISOPROOF_FORMAT_DBCOP;
  } else {
    v = skip_blanks(v);
    if (is_plume(v)) {
      *format = ISOPROOF_FORMAT_PLUME;
    } else if (is_veristrong(v)) {
      *format = ISOPROOF_FORMAT_VERISTRONG;
    } else if (iso_single_log_is_jepsen(v.cur, left(v))) {
      *format = ISOPROOF_FORMAT_JEPSEN_LOG;
    } else {
      return v.cur < v.end && strchr("[{#;", *v.cur) != NULL && *v.cur != '\0' && detect_braces(v, format);
    }
  }
  return true;
}

static bool has_operations(const char *path, const char *client) {
  static const char *const endings[] = {"", ".gz", ".zst"};
  for (size_t i = 0; i < 3; i++) {
    char *file;
    if (asprintf(&file, "%s/%s/operations.json%s", path, client, endings[i]) < 0) return false;
    bool there = access(file, R_OK) == 0;
    free(file);
    if (there) return true;
  }
  return false;
}

bool iso_detect_directory(const char *path, isoproof_format *format) {
  DIR *directory = opendir(path);
  if (directory == NULL) return false;
  bool cobra = false, viper = false, etcd = false;
  uint64_t number;
  /* The stream belongs to this call alone. */
  for (const struct dirent *e; (e = readdir(directory)) != NULL;) { // NOLINT(concurrency-mt-unsafe)
    cobra = cobra || iso_log_number(e->d_name, 'T', &number);
    viper = viper || iso_log_number(e->d_name, 'J', &number);
    etcd = etcd || (iso_etcd_is_client(e->d_name) && has_operations(path, e->d_name));
  }
  closedir(directory);
  *format = cobra ? ISOPROOF_FORMAT_COBRA : viper ? ISOPROOF_FORMAT_VIPER : ISOPROOF_FORMAT_ETCD;
  return cobra + viper + etcd == 1;
}
