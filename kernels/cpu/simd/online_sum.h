// The sum of exponentials of a row in one walk through memory. After simd/begin.h, math.h and
// columns.h.
#pragma once

#include <cstdint>

namespace tessera::cpu::TESSERA_ISA {

/// Sum of e^(x - top) over blocks of a row, where top is the largest value so far: sums are
/// rescaled when it grows. While a block's terms are formed, the largest value of the next one is
/// looked for, so that reading and arithmetic overlap.
template <class T>
class OnlineSum {
  using V = VectorOf<T>;
  using Number = NumberOf<T>;

 public:
  static constexpr std::int64_t kBlock = 512;

  /// The whole row.
  [[gnu::always_inline]] OnlineSum(const T* x, std::int64_t columns) {
    raise(largest_of(x, columns < kBlock ? columns : kBlock));
    for (; columns >= 2 * kBlock; columns -= kBlock, x += kBlock) {
      raise(add<true>(x, kBlock));
    }
    if (columns > kBlock) {
      add<false>(x, kBlock);
      columns -= kBlock, x += kBlock;
      raise(largest_of(x, columns));
    }
    add<false>(x, columns);
  }

  [[nodiscard]] Number top() const { return top_; }
  [[nodiscard]] Number total() const { return sum(sums_[0] + sums_[1]); }

 private:
  [[gnu::always_inline]] void raise(Number top) {
    if (top > top_) {
      const V keep = exp_of_difference(set1(top_) - set1(top));
      sums_[0] = sums_[0] * keep;
      sums_[1] = sums_[1] * keep;
      top_ = top;
    }
  }

  /// The largest value of the block behind, if asked for.
  template <bool kLooksBehind>
  [[gnu::always_inline]] Number add(const T* x, std::int64_t count) {
    const V shift = set1(top_);
    V tops[2] = {set1(kLowest<T>), set1(kLowest<T>)};
    each_column_in_turns<kLanesOf<T>>(
        count, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          if (kLooksBehind) {
            fetch_far_ahead(x + j);
            tops[chain] = max(load(x + kBlock + j), tops[chain]);
          }
          sums_[chain] = sums_[chain] + exp_of_difference(load_filled(x + j, w, kNoTerm) - shift);
        });
    return largest(max(tops[0], tops[1]));
  }

  Number top_ = kLowest<T>;
  V sums_[2] = {V{}, V{}};
};

}  // namespace tessera::cpu::TESSERA_ISA
