/* mark.h - whose table it is: the mark that every table of ours carries from the moment it is made.
 *
 * A mark names the table itself (so that a copy under another name, or a table that was renamed, is not ours), the run
 * that made it, when, and the process of that run, by which others tell whether the run is still there.  Nothing is
 * owned.
 */
#ifndef ISO_DATABASE_MARK_H
#define ISO_DATABASE_MARK_H

#include "database/driver.h"

enum {
  ISO_MARK_BYTES = 256,
  ISO_MARK_COLUMNS = 3,       /* where there are no comments */
  ISO_MARK_COLUMN_BYTES = 31, /* 30 letters are what every database takes */
  ISO_MARK_AGE = 24 * 60 * 60 /* seconds after which a run elsewhere that holds no lock counts as gone */
};

/* A process, so that its like is not taken for it: not another one of the same number, after a restart of the machine,
 * or in another container. */
typedef struct iso_process {
  uint64_t place; /* 40 bits of a hash of the machine's boot and the namespace of process numbers; 0: not known */
  uint64_t pid, started;
} iso_process;

typedef struct iso_mark {
  char table[ISO_TABLE_BYTES]; /* as the catalogue of the database writes it */
  uint64_t run;
  int64_t made; /* seconds since 1970 on the clock of the server; 0: not known */
  iso_process process;
  bool kept; /* on purpose, longer than the run: others leave it alone */
} iso_mark;

/* This process. */
void iso_process_here(iso_process *process);

typedef enum iso_run_life {
  ISO_RUN_LIVES,
  ISO_RUN_GONE,
  ISO_RUN_ELSEWHERE /* on another machine or in another container: nothing to be seen of it from here */
} iso_run_life;

iso_run_life iso_process_life(const iso_process *process, const iso_process *here);

/* The mark as text without quotes, for a comment; returns its length. */
size_t iso_mark_write(const iso_mark *mark, char text[ISO_MARK_BYTES]);
/* Finds the mark in a comment, or in a statement that has it as its comment.  False when there is none. */
bool iso_mark_read(const char *text, iso_mark *mark);
/* Whether the text has the mark of this very table. */
bool iso_mark_fits(const char *text, const char *table, iso_mark *mark);

/* The same as names of columns, for databases without comments.  They hold no time, and of the table's name a hash. */
void iso_mark_write_columns(const iso_mark *mark, char columns[ISO_MARK_COLUMNS][ISO_MARK_COLUMN_BYTES]);
/* From the names of all columns of a table, without regard to case. */
bool iso_mark_fits_columns(const char *const *columns, size_t count, const char *table, iso_mark *mark);

#endif
