/* page.h - parts of the page of a matrix.  Everything is written to an output; nothing is owned. */
#ifndef ISO_COO_PAGE_PAGE_H
#define ISO_COO_PAGE_PAGE_H

#include <isoproof/coo.h>

#include "base/output.h"

/* web/coo.html as the build made it: style and script are in it, the data are not. */
extern const unsigned char iso_coo_page[];
extern const size_t iso_coo_page_size;

/* Opens the page, up to where the data go; what follows them. */
isoproof_status iso_coo_page_begin(isoproof_write_fn write, void *user, iso_output **out, isoproof_error *error);
isoproof_status iso_coo_page_end(iso_output *out, isoproof_error *error);

/* The letters of a cell in their colour: a link to a story, or text where `story` is NULL. */
void iso_coo_page_mark(iso_output *out, const isoproof_coo_cell *cell, const char *story);
/* What was expected of every level and what came, a line each. */
void iso_coo_page_levels(iso_output *out, const isoproof_coo_matrix *matrix);
void iso_coo_page_legend(iso_output *out);

/* A list of steps, session beside session: its head, which leaves the list open, and an item. */
void iso_coo_page_steps_head(iso_output *out, unsigned sessions);
void iso_coo_page_event(iso_output *out, const isoproof_coo_event *event);

/* The counterexample that a history in isoproof's own text form is to a level, as a picture; nothing where it is none.
 */
void iso_coo_page_drawing(iso_output *out, const char *history, size_t length, const char *level);

/* What happened in a cell, with a title of one's own where that is not NULL; `close` is what a link that closes it
 * leads to, NULL for none. */
void iso_coo_page_story(iso_output *out, const isoproof_coo_matrix *matrix, size_t row, size_t level, const char *title,
                        const char *close);

#endif
