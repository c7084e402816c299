// Values of any kind: what hooks see of a call, and what a module saves besides tensors.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <tessera/core/base/ordered_map.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// Nothing, a bool, an integer, a real, a text, bytes, a tensor, a list or map of values, or, for
/// what is passed on only, anything.
class Value {
 public:
  using List = std::vector<Value>;
  using Map = OrderedMap<Value>;
  using Bytes = std::vector<std::byte>;
  /// A value of a type of the caller's own.
  struct Object {
    std::any held;
  };

  // None is inline: every file would compile the visits of the variant.
  Value();
  Value(bool value);
  Value(std::int64_t value);
  Value(int value);
  Value(double value);
  Value(std::string value);
  Value(const char* value);
  Value(Bytes value);
  /// An undefined tensor is nothing.
  Value(Tensor value);
  Value(List value);
  Value(Map value);
  explicit Value(Object value);
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  [[nodiscard]] bool empty() const { return std::holds_alternative<std::monostate>(value_); }
  template <class T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(value_);
  }
  /// Throws TypeError when the value is of another kind.
  template <class T>
  [[nodiscard]] const T& get() const {
    const T* found = std::get_if<T>(&value_);
    if (found == nullptr) {
      fail_kind(Value(T{}));
    }
    return *found;
  }
  /// The tensor; undefined for nothing. Throws TypeError for other kinds.
  [[nodiscard]] Tensor tensor() const;
  /// "a tensor", "a list".
  [[nodiscard]] const char* kind() const;

 private:
  [[noreturn]] void fail_kind(const Value& expected) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Tensor, List, Map,
               Object>
      value_;
};

/// `value` with what `f` makes of it in place of every tensor in its lists and maps.
[[nodiscard]] Value map_tensors(const Value& value, const std::function<Tensor(const Tensor&)>& f);

/// Calls `visit` for the tensors in `value` and in its lists and maps, in order.
void each_tensor(const Value& value, const auto& visit) {
  if (value.is<Tensor>()) {
    visit(value.tensor());
  } else if (value.is<Value::List>()) {
    for (const Value& part : value.get<Value::List>()) {
      each_tensor(part, visit);
    }
  } else if (value.is<Value::Map>()) {
    for (const auto& [name, part] : value.get<Value::Map>()) {
      each_tensor(part, visit);
    }
  }
}

/// The positional arguments of a call, and those by name.
using Args = Value::List;
using Kwargs = Value::Map;

}  // namespace tessera::nn
