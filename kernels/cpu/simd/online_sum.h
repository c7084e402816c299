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

  [[nodiscard]] float top() const { return top_; }
  [[nodiscard]] float total() const { return sum(sums_[0] + sums_[1]); }

 private:
  [[gnu::always_inline]] void raise(float top) {
    if (top > top_) {
      const VF keep = exp_of_difference(set1(top_) - set1(top));
      sums_[0] = sums_[0] * keep;
      sums_[1] = sums_[1] * keep;
      top_ = top;
    }
  }

  /// The largest value of the block behind, if asked for.
  template <bool kLooksBehind>
  [[gnu::always_inline]] float add(const T* x, std::int64_t count) {
    const VF shift = set1(top_);
    VF tops[2] = {set1(kLowest), set1(kLowest)};
    each_column_in_turns(
        count, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          if (kLooksBehind) {
            fetch_far_ahead(x + j);
            tops[chain] = max(load(x + kBlock + j), tops[chain]);
          }
          sums_[chain] = sums_[chain] + exp_of_difference(load_filled(x + j, w, kNoTerm) - shift);
        });
    return largest(max(tops[0], tops[1]));
  }

  float top_ = kLowest;
  VF sums_[2] = {zero(), zero()};
};

}  // namespace tessera::cpu::TESSERA_ISA
