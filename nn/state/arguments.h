// What constructors take, as values: how classes of modules are written to bytes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/base/mapped.h>
#include <tessera/core/tensor/shape.h>
#include <tessera/nn/value.h>

namespace tessera::nn {

class ConvPadding;  // nn/layers/conv.h
class PerDim;       // nn/layers/per_dim.h
class ScaleFactor;  // nn/layers/upsample.h

}  // namespace tessera::nn

namespace tessera::nn::detail {

template <class T>
inline constexpr bool kNoArgument = false;

/// How a T becomes a value, and what it is again: `write` and `read`. Reading throws
/// InvalidArgument for what writing does not give, behind the names that lead there.
template <class T>
struct Argument {
  static_assert(kNoArgument<T>,
                "a constructor's argument is a bool, a number, a std::string, an enum, Dims, "
                "std::optional, std::vector or std::tuple of those, or a struct of options with "
                "`each`, see nn/state/serialize.h");
};

struct AnyField {
  template <class T>
  void operator()(const char* /*name*/, T& /*field*/) const {}
};
/// A struct of options that lists its fields: `each(options, f)` calls `f(name, field)` for each.
template <class T>
concept HasFields = requires(T& options, const T& fixed, const AnyField& f) {
  T::each(options, f);
  T::each(fixed, f);
};

template <class T>
concept Enum = std::is_enum_v<T>;
/// An enum whose values have texts: `names_of(value)` is an array with one for each from 0 on.
template <class T>
concept HasNames = Enum<T> && requires(T value) {
  std::span<const std::string_view>(names_of(value));
};

/// `read()`, whose complaints begin with `name`.
auto under_name(const std::string& name, const auto& read) {
  try {
    return read();
  } catch (const InvalidArgument& error) {
    fail<ValueError>(name, ": ", error.what());
  }
}

/// The place of a text among `names`. Throws ValueError when it is none of them.
[[nodiscard]] std::size_t place_of(const Value& text, std::span<const std::string_view> names);
/// Throws ValueError naming what is missing in `fields` or is none of `names`.
void check_fields(const Value::Map& fields, const std::vector<std::string>& names);
/// Throws ValueError unless `value` is a list of `count`.
[[nodiscard]] const Value::List& list_of(const Value& value, std::size_t count);

template <>
struct Argument<bool> {
  static Value write(bool x) { return x; }
  static bool read(const Value& value) { return value.get<bool>(); }
};

template <std::integral T>
struct Argument<T> {
  static Value write(T x) {
    check<Unsupported>(std::in_range<std::int64_t>(x), "serialize: too large an integer; got ", x);
    return static_cast<std::int64_t>(x);
  }
  static T read(const Value& value) {
    const auto x = value.get<std::int64_t>();
    check<ValueError>(std::in_range<T>(x), "an integer out of range; got ", x);
    return static_cast<T>(x);
  }
};

template <std::floating_point T>
struct Argument<T> {
  static Value write(T x) { return static_cast<double>(x); }
  static T read(const Value& value) { return static_cast<T>(value.get<double>()); }
};

template <>
struct Argument<std::string> {
  static Value write(const std::string& x) { return x; }
  static std::string read(const Value& value) { return value.get<std::string>(); }
};

/// The text of those that have one, else the number.
template <Enum T>
struct Argument<T> {
  using Number = std::underlying_type_t<T>;
  static Value write(T x) {
    if constexpr (HasNames<T>) {
      return std::string(names_of(x)[static_cast<std::size_t>(x)]);
    } else {
      return Argument<Number>::write(static_cast<Number>(x));
    }
  }
  static T read(const Value& value) {
    if constexpr (HasNames<T>) {
      return static_cast<T>(place_of(value, names_of(T())));
    } else {
      return static_cast<T>(Argument<Number>::read(value));
    }
  }
};

template <class T>
struct Argument<std::optional<T>> {
  static Value write(const std::optional<T>& x) { return x ? Argument<T>::write(*x) : Value(); }
  static std::optional<T> read(const Value& value) {
    return value.empty() ? std::nullopt : std::optional<T>(Argument<T>::read(value));
  }
};

template <class T>
struct Argument<std::vector<T>> {
  static Value write(const std::vector<T>& x) { return mapped(x, &Argument<T>::write); }
  static std::vector<T> read(const Value& value) {
    return mapped(value.get<Value::List>(), &Argument<T>::read);
  }
};

template <class... A>
struct Argument<std::tuple<A...>> {
  static Value write(const std::tuple<A...>& x) {
    return std::apply([](const A&... a) { return Value::List{Argument<A>::write(a)...}; }, x);
  }
  static std::tuple<A...> read(const Value& value) {
    return read_each(list_of(value, sizeof...(A)), std::index_sequence_for<A...>());
  }

 private:
  template <std::size_t... I>
  static std::tuple<A...> read_each([[maybe_unused]] const Value::List& list,
                                    std::index_sequence<I...> /*places*/) {
    return {under_name(tessera::detail::concat("argument ", I),
                       [&] { return Argument<A>::read(list[I]); })...};
  }
};

/// Options are written by name.
template <HasFields T>
struct Argument<T> {
  static Value write(const T& x) {
    Value::Map fields;
    T::each(x, [&]<class F>(const char* name, const F& field) {
      fields.set(name, Argument<F>::write(field));
    });
    return fields;
  }
  static T read(const Value& value) {
    const auto& fields = value.get<Value::Map>();
    T x = {};
    std::vector<std::string> names;
    T::each(x, [&](const char* name, const auto& /*field*/) { names.emplace_back(name); });
    check_fields(fields, names);
    T::each(x, [&]<class F>(const char* name, F& field) {
      field = under_name(name, [&] { return Argument<F>::read(fields.at(name)); });
    });
    return x;
  }
};

// Of Tessera's own classes: nn/state/arguments.cpp.

template <>
struct Argument<Dims> {
  static Value write(const Dims& x);
  static Dims read(const Value& value);
};

/// A single number is not a list of one.
template <>
struct Argument<PerDim> {
  static Value write(const PerDim& x);
  static PerDim read(const Value& value);
};

template <>
struct Argument<ConvPadding> {
  static Value write(const ConvPadding& x);
  static ConvPadding read(const Value& value);
};

template <>
struct Argument<ScaleFactor> {
  static Value write(const ScaleFactor& x);
  static ScaleFactor read(const Value& value);
};

}  // namespace tessera::nn::detail
