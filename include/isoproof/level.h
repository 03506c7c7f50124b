/* isoproof/level.h - isolation levels, consistency models and anomalies: what they are called and what they mean.
 *
 * Two families of names exist.  The levels of `--level` count session order (snapshot-isolation, serializable, ...).
 * Adya's and Elle's models, those of `--model`, do not, unless their name says strong-session (session order) or
 * strong (real-time order).  Where one name exists in both families, isolde_level_find looks among the levels first.
 *
 * Everything here points into constant tables of the library: nothing is owned, nothing is freed.
 */
#ifndef ISOLDE_LEVEL_H
#define ISOLDE_LEVEL_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum isolde_level_family {
  ISOLDE_LEVEL_BASE,    /* with session order: cut-isolation .. strict-serializable, update-atomic, linearizable */
  ISOLDE_LEVEL_SESSION, /* the four session guarantees */
  ISOLDE_LEVEL_MODEL    /* a model of Elle's lattice, Adya's PL- levels among them */
} isolde_level_family;

typedef struct isolde_level_info {
  uint32_t number;            /* position in the table, for isolde_level_at and isolde_level_implies */
  const char *id;             /* "snapshot-isolation", "PL-SI"; unique within its family, not across families */
  const char *const *aliases; /* NULL-terminated */
  isolde_level_family family;
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
} isolde_level_info;

/* `number` from 0; NULL after the last. */
ISOLDE_API const isolde_level_info *isolde_level_at(size_t number);
/* By id or alias, without regard to case, '_' and ' ' taken as '-'; NULL when there is none. */
ISOLDE_API const isolde_level_info *isolde_level_find(const char *name);
/* Among the models of one family only; `family` ISOLDE_LEVEL_MODEL is what --model means by a name. */
ISOLDE_API const isolde_level_info *isolde_level_find_in(const char *name, isolde_level_family family);
/* Whether every history that satisfies `stronger` satisfies `weaker` (by the documented implications, reflexively and
 * transitively). */
ISOLDE_API bool isolde_level_implies(const isolde_level_info *stronger, const isolde_level_info *weaker);
/* The direct implications, for drawing: `number` from 0, false after the last. */
ISOLDE_API bool isolde_level_edge(size_t number, const isolde_level_info **stronger, const isolde_level_info **weaker);

typedef enum isolde_anomaly_kind {
  ISOLDE_ANOMALY_TAP,       /* a transactional anomalous pattern of register histories */
  ISOLDE_ANOMALY_ELLE,      /* an anomaly of Adya's or Elle's, which rules out models */
  ISOLDE_ANOMALY_PHENOMENON /* a name that people use, under which violations of strong levels are reported */
} isolde_anomaly_kind;

typedef struct isolde_anomaly_info {
  uint32_t number;
  isolde_anomaly_kind kind;
  const char *code;        /* "TAP-k", "G-single", "lost-update" */
  const char *name;        /* "FracturedReadCO" */
  const char *meaning;     /* one sentence */
  const char *level;       /* id of the weakest level that forbids it, NULL where it is a matter of models only */
  const char *example;     /* a tiny history that has it, in Plume text or EDN, with final newline; NULL where none */
  const char *walkthrough; /* the example in sentences; NULL where there is no example */
  const char *const *aliases;   /* other names, such as "P4"; NULL-terminated */
  const char *const *satisfies; /* the strongest levels, of those without times, that a Plume-text example still
                                   satisfies; NULL-terminated; NULL where the example is in EDN or there is none */
} isolde_anomaly_info;

/* `number` from 0; NULL after the last. */
ISOLDE_API const isolde_anomaly_info *isolde_anomaly_at(size_t number);
/* By code, name or alias, without regard to case, '_' and ' ' taken as '-'; NULL when there is none. */
ISOLDE_API const isolde_anomaly_info *isolde_anomaly_find(const char *name);
/* The weakest models that an anomaly rules out (what implies one of them is ruled out with it): `number` from 0; NULL
 * after the last.  A pattern of registers (TAP) rules out levels, see `level`, and no models. */
ISOLDE_API const isolde_level_info *isolde_anomaly_rules_out(const isolde_anomaly_info *anomaly, size_t number);
/* The anomalies that this one counts as, directly (a G0 counts as a G1c): a model that forbids one of those forbids
 * this one too.  `number` from 0; NULL after the last. */
ISOLDE_API const isolde_anomaly_info *isolde_anomaly_implies(const isolde_anomaly_info *anomaly, size_t number);

#ifdef __cplusplus
}
#endif

#endif
