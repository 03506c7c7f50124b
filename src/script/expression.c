/* expression.c - compiles expressions by operator precedence (Dijkstra's shunting yard), with a stack of its own. */
#include "script/expression.h"

#include <stdio.h>
#include <string.h>

#include "script/expression_token.h"

/* From loose to tight, as pgbench's grammar has them. */
typedef enum precedence {
  LEAST, /* of brackets: nothing is pulled over them */
  OF_OR,
  OF_AND,
  OF_NOT,
  OF_IS,
  OF_COMPARISON,
  OF_BITS,
  OF_SUM,
  OF_PRODUCT,
  OF_SIGN
} precedence;

typedef enum pending_kind { BRACKET, CALL, CASE, OPERATOR, LOGIC } pending_kind;

/* What waits for its operands. */
typedef struct pending {
  pending_kind kind;
  precedence tightness;
  iso_script_function function;
  uint32_t arguments; /* of a call: those that are complete */
  uint32_t jump;      /* LOGIC: the test of the left side; CASE: that of the last WHEN */
  uint32_t ends;      /* CASE: the last of its jumps to the end, each with the one before as its target; NONE */
  enum { AT_CASE, AT_WHEN, AT_THEN, AT_ELSE } stage;
} pending;

enum { NONE = UINT32_MAX };

typedef struct parser {
  const char *text, *at, *end;
  iso_place place;
  iso_expression *out;
  ISO_VEC(pending) stack;
  iso_expression_token token;
  bool operand; /* one is expected */
  isoproof_error *error;
} parser;

static isoproof_status fail(const parser *p, const char *expected) {
  char quoted[256];
  iso_place place = p->place;
  place.column += (uint64_t)(p->token.text - p->text);
  return iso_fail_at(p->error, ISOPROOF_ERR_USAGE, place, "expected %s, found %s", expected,
                     iso_quote(p->token.text, p->token.length, quoted));
}

static isoproof_status emit(parser *p, iso_expression_code code) {
  if (p->out->code.count >= ISO_EXPRESSION_DEPTH) return fail(p, "an expression of at most 10,000 parts");
  return iso_vec_push(&p->out->code, code) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static isoproof_status emit_call(parser *p, iso_script_function function, uint32_t arguments) {
  return emit(p, (iso_expression_code){.kind = ISO_CODE_CALL, .function = function, .arguments = arguments});
}

static isoproof_status push(parser *p, pending one) {
  if (p->stack.count >= ISO_EXPRESSION_DEPTH) return fail(p, "less nesting");
  return iso_vec_push(&p->stack, one) ? ISOPROOF_OK : iso_fail_memory(p->error);
}

static uint32_t here(const parser *p) { return (uint32_t)p->out->code.count; }
static pending *top(const parser *p) { return p->stack.count > 0 ? &p->stack.items[p->stack.count - 1] : NULL; }

/* Completes what binds tighter than `least`, or as tight. */
static isoproof_status reduce(parser *p, precedence least) {
  for (pending *t = top(p); t != NULL && t->kind >= OPERATOR && t->tightness >= least; t = top(p)) {
    pending done = *t;
    p->stack.count--;
    if (done.kind == LOGIC) {
      ISO_TRY(emit(p, (iso_expression_code){.kind = ISO_CODE_LOGIC}));
      p->out->code.items[done.jump].target = here(p);
    } else {
      ISO_TRY(emit_call(p, done.function, done.arguments));
    }
  }
  return ISOPROOF_OK;
}

/* ---- operands ---- */

static isoproof_status variable(parser *p) {
  iso_expression_code code = {.kind = ISO_CODE_VARIABLE};
  if (p->token.length >= sizeof code.name) return fail(p, "the name of a variable, of at most 63 bytes");
  memcpy(code.name, p->token.text, p->token.length);
  p->operand = false;
  return emit(p, code);
}

/* Before an operand: a sign, a complement, NOT. */
static isoproof_status prefix(parser *p, precedence tightness, iso_script_function function, bool binary,
                              int64_t left) {
  if (binary) ISO_TRY(emit(p, (iso_expression_code){.kind = ISO_CODE_CONSTANT, .constant = iso_script_integer(left)}));
  return push(p,
              (pending){.kind = OPERATOR, .tightness = tightness, .function = function, .arguments = binary ? 2 : 1});
}

static isoproof_status negative(parser *p) {
  const char *before = p->at;
  iso_expression_token next = iso_expression_next(&p->at, p->end);
  if (next.kind == ISO_TOKEN_TOO_LARGE) {
    p->operand = false;
    return emit(p, (iso_expression_code){.kind = ISO_CODE_CONSTANT, .constant = iso_script_integer(INT64_MIN)});
  }
  p->at = before;
  return prefix(p, OF_SIGN, ISO_FUNCTION_SUBTRACT, true, 0);
}

static isoproof_status function(parser *p) {
  iso_script_function found = iso_script_function_find(p->token.text, p->token.length);
  if (found == ISO_FUNCTIONS) return fail(p, "a function that there is");
  ISO_TRY(push(p, (pending){.kind = CALL, .function = found}));
  iso_expression_token name = p->token;
  p->token = iso_expression_next(&p->at, p->end);
  if (p->token.kind != ISO_TOKEN_OPEN) return fail(p, "( after the name of a function");
  const char *before = p->at;
  if (iso_expression_next(&p->at, p->end).kind != ISO_TOKEN_CLOSE) {
    p->at = before;
    return ISOPROOF_OK;
  }
  p->token = name;
  p->stack.count--;
  p->operand = false;
  if (!iso_script_function_takes(found, 0)) return fail(p, "arguments");
  return emit_call(p, found, 0);
}

static isoproof_status take_operand(parser *p) {
  const iso_expression_token *t = &p->token;
  switch (t->kind) {
  case ISO_TOKEN_CONSTANT:
    p->operand = false;
    return emit(p, (iso_expression_code){.kind = ISO_CODE_CONSTANT, .constant = t->value});
  case ISO_TOKEN_VARIABLE:
    return variable(p);
  case ISO_TOKEN_NAME:
    return function(p);
  case ISO_TOKEN_OPEN:
    return push(p, (pending){.kind = BRACKET});
  case ISO_TOKEN_CASE:
    ISO_TRY(push(p, (pending){.kind = CASE, .jump = NONE, .ends = NONE, .stage = AT_CASE}));
    p->operand = false;
    return ISOPROOF_OK;
  case ISO_TOKEN_NOT:
    return prefix(p, OF_NOT, ISO_FUNCTION_NOT, false, 0);
  case ISO_TOKEN_COMPLEMENT:
    return prefix(p, OF_BITS, ISO_FUNCTION_BIT_XOR, true, -1);
  case ISO_TOKEN_OPERATOR:
    if (t->function == ISO_FUNCTION_ADD) return ISOPROOF_OK;
    if (t->function == ISO_FUNCTION_SUBTRACT) return negative(p);
    break;
  default:
    break;
  }
  return fail(p, "a number, a variable, a function or (");
}

/* ---- between operands ---- */

static precedence tightness_of(iso_script_function function) {
  if (function <= ISO_FUNCTION_SUBTRACT) return OF_SUM;
  if (function <= ISO_FUNCTION_DIVIDE || function == ISO_FUNCTION_MODULO) return OF_PRODUCT;
  return function <= ISO_FUNCTION_AT_LEAST ? OF_COMPARISON : OF_BITS;
}

static isoproof_status infix(parser *p) {
  iso_script_function f = p->token.function;
  precedence tightness = tightness_of(f);
  ISO_TRY(reduce(p, tightness == OF_COMPARISON ? OF_BITS : tightness));
  const pending *left = top(p);
  if (tightness == OF_COMPARISON && left != NULL && left->kind == OPERATOR && left->tightness == OF_COMPARISON)
    return fail(p, "brackets around one of two comparisons");
  p->operand = true;
  return push(p, (pending){.kind = OPERATOR, .tightness = tightness, .function = f, .arguments = 2});
}

static isoproof_status logic(parser *p, bool is_and) {
  precedence tightness = is_and ? OF_AND : OF_OR;
  ISO_TRY(reduce(p, tightness));
  p->operand = true;
  ISO_TRY(push(p, (pending){.kind = LOGIC, .tightness = tightness, .jump = here(p)}));
  return emit(p, (iso_expression_code){.kind = is_and ? ISO_CODE_AND : ISO_CODE_OR});
}

static isoproof_status test_is(parser *p, iso_script_value what, bool negated) {
  ISO_TRY(reduce(p, OF_COMPARISON));
  ISO_TRY(emit(p, (iso_expression_code){.kind = ISO_CODE_CONSTANT, .constant = what}));
  ISO_TRY(emit_call(p, ISO_FUNCTION_IS, 2));
  return negated ? emit_call(p, ISO_FUNCTION_NOT, 1) : ISOPROOF_OK;
}

static isoproof_status is(parser *p) {
  p->token = iso_expression_next(&p->at, p->end);
  bool negated = p->token.kind == ISO_TOKEN_NOT;
  if (negated) p->token = iso_expression_next(&p->at, p->end);
  iso_script_type type = p->token.value.type;
  if (p->token.kind != ISO_TOKEN_CONSTANT || (type != ISO_SCRIPT_NULL && type != ISO_SCRIPT_BOOLEAN))
    return fail(p, "null, true or false after IS");
  return test_is(p, p->token.value, negated);
}

static isoproof_status comma(parser *p) {
  ISO_TRY(reduce(p, OF_OR));
  pending *t = top(p);
  if (t == NULL || t->kind != CALL) return fail(p, "a comma only between the arguments of a function");
  t->arguments++;
  p->operand = true;
  return ISOPROOF_OK;
}

static isoproof_status close(parser *p) {
  ISO_TRY(reduce(p, OF_OR));
  pending *t = top(p);
  if (t == NULL || t->kind == CASE) return fail(p, "the end of the expression");
  pending done = *t;
  p->stack.count--;
  if (done.kind == BRACKET) return ISOPROOF_OK;
  uint32_t count = done.arguments + 1;
  if (!iso_script_function_takes(done.function, count)) {
    char expected[80];
    snprintf(expected, sizeof expected, "another number of arguments of %s", iso_script_function_name(done.function));
    return fail(p, expected);
  }
  if (iso_script_function_wants_seed(done.function, count)) {
    ISO_TRY(emit(p, (iso_expression_code){.kind = ISO_CODE_VARIABLE, .name = "default_seed"}));
    count++;
  }
  return emit_call(p, done.function, count);
}

/* ---- CASE ---- */

/* Ends a result: goes on behind END, and the test before it goes on here. */
static isoproof_status end_result(parser *p, pending *t) {
  ISO_TRY(emit(p, (iso_expression_code){.kind = ISO_CODE_JUMP, .target = t->ends}));
  t->ends = here(p) - 1;
  p->out->code.items[t->jump].target = here(p);
  return ISOPROOF_OK;
}

static isoproof_status end_case(parser *p, pending *t) {
  if (t->stage == AT_THEN) {
    ISO_TRY(end_result(p, t));
    ISO_TRY(emit(p, (iso_expression_code){.kind = ISO_CODE_CONSTANT, .constant = iso_script_null()}));
  }
  for (uint32_t at = t->ends; at != NONE;) {
    uint32_t before = p->out->code.items[at].target;
    p->out->code.items[at].target = here(p);
    at = before;
  }
  p->stack.count--;
  p->operand = false;
  return ISOPROOF_OK;
}

static isoproof_status part_of_case(parser *p) {
  iso_expression_token_kind kind = p->token.kind;
  ISO_TRY(reduce(p, OF_OR));
  pending *t = top(p);
  if (t == NULL || t->kind != CASE) return fail(p, "the end of the expression");
  p->operand = true;
  if (kind == ISO_TOKEN_WHEN && (t->stage == AT_CASE || t->stage == AT_THEN)) {
    if (t->stage == AT_THEN) ISO_TRY(end_result(p, t));
    t->stage = AT_WHEN;
    return ISOPROOF_OK;
  }
  if (kind == ISO_TOKEN_THEN && t->stage == AT_WHEN) {
    t->jump = here(p);
    t->stage = AT_THEN;
    return emit(p, (iso_expression_code){.kind = ISO_CODE_UNLESS});
  }
  if (kind == ISO_TOKEN_ELSE && t->stage == AT_THEN) {
    ISO_TRY(end_result(p, t));
    t->stage = AT_ELSE;
    return ISOPROOF_OK;
  }
  if (kind == ISO_TOKEN_CASE_END && (t->stage == AT_THEN || t->stage == AT_ELSE)) return end_case(p, t);
  return fail(p, "CASE WHEN ... THEN ... [ELSE ...] END");
}

/* ---- the whole ---- */

static isoproof_status take_operator(parser *p) {
  const pending *t = top(p);
  bool opened = t != NULL && t->kind == CASE && t->stage == AT_CASE;
  if (opened && p->token.kind != ISO_TOKEN_WHEN) return fail(p, "WHEN after CASE");
  switch (p->token.kind) {
  case ISO_TOKEN_OPERATOR:
    return infix(p);
  case ISO_TOKEN_AND:
  case ISO_TOKEN_OR:
    return logic(p, p->token.kind == ISO_TOKEN_AND);
  case ISO_TOKEN_IS:
    return is(p);
  case ISO_TOKEN_ISNULL:
  case ISO_TOKEN_NOTNULL:
    return test_is(p, iso_script_null(), p->token.kind == ISO_TOKEN_NOTNULL);
  case ISO_TOKEN_COMMA:
    return comma(p);
  case ISO_TOKEN_CLOSE:
    return close(p);
  case ISO_TOKEN_WHEN:
  case ISO_TOKEN_THEN:
  case ISO_TOKEN_ELSE:
  case ISO_TOKEN_CASE_END:
    return part_of_case(p);
  default:
    return fail(p, "an operator, or the end of the expression");
  }
}

static isoproof_status parse(parser *p) {
  for (;;) {
    p->token = iso_expression_next(&p->at, p->end);
    if (p->token.kind == ISO_TOKEN_END && !p->operand) break;
    ISO_TRY(p->operand ? take_operand(p) : take_operator(p));
  }
  ISO_TRY(reduce(p, OF_OR));
  const pending *t = top(p);
  if (t == NULL) return ISOPROOF_OK;
  return fail(p, t->kind == CASE ? "END of a CASE" : ")");
}

isoproof_status iso_expression_parse(const char *text, size_t length, iso_place place, iso_expression *expression,
                                     isoproof_error *error) {
  parser p = {.text = text,
              .at = text,
              .end = text + length,
              .place = place,
              .out = expression,
              .operand = true,
              .error = error};
  memset(expression, 0, sizeof *expression);
  isoproof_status status = parse(&p);
  iso_vec_free(&p.stack);
  if (status != ISOPROOF_OK) iso_expression_free(expression);
  return status;
}

void iso_expression_free(iso_expression *expression) { iso_vec_free(&expression->code); }
