/* question.h - what the coordinator asks of all parts, and what a part answers.
 *
 * A question is a message: a head, who takes part (one bit per transaction), the sequence to carry out or what changed
 * in it, and transactions.  What is common to all parts of a process is heard once (iso_member); then each part
 * answers, what was asked in the order of the bits.  A member owns its arrays until iso_member_free.
 */
#ifndef ISO_PARTS_QUESTION_H
#define ISO_PARTS_QUESTION_H

#include "check/order/sequence.h"
#include "parts/part.h"

enum {
  ISO_ASK_EFFECT = 1,    /* who else took part: one bit per transaction */
  ISO_ASK_FACTS = 2,     /* iso_part_facts */
  ISO_ASK_READS = 4,     /* who read from whom, and the known orders of writers of lists */
  ISO_ASK_EXECUTE = 8,   /* what the sequence breaks under a rule: count, and requirements */
  ISO_ASK_BETWEEN = 16,  /* iso_between: the writers between each version and its readers in the sequence */
  ISO_ASK_OPS = 32,      /* the operations of the transactions that are named (parts/ops.h) */
  ISO_ASK_READS_OF = 64, /* who the transactions that are named read from */
  ISO_ASK_END = 128      /* nothing more will be asked; there is no answer */
};

/* In place of the number of iso_between, where only a guess is asked about (`bare`): there are too many, or a version
 * is read before it is there, or the orders that lists show are not respected. */
#define ISO_BETWEEN_LATE UINT64_MAX

/* How the sequence of a question is told. */
enum { ISO_ORDER_SAME, ISO_ORDER_WHOLE, ISO_ORDER_CHANGES };

typedef struct iso_question_head {
  uint32_t asks;
  uint32_t rule;        /* iso_rule, to execute */
  uint32_t enough;      /* of broken reads and writers, or of iso_between: then a part stops; 0: never */
  uint32_t bare;        /* 1: of a guess; requirements are not wanted, their number is */
  uint32_t order;       /* ISO_ORDER_SAME, ... */
  uint32_t split;       /* events are begins and commits */
  uint32_t has_counts;  /* 1: who takes part is said */
  uint32_t txns_wanted; /* UINT32_MAX: all */
  uint32_t only;        /* the part that is asked, + 1, the others have an empty answer; 0: all are */
} iso_question_head;

enum { ISO_SHOWN_BY = 7 };

typedef struct iso_part_facts {
  uint64_t ops, keys;
  uint64_t duplicate_writes;
  uint32_t suits; /* registers and lists only, and no key is both */
  uint32_t padding;
  uint64_t found[ISO_TAPS]; /* instances of patterns within transactions and of lists */
  /* Of one instance of each: the transactions that it is about; ISO_NO_TXN for none. */
  uint32_t shown_by[ISO_TAPS][ISO_SHOWN_BY];
} iso_part_facts;

/* A read of a version of t1 by t3, and t2 that wrote the key between them. */
typedef struct iso_between {
  uint32_t t1; /* ISO_INITIAL for the initial version */
  uint32_t t2, t3;
  uint32_t key;   /* in the part */
  uint32_t place; /* of the read in its transaction */
} iso_between;

/* What a process knows besides its parts. */
typedef struct iso_member {
  uint32_t txns;
  uint32_t part; /* the number of the part that answers */
  iso_question_head head;
  uint8_t *counts;       /* by transaction; NULL until it was said who takes part */
  iso_sequence sequence; /* as it was told last; events of transactions only */
  uint32_t capacity;     /* of its arrays */
  const uint8_t *wanted; /* in the question: transactions, 4 bytes each */
} iso_member;

void iso_member_free(iso_member *member);
/* Takes in what is common to all parts. */
isoproof_status iso_member_hear(iso_member *member, const iso_bytes *question, isoproof_error *error);
/* Whether the part at hand is asked. */
static inline bool iso_member_is_asked(const iso_member *member) {
  return member->head.only == 0 || member->head.only == member->part + 1;
}
/* The answer of a part, NULL where it is not asked.  A failure is an answer as well: the status comes first, then its
 * message. */
void iso_part_answer(iso_member *member, iso_part *part, isoproof_task *task, iso_bytes *answer);

/* The status of an answer, and what follows it. */
isoproof_status iso_answer_open(const iso_bytes *answer, iso_taker *in, isoproof_error *error);

#endif
