// What constructors take, as values: how registered classes keep their settings in bytes.
//
//   struct Mlp : nn::Module {
//     explicit Mlp(std::int64_t width);
//     auto arguments() const { return std::tuple(width_); }
//   };
//   nn::register_class<Mlp>("Mlp");
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/layers/upsample.h>
#include <tessera/nn/make.h>
#include <tessera/nn/state/class_registry.h>
#include <tessera/nn/value.h>

namespace tessera::nn {
namespace detail {

/// Options of a constructor, whose `each(options, f)` calls `f(name, field)` for those fields that
/// are kept: not for initialisers and tensors, which end in slots.
template <class T>
concept OptionFields = requires(T& options) {
  T::each(options, [](std::string_view, auto&) {});
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
concept WholeNumber = (std::integral<T> && !std::same_as<T, bool>) || std::is_enum_v<T>;

// One argument, or field of options, as a value.
[[nodiscard]] Value to_value(const Dims& numbers);
[[nodiscard]] Value to_value(const PerDim& numbers);
[[nodiscard]] Value to_value(const ConvPadding& padding);
[[nodiscard]] Value to_value(const ScaleFactor& factors);
template <class T>
[[nodiscard]] Value to_value(const T& argument) {
  if constexpr (OptionFields<T>) {
    Value::Map fields;
    T::each(argument,
            [&](std::string_view name, const auto& field) { fields.set(name, to_value(field)); });
    return fields;
  } else if constexpr (kIsOptional<T>) {
    return argument ? to_value(*argument) : Value();
  } else if constexpr (WholeNumber<T>) {
    return static_cast<std::int64_t>(argument);
  } else {
    return argument;
  }
}

/// Throws ValueError for a number that none of [least, most] is.
[[nodiscard]] std::int64_t whole_number(const Value& value, std::int64_t least, std::int64_t most);
/// Throws ValueError for fields beyond `known`.
void check_fields(const Value::Map& fields, std::size_t known);

/// The inverse of `to_value`. Throws InvalidArgument for a value of another form.
template <class T>
[[nodiscard]] T from_value(const Value& value) {
  if constexpr (OptionFields<T>) {
    const auto& fields = value.get<Value::Map>();
    std::size_t known = 0;
    T options;
    T::each(options, [&](std::string_view name, auto& field) {
      field = from_value<std::remove_cvref_t<decltype(field)>>(fields.at(name));
      ++known;
    });
    check_fields(fields, known);
    return options;
  } else if constexpr (kIsOptional<T>) {
    return value.empty() ? T() : T(from_value<typename T::value_type>(value));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(whole_number(value, 0, 255));
  } else if constexpr (WholeNumber<T>) {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(whole_number(value, Limits::min(), Limits::max()));
  } else {
    return value.get<T>();
  }
}
template <>
[[nodiscard]] Dims from_value<Dims>(const Value& value);
template <>
[[nodiscard]] PerDim from_value<PerDim>(const Value& value);
template <>
[[nodiscard]] ConvPadding from_value<ConvPadding>(const Value& value);
template <>
[[nodiscard]] ScaleFactor from_value<ScaleFactor>(const Value& value);

/// What M's constructor takes: what `arguments` gives, or nothing.
template <class M>
struct ArgumentsOf {
  using Tuple = std::tuple<>;
  static Tuple of(const M&) { return {}; }
};
template <class M>
requires requires(const M& module) {
  module.arguments();
}
struct ArgumentsOf<M> {
  using Tuple = decltype(std::declval<const M&>().arguments());
  static Tuple of(const M& module) { return module.arguments(); }
};

/// The config of a module of exactly class M.
template <class M>
[[nodiscard]] Value arguments_value(const Module& module) {
  Value::List values;
  std::apply([&](const auto&... argument) { (values.push_back(to_value(argument)), ...); },
             ArgumentsOf<M>::of(static_cast<const M&>(module)));
  return values;
}

/// A new module from it. Throws InvalidArgument for a config that `arguments_value` does not give.
template <class M>
[[nodiscard]] ModulePtr make_from_arguments(const Value& config) {
  using Tuple = typename ArgumentsOf<M>::Tuple;
  const auto& values = config.get<Value::List>();
  check<ValueError>(values.size() == std::tuple_size_v<Tuple>, "wrong number of arguments; got ",
                    values.size(), ", expected ", std::tuple_size_v<Tuple>);
  return [&]<std::size_t... i>(std::index_sequence<i...>)->ModulePtr {
    return make<M>(from_value<std::tuple_element_t<i, Tuple>>(values[i])...);
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>());
}

template <class M>
[[nodiscard]] RegisteredClass registered_class(std::string name) {
  return {&typeid(M), std::move(name), make_from_arguments<M>, arguments_value<M>};
}

}  // namespace detail

/// Lets modules of exactly class M be read from bytes, as nn/state/serialize.h has it, without a
/// factory. `arguments` of M gives what its constructor takes, as a tuple of numbers, bools, texts,
/// enumerators, sizes and options with `each`; without it the constructor takes nothing. Throws
/// KeyError for a name or class that is registered already.
template <std::derived_from<Module> M>
void register_class(const std::string& name) {
  detail::add_class(detail::registered_class<M>(name));
}

}  // namespace tessera::nn
