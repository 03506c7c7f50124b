/* evaluate.c - evaluates compiled expressions on a stack. */
#include <string.h>

#include "script/expression.h"

typedef ISO_VEC(iso_script_value) value_stack;

static isoproof_status variable(const iso_script_variables *variables, const char *name, iso_script_value *value,
                                isoproof_error *error) {
  const iso_script_variable *found = iso_script_variable_find(variables, name, strlen(name));
  if (found == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no variable %s", name);
  if (!found->calculable) {
    char quoted[256];
    return iso_fail(error, ISOPROOF_ERR_USAGE, "the variable %s is no number, boolean or null: %s", name,
                    iso_quote(found->text, strlen(found->text), quoted));
  }
  *value = found->value;
  return ISOPROOF_OK;
}

/* The left side of AND or OR: decides alone (and stays) when it is null, or false before AND, or true before OR. */
static isoproof_status left_side(bool is_and, value_stack *stack, bool *decides, isoproof_error *error) {
  iso_script_value left = stack->items[stack->count - 1];
  bool value;
  *decides = left.type == ISO_SCRIPT_NULL;
  if (*decides) return ISOPROOF_OK;
  ISO_TRY(iso_script_to_boolean(left, &value, error));
  *decides = value != is_and;
  if (!*decides) stack->count--;
  return ISOPROOF_OK;
}

static isoproof_status call(const iso_expression_code *code, value_stack *stack, iso_script_random *random,
                            isoproof_error *error) {
  iso_script_value result;
  size_t first = stack->count - code->arguments;
  ISO_TRY(iso_script_function_call(code->function, stack->items + first, code->arguments, random, &result, error));
  stack->count = first;
  return iso_vec_push(stack, result) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status step(const iso_expression_code *code, const iso_script_variables *variables, value_stack *stack,
                            iso_script_random *random, size_t *next, isoproof_error *error) {
  iso_script_value value = code->constant;
  bool jumps;
  switch (code->kind) {
  case ISO_CODE_VARIABLE:
    ISO_TRY(variable(variables, code->name, &value, error));
    break;
  case ISO_CODE_CONSTANT:
    break;
  case ISO_CODE_CALL:
    return call(code, stack, random, error);
  case ISO_CODE_AND:
  case ISO_CODE_OR:
    ISO_TRY(left_side(code->kind == ISO_CODE_AND, stack, &jumps, error));
    if (jumps) *next = code->target;
    return ISOPROOF_OK;
  case ISO_CODE_LOGIC:
    value = stack->items[stack->count - 1];
    return value.type == ISO_SCRIPT_NULL ? ISOPROOF_OK : iso_script_to_boolean(value, &jumps, error);
  case ISO_CODE_UNLESS:
    if (!iso_script_truth(stack->items[--stack->count])) *next = code->target;
    return ISOPROOF_OK;
  case ISO_CODE_JUMP:
    *next = code->target;
    return ISOPROOF_OK;
  }
  return iso_vec_push(stack, value) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_expression_evaluate(const iso_expression *expression, const iso_script_variables *variables,
                                        iso_script_random *random, iso_script_value *result, isoproof_error *error) {
  value_stack stack = {NULL, 0, 0};
  isoproof_status status = ISOPROOF_OK;
  for (size_t at = 0; at < expression->code.count && status == ISOPROOF_OK;) {
    size_t next = at + 1;
    status = step(&expression->code.items[at], variables, &stack, random, &next, error);
    at = next;
  }
  if (status == ISOPROOF_OK) *result = stack.items[0];
  iso_vec_free(&stack);
  return status;
}
