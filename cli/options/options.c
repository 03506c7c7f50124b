/* options.c - parsing a command line by its table. */
#include "cli/options/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/suggest.h"
#include "cli/terminal/message.h"

static const char *color_choice(size_t number) {
  static const char *const names[] = {"auto", "always", "never"};
  return number < 3 ? names[number] : NULL;
}

const option common_options[COMMON_OPTIONS] = {
    [COMMON_HELP] = {.name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "Show this page.", .group = "Common"},
    [COMMON_QUIET] = {.name = "quiet",
                      .letter = 'q',
                      .type = OPTION_FLAG,
                      .help = "Say nothing on standard error but errors: no progress, no notes.",
                      .group = "Common"},
    [COMMON_VERBOSE] = {.name = "verbose",
                        .letter = 'v',
                        .type = OPTION_FLAG,
                        .help = "Say more on standard error.",
                        .group = "Common"},
    [COMMON_COLOR] = {.name = "color",
                      .argument = "WHEN",
                      .type = OPTION_CHOICE,
                      .choices = color_choice,
                      .help = "Colour the output: auto, always or never; auto also obeys NO_COLOR.",
                      .initial = "auto",
                      .group = "Common"},
};

const char *option_argument(const option *o) {
  static const char *const defaults[] = {
#define OPTION_X(name, argument) argument,
      OPTION_TYPE_LIST(OPTION_X)
#undef OPTION_X
  };
  return o->argument != NULL ? o->argument : defaults[o->type];
}

/* ---- values ---- */

/* Digits only, so that "-1", "+1" and " 1" are refused. */
static bool parse_u64(const char *text, size_t length, uint64_t *number) {
  uint64_t n = 0;
  if (length == 0) return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    if (__builtin_mul_overflow(n, 10U, &n) || __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n)) return false;
  }
  *number = n;
  return true;
}

static bool parse_size(const char *text, uint64_t *size) {
  size_t digits = strspn(text, "0123456789");
  const char *suffix = text + digits;
  static const char *const units = "KMGT";
  unsigned shift = 0;
  if (!parse_u64(text, digits, size)) return false;
  const char *unit = *suffix != 0 ? strchr(units, *suffix >= 'a' ? *suffix - 'a' + 'A' : *suffix) : NULL;
  if (unit != NULL) {
    shift = 10U * (unsigned)(unit - units + 1);
    suffix++;
  }
  if (strcmp(suffix, "") != 0 && strcmp(suffix, "B") != 0 && (unit == NULL || strcmp(suffix, "iB") != 0)) return false;
  return !__builtin_mul_overflow(*size, UINT64_C(1) << shift, size);
}

static bool parse_number(const char *text, double *number) {
  /* strtod accepts hexadecimal, "inf" and leading space; a person who means a fraction types none of them. */
  if (text[0] == 0 || text[strspn(text, "0123456789.eE+-")] != 0) return false;
  char *end;
  errno = 0;
  *number = strtod(text, &end);
  return *end == 0 && errno == 0 && isfinite(*number);
}

bool option_seconds(const char *text, size_t length, double *seconds) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"", 1}};
  char number[64];
  size_t digits = strspn(text, "0123456789.eE+-");
  if (digits > length) digits = length;
  if (digits >= sizeof number) return false;
  memcpy(number, text, digits);
  number[digits] = 0;
  if (!parse_number(number, seconds)) return false;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strlen(units[i].name) != length - digits || strncmp(units[i].name, text + digits, length - digits) != 0)
      continue;
    *seconds *= units[i].seconds;
    return true;
  }
  return false;
}

bool option_phase(const char *text, uint64_t *number, double *seconds) {
  size_t length = strcspn(text, ","), digits = strspn(text, "0123456789");
  if (!parse_u64(text, digits, number) || text[digits] != ':') return false;
  return option_seconds(text + digits + 1, length - digits - 1, seconds) && *seconds > 0;
}

static bool parse_range(const char *text, uint64_t *low, uint64_t *high) {
  const char *dash = strchr(text, '-');
  size_t length = dash != NULL ? (size_t)(dash - text) : strlen(text);
  if (!parse_u64(text, length, low)) return false;
  *high = *low;
  return dash == NULL || (parse_u64(dash + 1, strlen(dash + 1), high) && *low <= *high);
}

static bool wrong(const option *o, const char *text, const char *expected) {
  message("--%s: expected %s, found '%s'", o->name, expected, text);
  return false;
}

static bool within(const option *o, const char *text, double number) {
  if (number >= o->min && (o->max == 0 || number <= o->max)) return true;
  if (o->max == 0)
    message("--%s: expected at least %.15g, found '%s'", o->name, o->min, text);
  else
    message("--%s: expected %.15g to %.15g, found '%s'", o->name, o->min, o->max, text);
  return false;
}

static bool parse_phases(const option *o, option_value *value, const char *text) {
  if (strchr(text, ':') == NULL) {
    if (!parse_u64(text, strlen(text), &value->integer))
      return wrong(o, text, "a whole number, or phases as 10:30s,100:60s");
    return within(o, text, (double)value->integer);
  }
  value->integer = 0;
  for (const char *at = text; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
    uint64_t number;
    double seconds;
    if (!option_phase(at, &number, &seconds)) return wrong(o, text, "a whole number, or phases as 10:30s,100:60s");
    if (!within(o, text, (double)number)) return false;
    if (number > value->integer) value->integer = number;
  }
  return true;
}

static bool known_choice(const option *o, const char *name, size_t *number) {
  for (size_t i = 0; o->choices(i) != NULL; i++) {
    if (strcmp(o->choices(i), name) == 0) return *number = i, true;
  }
  *number = SIZE_MAX;
  if (o->accepts != NULL && o->accepts(name)) return true;
  suggestion s = suggest_begin(name);
  suggest_offer_all(&s, o->choices);
  if (suggest_best(&s) != NULL) {
    message("--%s: unknown name '%s'; did you mean '%s'?", o->name, name, suggest_best(&s));
    return false;
  }
  char names[400] = "";
  size_t used = 0;
  for (size_t i = 0; o->choices(i) != NULL && used < sizeof names; i++) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", o->choices(i));
  }
  if (used < sizeof names)
    message("--%s: unknown name '%s'; expected one of %s", o->name, name, names);
  else
    message("--%s: unknown name '%s'", o->name, name);
  return false;
}

/* Splits at commas into the storage and adds the pieces. */
static bool add_items(options *parsed, const option *o, option_value *value, const char *text) {
  char *piece = parsed->storage + parsed->storage_used;
  size_t length = strlen(text);
  memcpy(piece, text, length + 1);
  parsed->storage_used += length + 1;
  for (char *next = piece; next != NULL; piece = next) {
    size_t number;
    next = strchr(piece, ',');
    while (o->begins != NULL && next != NULL && !o->begins(next + 1)) next = strchr(next + 1, ',');
    if (next != NULL) *next++ = 0;
    if (*piece == 0) return wrong(o, text, "names separated by commas");
    if (o->choices != NULL && !known_choice(o, piece, &number)) return false;
    const char **items = realloc(value->items, (value->item_count + 1) * sizeof *items);
    if (items == NULL) {
      message("out of memory");
      return false;
    }
    value->items = items;
    value->items[value->item_count++] = piece;
  }
  return true;
}

static bool set_value(options *parsed, const option *o, option_value *value, const char *text) {
  value->given = true;
  value->text = text;
  switch (o->type) {
  case OPTION_FLAG:
    break;
  case OPTION_TEXT:
  case OPTION_FILE:
    if (*text == 0) return wrong(o, text, o->type == OPTION_FILE ? "a file name" : "a text");
    break;
  case OPTION_INTEGER:
    if (!parse_u64(text, strlen(text), &value->integer)) return wrong(o, text, "a whole number");
    return within(o, text, (double)value->integer);
  case OPTION_NUMBER:
    if (!parse_number(text, &value->number)) return wrong(o, text, "a number");
    return within(o, text, value->number);
  case OPTION_SECONDS:
    if (!option_seconds(text, strlen(text), &value->number))
      return wrong(o, text, "seconds, or a time as 500ms, 10s, 2m or 1h");
    return within(o, text, value->number);
  case OPTION_PHASES:
    return parse_phases(o, value, text);
  case OPTION_SIZE:
    if (!parse_size(text, &value->integer)) return wrong(o, text, "a size like 500000000, 512M or 2G");
    return within(o, text, (double)value->integer);
  case OPTION_RANGE:
    if (!parse_range(text, &value->integer, &value->upper)) return wrong(o, text, "a number N or a range A-B");
    return within(o, text, (double)value->integer) && within(o, text, (double)value->upper);
  case OPTION_CHOICE:
    return known_choice(o, text, &value->choice);
  case OPTION_LIST:
    return add_items(parsed, o, value, text);
  }
  return true;
}

/* ---- the command line ---- */

typedef struct parser {
  options *parsed;
  const char *command;
  int argc, at;
  char **argv;
} parser;

/* The option with that long name (of that length) or, when `length` is 0, that letter. */
static const option *find(const parser *p, const char *name, size_t length, option_value **value) {
  for (int common = 0; common < 2; common++) {
    const option *table = common ? common_options : p->parsed->table;
    option_value *values = common ? p->parsed->common : p->parsed->values;
    size_t count = common ? COMMON_OPTIONS : p->parsed->count;
    for (size_t i = 0; i < count; i++) {
      const option *o = &table[i];
      bool same = length == 0 ? o->letter != 0 && o->letter == *name
                              : strncmp(o->name, name, length) == 0 && o->name[length] == 0;
      if (!same) continue;
      *value = values + i;
      return o;
    }
  }
  return NULL;
}

static bool unknown_option(const parser *p, const char *given, const char *name, size_t length) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
  suggestion s = suggest_begin(word);
  for (size_t i = 0; i < p->parsed->count; i++) suggest_offer(&s, p->parsed->table[i].name);
  for (size_t i = 0; i < COMMON_OPTIONS; i++) suggest_offer(&s, common_options[i].name);
  char page[128];
  snprintf(page, sizeof page, "%s%s%.32s --help", message_name(), *p->command != 0 ? " " : "", p->command);
  if (suggest_best(&s) != NULL)
    message("unknown option '%s'; did you mean '--%s'?", given, suggest_best(&s));
  else
    message("unknown option '%s'; '%s' lists the options", given, page);
  return false;
}

static bool parse_long(parser *p, const char *given) {
  const char *name = given + 2, *equals = strchr(name, '=');
  size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
  option_value *value;
  const option *o = length > 0 ? find(p, name, length, &value) : NULL;
  bool negated = false;
  if (o == NULL && length > 3 && strncmp(name, "no-", 3) == 0) {
    o = find(p, name + 3, length - 3, &value);
    negated = o != NULL;
    if (negated && o->type != OPTION_FLAG && !o->bare) o = NULL;
  }
  if (o == NULL) return unknown_option(p, given, name, length);
  if (o->type == OPTION_FLAG || negated) {
    if (equals != NULL) {
      /* Who gives a password there expects it to stay a secret. */
      if (strcmp(o->name, "password") == 0)
        message("--password takes no value: it asks on the terminal");
      else
        message("--%s%s takes no value, found '%s'", negated ? "no-" : "", o->name, equals + 1);
      return false;
    }
    *value = (option_value){.given = o->type == OPTION_FLAG, .on = !negated};
    return true;
  }
  const char *text = equals != NULL ? equals + 1 : o->bare ? o->choices(0) : NULL;
  if (text == NULL && p->at < p->argc) text = p->argv[p->at++];
  if (text == NULL) {
    message("--%s needs a value: --%s=%s", o->name, o->name, option_argument(o));
    return false;
  }
  return set_value(p->parsed, o, value, text);
}

/* "-qv" is two flags; "-j4" and "-j 4" are one option with a value. */
static bool parse_short(parser *p, const char *given) {
  for (const char *c = given + 1; *c != 0; c++) {
    option_value *value;
    const option *o = find(p, c, 0, &value);
    if (o == NULL) return unknown_option(p, given, given + 1, strlen(given + 1));
    if (o->type == OPTION_FLAG) {
      value->given = value->on = true;
      continue;
    }
    const char *text = c[1] != 0 ? c + 1 + (c[1] == '=') : p->at < p->argc ? p->argv[p->at++] : NULL;
    if (text != NULL) return set_value(p->parsed, o, value, text);
    message("-%c needs a value: -%c %s", o->letter, o->letter, option_argument(o));
    return false;
  }
  return true;
}

bool options_parse(options *parsed, const char *command, const option *table, size_t count, int argc, char **argv) {
  *parsed = (options){.table = table, .count = count};
  size_t bytes = 1;
  for (int i = 0; i < argc; i++) bytes += strlen(argv[i]) + 1;
  parsed->arguments = calloc((size_t)argc + 1, sizeof *parsed->arguments);
  parsed->storage = malloc(bytes);
  if (parsed->arguments == NULL || parsed->storage == NULL || count > OPTIONS_MOST) {
    message("out of memory");
    return false;
  }
  parser p = {parsed, command, argc, 0, argv};
  bool options_ended = false;
  while (p.at < argc) {
    const char *given = argv[p.at++];
    if (options_ended || given[0] != '-' || given[1] == 0)
      parsed->arguments[parsed->argument_count++] = given;
    else if (strcmp(given, "--") == 0)
      options_ended = true;
    else if (given[1] == '-' ? !parse_long(&p, given) : !parse_short(&p, given))
      return false;
  }
  return true;
}

void options_free(options *parsed) {
  for (size_t i = 0; i < parsed->count && i < OPTIONS_MOST; i++) free(parsed->values[i].items);
  free(parsed->arguments);
  free(parsed->storage);
  *parsed = (options){0};
}
