/* isoproof/level.h - isolation levels, consistency models and anomalies: what they are called and what they mean.
 *
 * Two families of names exist.  The levels of `--level` count session order (snapshot-isolation, serializable, ...).
 * Adya's and Elle's models, those of `--model`, do not, unless their name says strong-session (session order) or
 * strong (real-time order).  Where one name exists in both families, isoproof_level_find looks among the levels first.
 *
 * Everything here points into constant tables of the library: nothing is owned, nothing is freed.
 */
#ifndef ISOPROOF_LEVEL_H
#define ISOPROOF_LEVEL_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum isoproof_level_family {
  ISOPROOF_LEVEL_BASE,    /* with session order: cut-isolation .. strict-serializable, update-atomic, linearizable */
  ISOPROOF_LEVEL_SESSION, /* the four session guarantees */
  ISOPROOF_LEVEL_MODEL    /* a model of Elle's lattice, Adya's PL- levels among them */
} isoproof_level_family;

typedef struct isoproof_level_info {
  uint32_t number;            /* position in the table, for isoproof_level_at and isoproof_level_implies */
  const char *id;             /* "snapshot-isolation", "PL-SI"; unique within its family, not across families */
  const char *const *aliases; /* NULL-terminated */
  isoproof_level_family family;
  bool needs_times;
  const char *title;       /* "snapshot isolation" */
  const char *summary;     /* one sentence */
  const char *definition;  /* the axiom or the condition, precisely */
  const char *same_as;     /* for a model: the level with the same idea and session order; for a level: the model that
                              asks the same, where there is one, else the one without session order; NULL where none */
  const char *friendly;    /* the everyday name, "repeatable-read" for "PL-2.99"; the id itself where there is none */
  const char *example;     /* a tiny history that violates it (and, for a level, satisfies every weaker one), in Plume
                              text or EDN, with final newline; NULL where none */
  const char *walkthrough; /* the example in sentences; NULL where there is no example */
} isoproof_level_info;

/* `number` from 0; NULL after the last. */
ISOPROOF_API const isoproof_level_info *isoproof_level_at(size_t number);
/* By id or alias, without regard to case, '_' and ' ' taken as '-'; NULL when there is none. */
ISOPROOF_API const isoproof_level_info *isoproof_level_find(const char *name);
/* Among the models of one family only; `family` ISOPROOF_LEVEL_MODEL is what --model means by a name. */
ISOPROOF_API const isoproof_level_info *isoproof_level_find_in(const char *name, isoproof_level_family family);
/* The short names that every option and function takes for a longer one, "si" for "snapshot-isolation", whichever
 * family is meant: `number` from 0; false after the last. */
ISOPROOF_API bool isoproof_level_short_name_at(size_t number, const char **name, const char **stands_for);
/* Whether every history that satisfies `stronger` satisfies `weaker` (by the documented implications, reflexively and
 * transitively). */
ISOPROOF_API bool isoproof_level_implies(const isoproof_level_info *stronger, const isoproof_level_info *weaker);
/* The direct implications, for drawing: `number` from 0, false after the last. */
ISOPROOF_API bool isoproof_level_implication_at(size_t number, const isoproof_level_info **stronger,
                                                const isoproof_level_info **weaker);

typedef enum isoproof_anomaly_kind {
  ISOPROOF_ANOMALY_TAP,       /* a transactional anomalous pattern of register histories */
  ISOPROOF_ANOMALY_ELLE,      /* an anomaly of Adya's or Elle's, which rules out models */
  ISOPROOF_ANOMALY_PHENOMENON /* a name that people use, under which violations of strong levels are reported */
} isoproof_anomaly_kind;

typedef struct isoproof_anomaly_info {
  uint32_t number;
  isoproof_anomaly_kind kind;
  const char *code;        /* "TAP-k", "G-single", "lost-update" */
  const char *name;        /* "FracturedReadCO" */
  const char *meaning;     /* one sentence */
  const char *level;       /* id of the weakest level that forbids it, NULL where it is a matter of models only */
  const char *example;     /* a tiny history that has it, in Plume text, EDN or (rows) JSON lines, with final newline;
                              NULL where none */
  const char *walkthrough; /* the example in sentences; NULL where there is no example */
  const char *const *aliases;   /* other names, such as "P4"; NULL-terminated */
  const char *const *satisfies; /* the strongest levels, of those without times, that an example in Plume text or of
                                   rows still satisfies; NULL-terminated; NULL where it is in EDN or there is none */
} isoproof_anomaly_info;

/* `number` from 0; NULL after the last. */
ISOPROOF_API const isoproof_anomaly_info *isoproof_anomaly_at(size_t number);
/* By code, name or alias, without regard to case, '_' and ' ' taken as '-'; NULL when there is none. */
ISOPROOF_API const isoproof_anomaly_info *isoproof_anomaly_find(const char *name);
/* The weakest models that an anomaly rules out (what implies one of them is ruled out with it): `number` from 0; NULL
 * after the last.  A pattern of registers (TAP) rules out levels, see `level`, and no models. */
ISOPROOF_API const isoproof_level_info *isoproof_anomaly_rules_out_at(const isoproof_anomaly_info *anomaly,
                                                                      size_t number);
/* The anomalies that this one counts as, directly (a G0 counts as a G1c): a model that forbids one of those forbids
 * this one too.  `number` from 0; NULL after the last. */
ISOPROOF_API const isoproof_anomaly_info *isoproof_anomaly_counts_as_at(const isoproof_anomaly_info *anomaly,
                                                                        size_t number);

#ifdef __cplusplus
}
#endif

#endif
