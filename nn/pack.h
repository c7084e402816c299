// Arguments and results of typed forwards as values, and back.
#pragma once

#include <any>
#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/core/base/mapped.h>
#include <tessera/nn/value.h>

namespace tessera::nn::detail {

template <class T>
inline constexpr bool kIsTuple = false;
template <class... T>
inline constexpr bool kIsTuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool kIsTuple<std::pair<A, B>> = true;

/// What a value can hold as such; everything else travels as an object of its own type.
template <class T>
concept HasKind = std::same_as<T, Value> || std::same_as<T, Tensor> || std::same_as<T, bool> ||
    std::integral<T> || std::floating_point<T> || std::same_as<T, std::string> ||
    std::same_as<T, std::vector<Tensor>> || std::same_as<T, std::optional<Tensor>> ||
    std::same_as<T, Value::List> || std::same_as<T, Value::Map>;

template <class T>
Value pack(const T& x) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    return static_cast<std::int64_t>(x);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(x);
  } else if constexpr (std::same_as<T, std::optional<Tensor>>) {
    return x.value_or(Tensor());
  } else if constexpr (std::same_as<T, std::vector<Tensor>>) {
    return Value::List(x.begin(), x.end());
  } else if constexpr (kIsTuple<T>) {
    return std::apply([](const auto&... part) { return Value(Value::List{pack(part)...}); }, x);
  } else if constexpr (HasKind<T>) {
    return x;
  } else {
    return Value(Value::Object{x});
  }
}

template <class T>
T unpack(const Value& value);

template <class Tuple, std::size_t... I>
Tuple unpack_tuple(const Value::List& parts, std::index_sequence<I...>) {
  check<TypeError>(parts.size() == sizeof...(I), "value: wrong number of parts; got ", parts.size(),
                   ", expected ", sizeof...(I));
  return Tuple{unpack<std::tuple_element_t<I, Tuple>>(parts[I])...};
}

/// Throws TypeError when `value` cannot be a T.
template <class T>
T unpack(const Value& value) {
  if constexpr (std::same_as<T, Value>) {
    return value;
  } else if constexpr (std::same_as<T, Tensor>) {
    return value.tensor();
  } else if constexpr (std::same_as<T, bool>) {
    return value.get<bool>();
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(value.get<std::int64_t>());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(value.is<std::int64_t>() ? static_cast<double>(value.get<std::int64_t>())
                                                   : value.get<double>());
  } else if constexpr (std::same_as<T, std::optional<Tensor>>) {
    return value.empty() ? std::nullopt : std::optional(value.tensor());
  } else if constexpr (std::same_as<T, std::vector<Tensor>>) {
    return mapped(value.get<Value::List>(), &Value::tensor);
  } else if constexpr (kIsTuple<T>) {
    return unpack_tuple<T>(value.get<Value::List>(),
                           std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (HasKind<T>) {
    return value.get<T>();
  } else {
    const T* object = std::any_cast<T>(&value.get<Value::Object>().held);
    check<TypeError>(object != nullptr, "value: holds an object of another type");
    return *object;
  }
}

}  // namespace tessera::nn::detail
