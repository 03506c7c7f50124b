/* topics.h - fields that the JSON of levels and of explain share.  Borrows the library's tables. */
#ifndef CLI_COMMANDS_TOPICS_H
#define CLI_COMMANDS_TOPICS_H

#include <isoproof/json.h>
#include <isoproof/level.h>

/* "level", "session-guarantee" or "model". */
const char *family_name(isoproof_level_family family);
/* "serializable (PL-3)": its everyday name, and the code of a model that has one. */
enum { LEVEL_LABEL = 96 };
const char *level_label(const isoproof_level_info *level, char text[LEVEL_LABEL]);
/* The fields of a level inside an open object. */
void level_fields(isoproof_json *j, const isoproof_level_info *level);

#endif
