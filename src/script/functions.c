/* functions.c - operators and functions of expressions: what each makes of its arguments. */
#include "script/functions.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const struct {
  const char *name;
  int fewest, most;
} functions[ISO_FUNCTIONS] = {
#define ISO_X(name, text, fewest, most) {text, fewest, most},
    ISO_SCRIPT_FUNCTION_LIST(ISO_X)
#undef ISO_X
};

iso_script_function iso_script_function_find(const char *name, size_t length) {
  for (int i = 0; i < ISO_FUNCTIONS; i++)
    if (strncasecmp(functions[i].name, name, length) == 0 && functions[i].name[length] == 0)
      return (iso_script_function)i;
  return ISO_FUNCTIONS;
}

const char *iso_script_function_name(iso_script_function function) { return functions[function].name; }

bool iso_script_function_takes(iso_script_function function, size_t count) {
  return count >= (size_t)functions[function].fewest &&
         (functions[function].most < 0 || count <= (size_t)functions[function].most);
}

bool iso_script_function_wants_seed(iso_script_function function, size_t count) {
  bool hash =
      function == ISO_FUNCTION_HASH || function == ISO_FUNCTION_HASH_MURMUR2 || function == ISO_FUNCTION_HASH_FNV1A;
  return (hash && count == 1) || (function == ISO_FUNCTION_PERMUTE && count == 2);
}

/* ---- arithmetic and comparison ---- */

static isoproof_status out_of_range(iso_script_function function, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_USAGE, "the result of %s does not fit an integer", functions[function].name);
}

static isoproof_status by_zero(isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_USAGE, "division by zero");
}

static isoproof_status of_doubles(iso_script_function function, double a, double b, iso_script_value *result) {
  switch (function) {
  case ISO_FUNCTION_ADD:
    *result = iso_script_double(a + b);
    break;
  case ISO_FUNCTION_SUBTRACT:
    *result = iso_script_double(a - b);
    break;
  case ISO_FUNCTION_MULTIPLY:
    *result = iso_script_double(a * b);
    break;
  case ISO_FUNCTION_DIVIDE:
    *result = iso_script_double(a / b);
    break;
  case ISO_FUNCTION_EQUAL:
    *result = iso_script_boolean(a == b);
    break;
  case ISO_FUNCTION_DIFFERENT:
    *result = iso_script_boolean(a != b);
    break;
  case ISO_FUNCTION_LESS:
    *result = iso_script_boolean(a < b);
    break;
  case ISO_FUNCTION_AT_MOST:
    *result = iso_script_boolean(a <= b);
    break;
  case ISO_FUNCTION_GREATER:
    *result = iso_script_boolean(a > b);
    break;
  default:
    *result = iso_script_boolean(a >= b);
    break;
  }
  return ISOPROOF_OK;
}

static isoproof_status divide(int64_t a, int64_t b, int64_t *out, isoproof_error *error) {
  if (b == 0) return by_zero(error);
  if (b == -1) return __builtin_sub_overflow(0, a, out) ? out_of_range(ISO_FUNCTION_DIVIDE, error) : ISOPROOF_OK;
  *out = a / b;
  return ISOPROOF_OK;
}

static isoproof_status calculate(iso_script_function function, int64_t a, int64_t b, iso_script_value *result,
                                 isoproof_error *error) {
  int64_t out = 0;
  bool over = false;
  if (function == ISO_FUNCTION_ADD) over = __builtin_add_overflow(a, b, &out);
  if (function == ISO_FUNCTION_SUBTRACT) over = __builtin_sub_overflow(a, b, &out);
  if (function == ISO_FUNCTION_MULTIPLY) over = __builtin_mul_overflow(a, b, &out);
  if (over) return out_of_range(function, error);
  if (function == ISO_FUNCTION_DIVIDE) ISO_TRY(divide(a, b, &out, error));
  *result = iso_script_integer(out);
  return ISOPROOF_OK;
}

static bool compare(iso_script_function function, int64_t a, int64_t b) {
  switch (function) {
  case ISO_FUNCTION_EQUAL:
    return a == b;
  case ISO_FUNCTION_DIFFERENT:
    return a != b;
  case ISO_FUNCTION_LESS:
    return a < b;
  case ISO_FUNCTION_AT_MOST:
    return a <= b;
  case ISO_FUNCTION_GREATER:
    return a > b;
  default:
    return a >= b;
  }
}

/* One double among the two makes both double. */
static isoproof_status arithmetic(iso_script_function function, const iso_script_value *v, iso_script_value *result,
                                  isoproof_error *error) {
  if (v[0].type == ISO_SCRIPT_DOUBLE || v[1].type == ISO_SCRIPT_DOUBLE) {
    double a, b;
    ISO_TRY(iso_script_to_double(v[0], &a, error));
    ISO_TRY(iso_script_to_double(v[1], &b, error));
    return of_doubles(function, a, b, result);
  }
  int64_t a, b;
  ISO_TRY(iso_script_to_integer(v[0], &a, error));
  ISO_TRY(iso_script_to_integer(v[1], &b, error));
  if (function <= ISO_FUNCTION_DIVIDE) return calculate(function, a, b, result, error);
  *result = iso_script_boolean(compare(function, a, b));
  return ISOPROOF_OK;
}

static isoproof_status of_integers(iso_script_function function, const iso_script_value *v, iso_script_value *result,
                                   isoproof_error *error) {
  int64_t a, b, out;
  ISO_TRY(iso_script_to_integer(v[0], &a, error));
  ISO_TRY(iso_script_to_integer(v[1], &b, error));
  switch (function) {
  case ISO_FUNCTION_MODULO:
    if (b == 0) return by_zero(error);
    out = b == -1 ? 0 : a % b;
    break;
  case ISO_FUNCTION_BIT_AND:
    out = a & b;
    break;
  case ISO_FUNCTION_BIT_OR:
    out = a | b;
    break;
  case ISO_FUNCTION_BIT_XOR:
    out = a ^ b;
    break;
  case ISO_FUNCTION_SHIFT_LEFT:
    out = (int64_t)((uint64_t)a << (b & 63));
    break;
  default: {
    unsigned by = (unsigned)(b & 63);
    uint64_t sign = a < 0 && by > 0 ? UINT64_MAX << (64 - by) : 0;
    out = (int64_t)((uint64_t)a >> by | sign);
    break;
  }
  }
  *result = iso_script_integer(out);
  return ISOPROOF_OK;
}

/* ---- functions of one number, and extremes ---- */

static isoproof_status absolute(iso_script_value v, iso_script_value *result, isoproof_error *error) {
  if (v.type == ISO_SCRIPT_DOUBLE) {
    *result = iso_script_double(fabs(v.real));
    return ISOPROOF_OK;
  }
  int64_t number;
  ISO_TRY(iso_script_to_integer(v, &number, error));
  if (number == INT64_MIN) return out_of_range(ISO_FUNCTION_ABS, error);
  *result = iso_script_integer(number < 0 ? -number : number);
  return ISOPROOF_OK;
}

static isoproof_status of_one_double(iso_script_function function, iso_script_value v, iso_script_value *result,
                                     isoproof_error *error) {
  double x;
  ISO_TRY(iso_script_to_double(v, &x, error));
  if (function == ISO_FUNCTION_SQRT) x = sqrt(x);
  if (function == ISO_FUNCTION_LN) x = log(x);
  if (function == ISO_FUNCTION_EXP) x = exp(x);
  *result = iso_script_double(x);
  return ISOPROOF_OK;
}

static isoproof_status extreme(iso_script_function function, const iso_script_value *v, size_t count,
                               iso_script_value *result, isoproof_error *error) {
  bool least = function == ISO_FUNCTION_LEAST, doubles = false;
  for (size_t i = 0; i < count; i++) doubles |= v[i].type == ISO_SCRIPT_DOUBLE;
  for (size_t i = 0; i < count; i++) {
    double x = 0;
    int64_t n = 0;
    if (doubles)
      ISO_TRY(iso_script_to_double(v[i], &x, error));
    else
      ISO_TRY(iso_script_to_integer(v[i], &n, error));
    iso_script_value one = doubles ? iso_script_double(x) : iso_script_integer(n);
    bool better = i == 0;
    if (i > 0 && doubles) better = least ? x < result->real : x > result->real;
    if (i > 0 && !doubles) better = least ? n < result->integer : n > result->integer;
    if (better) *result = one;
  }
  return ISOPROOF_OK;
}

/* ---- random numbers, hashes ---- */

static isoproof_status check_parameter(iso_script_function function, double parameter, isoproof_error *error) {
  if (function == ISO_FUNCTION_RANDOM_GAUSSIAN && !(parameter >= 2))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "random_gaussian: expected a parameter of at least 2, found %g",
                    parameter);
  if (function == ISO_FUNCTION_RANDOM_EXPONENTIAL && !(parameter > 0))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "random_exponential: expected a parameter greater than 0, found %g",
                    parameter);
  if (function == ISO_FUNCTION_RANDOM_ZIPFIAN && !(parameter >= 1.001 && parameter <= 1000))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "random_zipfian: expected a parameter from 1.001 to 1000, found %g",
                    parameter);
  return ISOPROOF_OK;
}

static isoproof_status draw(iso_script_function function, const iso_script_value *v, iso_script_random *random,
                            iso_script_value *result, isoproof_error *error) {
  int64_t low, high, width, drawn;
  double parameter = 0;
  ISO_TRY(iso_script_to_integer(v[0], &low, error));
  ISO_TRY(iso_script_to_integer(v[1], &high, error));
  if (low > high) return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: the range is empty", functions[function].name);
  if (__builtin_sub_overflow(high, low, &width) || width == INT64_MAX)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: the range is too large", functions[function].name);
  if (function != ISO_FUNCTION_RANDOM) ISO_TRY(iso_script_to_double(v[2], &parameter, error));
  ISO_TRY(check_parameter(function, parameter, error));
  if (function == ISO_FUNCTION_RANDOM)
    drawn = iso_script_random_uniform(random, low, high);
  else if (function == ISO_FUNCTION_RANDOM_GAUSSIAN)
    drawn = iso_script_random_gaussian(random, low, high, parameter);
  else if (function == ISO_FUNCTION_RANDOM_EXPONENTIAL)
    drawn = iso_script_random_exponential(random, low, high, parameter);
  else
    drawn = iso_script_random_zipfian(random, low, high, parameter);
  *result = iso_script_integer(drawn);
  return ISOPROOF_OK;
}

static isoproof_status hash(iso_script_function function, const iso_script_value *v, iso_script_value *result,
                            isoproof_error *error) {
  int64_t value, seed;
  ISO_TRY(iso_script_to_integer(v[0], &value, error));
  ISO_TRY(iso_script_to_integer(v[1], &seed, error));
  *result = iso_script_integer(function == ISO_FUNCTION_HASH_FNV1A ? iso_script_hash_fnv1a(value, seed)
                                                                   : iso_script_hash_murmur2(value, seed));
  return ISOPROOF_OK;
}

static isoproof_status permute(const iso_script_value *v, iso_script_value *result, isoproof_error *error) {
  int64_t value, size, seed;
  ISO_TRY(iso_script_to_integer(v[0], &value, error));
  ISO_TRY(iso_script_to_integer(v[1], &size, error));
  ISO_TRY(iso_script_to_integer(v[2], &seed, error));
  if (size <= 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "permute: expected a size greater than 0");
  *result = iso_script_integer(iso_script_permute(value, size, seed));
  return ISOPROOF_OK;
}

/* ---- all ---- */

static isoproof_status power(const iso_script_value *v, iso_script_value *result, isoproof_error *error) {
  double a, b;
  ISO_TRY(iso_script_to_double(v[0], &a, error));
  ISO_TRY(iso_script_to_double(v[1], &b, error));
  *result = iso_script_double(pow(a, b));
  return ISOPROOF_OK;
}

/* Of the same type and, if that is boolean, the same: what follows IS is null, true or false. */
static bool is(iso_script_value a, iso_script_value b) {
  return a.type == b.type && (a.type != ISO_SCRIPT_BOOLEAN || a.boolean == b.boolean);
}

static isoproof_status of_one(iso_script_function function, iso_script_value v, iso_script_value *result,
                              isoproof_error *error) {
  int64_t integer;
  bool boolean;
  switch (function) {
  case ISO_FUNCTION_NOT:
    ISO_TRY(iso_script_to_boolean(v, &boolean, error));
    *result = iso_script_boolean(!boolean);
    return ISOPROOF_OK;
  case ISO_FUNCTION_ABS:
    return absolute(v, result, error);
  case ISO_FUNCTION_DEBUG:
    *result = v;
    return ISOPROOF_OK;
  case ISO_FUNCTION_INT:
    ISO_TRY(iso_script_to_integer(v, &integer, error));
    *result = iso_script_integer(integer);
    return ISOPROOF_OK;
  default:
    return of_one_double(function, v, result, error);
  }
}

isoproof_status iso_script_function_call(iso_script_function function, const iso_script_value *v, size_t count,
                                         iso_script_random *random, iso_script_value *result, isoproof_error *error) {
  *result = iso_script_null();
  if (function == ISO_FUNCTION_IS) {
    *result = iso_script_boolean(is(v[0], v[1]));
    return ISOPROOF_OK;
  }
  for (size_t i = 0; i < count; i++)
    if (v[i].type == ISO_SCRIPT_NULL) return ISOPROOF_OK;
  if (function <= ISO_FUNCTION_AT_LEAST) return arithmetic(function, v, result, error);
  if (function <= ISO_FUNCTION_SHIFT_RIGHT) return of_integers(function, v, result, error);
  switch (function) {
  case ISO_FUNCTION_LEAST:
  case ISO_FUNCTION_GREATEST:
    return extreme(function, v, count, result, error);
  case ISO_FUNCTION_PI:
    *result = iso_script_double(M_PI);
    return ISOPROOF_OK;
  case ISO_FUNCTION_POW:
  case ISO_FUNCTION_POWER:
    return power(v, result, error);
  case ISO_FUNCTION_RANDOM:
  case ISO_FUNCTION_RANDOM_GAUSSIAN:
  case ISO_FUNCTION_RANDOM_EXPONENTIAL:
  case ISO_FUNCTION_RANDOM_ZIPFIAN:
    return draw(function, v, random, result, error);
  case ISO_FUNCTION_HASH:
  case ISO_FUNCTION_HASH_MURMUR2:
  case ISO_FUNCTION_HASH_FNV1A:
    return hash(function, v, result, error);
  case ISO_FUNCTION_PERMUTE:
    return permute(v, result, error);
  default:
    return of_one(function, v[0], result, error);
  }
}
