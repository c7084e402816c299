// Naming the fields of a struct of options.
#pragma once

namespace tessera {

/// Calls `f(name, field)` for each pair of a name and a field: what the `each` of options does.
template <class F, class Field, class... Rest>
void visit_fields(const F& f, const char* name, Field& field, Rest&... rest) {
  f(name, field);
  if constexpr (sizeof...(rest) > 0) {
    visit_fields(f, rest...);
  }
}

}  // namespace tessera
