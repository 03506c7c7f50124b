/* options.h - one table of options a command drives parsing, help, man pages and shell completion.
 *
 * The parsed values own their lists until options_free; texts in them are those of the command line.
 */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types: C name, default name of the argument in help. */
#define OPTION_TYPE_LIST(X)                                                                                            \
  X(FLAG, "")              /* --name, --no-name */                                                                     \
  X(TEXT, "TEXT")          /* anything */                                                                              \
  X(FILE, "FILE")          /* a path, "-" for a standard stream */                                                     \
  X(INTEGER, "N")          /* from min to max */                                                                       \
  X(NUMBER, "X")           /* a decimal fraction from min to max */                                                    \
  X(SECONDS, "TIME")       /* seconds, or with a unit: 500ms, 10s, 2m, 1h; from min to max */                          \
  X(PHASES, "N[:TIME,..]") /* an integer, or several, each with how long it holds; from min to max */                  \
  X(SIZE, "BYTES")         /* an integer with an optional K, M, G or T (powers of 1024) */                             \
  X(RANGE, "N[-N]")        /* N, or A-B with A <= B */                                                                 \
  X(CHOICE, "NAME")        /* one of the choices */                                                                    \
  X(LIST, "NAME,..")       /* names separated by commas; may be repeated */

typedef enum option_type {
#define OPTION_X(name, argument) OPTION_##name,
  OPTION_TYPE_LIST(OPTION_X)
#undef OPTION_X
} option_type;

/* `number` from 0; NULL after the last. */
typedef const char *(*choices_fn)(size_t number);
/* Whether a name is known that the choices need not list (an alias). */
typedef bool (*accepts_fn)(const char *name);

typedef struct option {
  const char *name;     /* long name without dashes */
  const char *argument; /* name of the argument in help, NULL for that of the type */
  double min, max;      /* of integers and numbers; max 0 means no upper limit */
  choices_fn choices;   /* of CHOICE, and of LIST where its names are known */
  accepts_fn accepts;   /* NULL: exactly the choices */
  const char *help;     /* one sentence */
  const char *initial;  /* what holds without the option, for help; NULL where that goes without saying */
  const char *group;    /* heading in help; NULL for the first group */
  option_type type;
  bool (*begins)(const char *); /* LIST: only a comma before an item separates; NULL: every comma does */
  char letter;                  /* short name, 0 none */
  bool bare; /* CHOICE without a letter: --name alone means the first choice, --no-name takes it back */
} option;

typedef struct option_value {
  bool given;
  bool on;            /* FLAG */
  const char *text;   /* TEXT, FILE, CHOICE */
  size_t choice;      /* CHOICE: its number, SIZE_MAX when an alias */
  uint64_t integer;   /* INTEGER, SIZE, the lower end of RANGE, and the most of PHASES */
  uint64_t upper;     /* RANGE */
  double number;      /* NUMBER, SECONDS */
  const char **items; /* LIST */
  size_t item_count;
} option_value;

/* Options that every command has. */
enum { COMMON_HELP, COMMON_QUIET, COMMON_VERBOSE, COMMON_COLOR, COMMON_OPTIONS };
extern const option common_options[COMMON_OPTIONS];

enum { OPTIONS_MOST = 96 };

typedef struct options {
  const option *table;
  size_t count;
  option_value values[OPTIONS_MOST];
  option_value common[COMMON_OPTIONS];
  const char **arguments; /* what is left: the positional arguments */
  size_t argument_count;
  char *storage; /* copies of lists, cut at their commas */
  size_t storage_used;
} options;

/* Parses the arguments after the name of the command.  On failure prints one message and returns false. */
bool options_parse(options *parsed, const char *command, const option *table, size_t count, int argc, char **argv);
void options_free(options *parsed);

/* "10", "500ms", "2m": so many bytes of a text as seconds. */
bool option_seconds(const char *text, size_t length, double *seconds);
/* "10:30s", up to a comma or the end: a number, and how long it holds. */
bool option_phase(const char *text, uint64_t *number, double *seconds);

/* What to call the argument of an option in help. */
const char *option_argument(const option *o);

#endif
