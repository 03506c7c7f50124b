/* random_history.h - small random histories of mixed validity, as plain values that can be shrunk.
 * A sketch is owned by its caller and holds no pointers. */
#ifndef RANDOM_HISTORY_H
#define RANDOM_HISTORY_H

#include <isoproof/isoproof.h>

enum { SKETCH_TXNS = 8, SKETCH_OPS = 6, SKETCH_KEYS = 4, SKETCH_SESSIONS = 4, SKETCH_ELEMENTS = 24 };

typedef struct sketch_op {
  bool write;
  uint8_t key;
  uint8_t value; /* 0 reads the initial version */
  uint8_t count; /* of a list read */
  uint8_t elements[SKETCH_ELEMENTS];
} sketch_op;

typedef struct sketch_txn {
  uint8_t session;
  isoproof_txn_status status;
  uint8_t count;
  uint8_t start, end; /* where the sketch is timed */
  uint8_t level;      /* mixed_level (tests/oracle/mixed.h): the level that is its own */
  sketch_op ops[SKETCH_OPS];
} sketch_txn;

typedef struct sketch {
  uint8_t count;
  uint8_t lists; /* one bit per key: it is a list; the others are registers */
  bool timed;
  sketch_txn txns[SKETCH_TXNS];
} sketch;

/* How reads get their values. */
typedef enum sketch_style {
  SKETCH_SERIAL,    /* each transaction runs alone */
  SKETCH_SNAPSHOT,  /* each reads a snapshot, perhaps an old one */
  SKETCH_PERTURBED, /* serial, with some reads changed */
  SKETCH_RANDOM,    /* any written value, the initial one, now and then one nobody wrote */
  SKETCH_STYLES
} sketch_style;

/* Draws a sketch of registers: 1 to 4 sessions, 1 to 7 transactions, 1 to 4 keys; `state` is the generator's. */
void sketch_draw(uint64_t *state, sketch *out);
/* The same with lists, now and then beside registers; sometimes a last transaction reads everything. */
void sketch_draw_lists(uint64_t *state, sketch *out);

/* Gives the transactions times: they follow each other roughly as they are written down, and overlap more or less. */
void sketch_draw_times(uint64_t *state, sketch *s);

/* A random number below the bound. */
uint64_t sketch_below(uint64_t *state, uint64_t bound);
/* Draws who does what to which key, without values. */
void sketch_shape(uint64_t *state, sketch *out);
/* Gives all writes and reads of registers their values. */
void sketch_fill_registers(uint64_t *state, sketch *out, sketch_style style);

static inline bool sketch_is_list(const sketch *s, unsigned key) { return (s->lists >> key & 1) != 0; }

/* The history of a sketch; the caller frees it. */
isoproof_history *sketch_history(const sketch *s);
/* Plume-like text of a sketch, for messages. */
void sketch_print(const sketch *s, char *out, size_t size);

/* Shrinks a sketch for which `fails` holds, by leaving out transactions, operations and elements, as long as it still
 * fails. */
void sketch_shrink(sketch *s, bool (*fails)(const sketch *s, void *user), void *user);

#endif
