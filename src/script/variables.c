/* variables.c - the variables of a session. */
#include "script/variables.h"

#include <ctype.h>
#include <string.h>

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

bool iso_script_name_valid(const char *name, size_t length) {
  if (length == 0 || length >= ISO_SCRIPT_NAME_BYTES || isdigit((unsigned char)name[0])) return false;
  for (size_t i = 0; i < length; i++)
    if (!is_name_byte(name[i])) return false;
  return true;
}

static iso_script_variable *find(const iso_script_variables *variables, const char *name, size_t length) {
  for (size_t i = 0; i < variables->list.count; i++) {
    iso_script_variable *v = &variables->list.items[i];
    if (strncmp(v->name, name, length) == 0 && v->name[length] == 0) return v;
  }
  return NULL;
}

const iso_script_variable *iso_script_variable_find(const iso_script_variables *variables, const char *name,
                                                    size_t length) {
  return length < ISO_SCRIPT_NAME_BYTES ? find(variables, name, length) : NULL;
}

static isoproof_status put(iso_script_variables *variables, const char *name, size_t length, const char *text,
                           iso_script_variable **found, isoproof_error *error) {
  char quoted[256];
  if (!iso_script_name_valid(name, length))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected the name of a variable (letters, digits, _), found %s",
                    iso_quote(name, length, quoted));
  if (strlen(text) > ISO_SCRIPT_TEXT_BYTES)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "the variable %.*s would have more than 1 MiB", (int)length, name);
  *found = find(variables, name, length);
  char *copy = strdup(text);
  if (copy == NULL) return iso_fail_memory(error);
  if (*found == NULL) {
    iso_script_variable fresh = {.text = NULL};
    memcpy(fresh.name, name, length);
    bool room = variables->list.count < ISO_SCRIPT_MOST_VARIABLES;
    if (!room || !iso_vec_push(&variables->list, fresh)) {
      free(copy);
      return room ? iso_fail_memory(error)
                  : iso_fail(error, ISOPROOF_ERR_USAGE, "more than %d variables", ISO_SCRIPT_MOST_VARIABLES);
    }
    *found = &variables->list.items[variables->list.count - 1];
  }
  free((*found)->text);
  (*found)->text = copy;
  return ISOPROOF_OK;
}

isoproof_status iso_script_variable_set_text(iso_script_variables *variables, const char *name, size_t length,
                                             const char *text, isoproof_error *error) {
  iso_script_variable *v;
  ISO_TRY(put(variables, name, length, text != NULL ? text : "NULL", &v, error));
  v->value = iso_script_null();
  v->calculable = text == NULL || iso_script_read_value(text, &v->value);
  return ISOPROOF_OK;
}

isoproof_status iso_script_variable_set(iso_script_variables *variables, const char *name, size_t length,
                                        iso_script_value value, isoproof_error *error) {
  iso_script_variable *v;
  char text[ISO_SCRIPT_VALUE_BYTES];
  iso_script_format(value, text);
  ISO_TRY(put(variables, name, length, text, &v, error));
  v->value = value;
  v->calculable = true;
  return ISOPROOF_OK;
}

void iso_script_variables_free(iso_script_variables *variables) {
  for (size_t i = 0; i < variables->list.count; i++) free(variables->list.items[i].text);
  iso_vec_free(&variables->list);
}

isoproof_status iso_script_variables_copy(iso_script_variables *to, const iso_script_variables *from,
                                          isoproof_error *error) {
  iso_script_variables made = {{0}};
  for (size_t i = 0; i < from->list.count; i++) {
    iso_script_variable copy = from->list.items[i];
    copy.text = NULL;
    bool good = iso_vec_push(&made.list, copy);
    if (good) made.list.items[i].text = strdup(from->list.items[i].text);
    if (!good || made.list.items[i].text == NULL) {
      iso_script_variables_free(&made);
      return iso_fail_memory(error);
    }
  }
  iso_script_variables_free(to);
  *to = made;
  return ISOPROOF_OK;
}
