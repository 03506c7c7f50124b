/* names.h - names of levels and formats as choices of options.  The names are the library's. */
#ifndef CLI_OPTIONS_NAMES_H
#define CLI_OPTIONS_NAMES_H

#include <isoproof/format.h>
#include <isoproof/level.h>

/* `number` from 0; NULL after the last. */
const char *level_name_at(size_t number);
const char *format_name_at(size_t number);
const char *writable_format_at(size_t number);

/* The formats that can be written, for the text of help: " plume dbcop ...", and their endings: " .txt .bincode ...".
 */
#define WRITABLE_FORMATS ISOPROOF_FORMAT_LIST(WRITABLE_ID_X)
#define WRITABLE_ENDINGS ISOPROOF_FORMAT_LIST(WRITABLE_ENDING_X)
#define WRITABLE_ID_X(name, id, writable, ending, text) WRITABLE_WHEN_##writable(id)
#define WRITABLE_ENDING_X(name, id, writable, ending, text) WRITABLE_WHEN_##writable(ending)
#define WRITABLE_WHEN_true(word) " " word
#define WRITABLE_WHEN_false(word)

/* Whether --level takes the name: an id or an alias. */
bool level_known(const char *name);

/* Codes of the patterns that --anomaly takes, TAP-a and on; NULL after the last. */
const char *pattern_name_at(size_t number);
bool pattern_known(const char *name);

/* The format that the ending of a file name stands for, seen through .gz and .zst; NULL when it stands for none. */
const isoproof_format_info *format_by_ending(const char *path);

/* "plume": the format --to or --format names, or the one by ending; NULL after a message. */
const isoproof_format_info *format_for_output(const char *named, const char *path, const char *fallback);

#endif
