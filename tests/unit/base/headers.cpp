// The public headers in C++: they compile, and a struct that carries its size is easy to make.
#include <isoproof/isoproof.h>

template <typename Struct> static Struct sized() {
  Struct made{};
  made.struct_size = sizeof made;
  return made;
}

bool count(const isoproof_history *history, uint64_t *operations) {
  isoproof_counts counts = sized<isoproof_counts>();
  if (!isoproof_history_counts(history, &counts)) return false;
  *operations = counts.operations;
  return true;
}
