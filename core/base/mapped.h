// Lists made of other ranges.
#pragma once

#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

/// What `f` gives for each element of `range`, in order.
template <std::ranges::input_range R, class F>
[[nodiscard]] auto mapped(R&& range, const F& f) {
  using T = std::invoke_result_t<const F&, std::ranges::range_reference_t<R>>;
  std::vector<std::remove_cvref_t<T>> list;
  if constexpr (std::ranges::sized_range<R>) {
    list.reserve(std::ranges::size(range));
  }
  for (auto&& element : range) {
    list.push_back(std::invoke(f, std::forward<decltype(element)>(element)));
  }
  return list;
}

}  // namespace tessera
