// Samples become a batch.
#pragma once

#include <array>
#include <concepts>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/mapped.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/rows.h>

namespace tessera::data {
namespace detail {

/// Pairs, tuples and arrays.
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept Number = std::is_arithmetic_v<T>;
/// A struct that shows its tensors: `x.each_tensor(f)` calls f(Tensor&) for each.
template <class T>
concept ShowsTensors = requires(T& x) {
  x.each_tensor([](Tensor&) {});
};

template <class T>
inline constexpr bool kKnown = false;

/// A C++ number's own tensor: whole numbers are i64, as class numbers have to be.
template <Number T>
Tensor collate_numbers(const std::vector<T>& samples) {
  using Element = std::conditional_t<std::integral<T> && !std::same_as<T, bool>, std::int64_t, T>;
  Tensor batch = empty({static_cast<std::int64_t>(samples.size())}, {.dtype = dtype_of<Element>});
  std::copy(samples.begin(), samples.end(), batch.data<Element>());
  return batch;
}

}  // namespace detail

/// Tensors are stacked, (...) to (samples, ...); numbers become a tensor (samples,), whole ones
/// i64; texts a list; pairs, tuples and arrays the same of each part. Other types need a function
/// of their own.
struct DefaultCollate {
  template <class S>
  auto operator()(std::vector<S> samples) const {
    if constexpr (std::same_as<S, Tensor>) {
      return stack_samples(samples);
    } else if constexpr (detail::Number<S>) {
      return detail::collate_numbers(samples);
    } else if constexpr (std::same_as<S, std::string>) {
      return samples;
    } else if constexpr (detail::TupleLike<S>) {
      return parts<S>(samples, std::make_index_sequence<std::tuple_size_v<S>>());
    } else {
      static_assert(detail::kKnown<S>, "samples of this type need a collate function");
    }
  }

 private:
  template <class S, std::size_t... I>
  auto parts(std::vector<S>& samples, std::index_sequence<I...>) const {
    return join<S>((*this)(column<I>(samples))...);
  }
  template <std::size_t I, class S>
  static auto column(std::vector<S>& samples) {
    return mapped(samples, [](S& sample) { return std::move(std::get<I>(sample)); });
  }
  template <class S, class... Columns>
  static auto join(Columns... columns) {
    if constexpr (requires { typename S::first_type; }) {
      return std::pair(std::move(columns)...);
    } else if constexpr (requires { typename S::value_type; }) {
      return std::array{std::move(columns)...};
    } else {
      return std::tuple(std::move(columns)...);
    }
  }
};

/// Calls f(Tensor&) for every tensor of a batch: a tensor, a pair, tuple, array, list or map of
/// them, or a struct that has `each_tensor`.
template <class T, class F>
void each_tensor(T& batch, const F& f) {
  if constexpr (std::same_as<T, Tensor>) {
    f(batch);
  } else if constexpr (detail::ShowsTensors<T>) {
    batch.each_tensor(f);
  } else if constexpr (detail::TupleLike<T>) {
    std::apply([&](auto&... part) { (each_tensor(part, f), ...); }, batch);
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (auto& [key, part] : batch) {
      each_tensor(part, f);
    }
  } else if constexpr (std::ranges::range<T> && !std::same_as<T, std::string>) {
    for (auto& part : batch) {
      each_tensor(part, f);
    }
  } else {
    static_assert(std::same_as<T, std::string> || detail::Number<T>,
                  "a batch of this type needs a member each_tensor(f)");
  }
}

}  // namespace tessera::data
