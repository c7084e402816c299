// The sum of exponentials of a row in one walk through memory. After simd/begin.h, math.h and
// columns.h.
#pragma once

#include <cstdint>

namespace tessera::cpu::TESSERA_ISA {

/// Sum of e^(x - top) over blocks of a row, where top is the largest value so far: sums are
/// rescaled when it grows. A block is read twice while it lies in the first cache.
template <class T>
class OnlineSum {
 public:
  static constexpr std::int64_t kBlock = 512;

  /// The whole row.
  [[gnu::always_inline]] OnlineSum(const T* x, std::int64_t columns) {
    for (std::int64_t j = 0; j < columns; j += kBlock) {
      add(x + j, columns - j < kBlock ? columns - j : kBlock);
    }
  }

  [[nodiscard]] float top() const { return top_; }
  [[nodiscard]] float total() const { return sum(sums_[0] + sums_[1]); }

 private:
  [[gnu::always_inline]] void add(const T* x, std::int64_t count) {
    const float top = largest_of(x, count);
    if (top > top_) {
      const VF keep = exp_of_difference(set1(top_) - set1(top));
      sums_[0] = sums_[0] * keep;
      sums_[1] = sums_[1] * keep;
      top_ = top;
    }
    const VF shift = set1(top_);
    each_column_in_turns(
        count, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
          __builtin_prefetch(x + kBlock + j);
          sums_[chain] = sums_[chain] + exp_of_difference(load_filled(x + j, w, kLowest) - shift);
        });
  }

  float top_ = kLowest;
  VF sums_[2] = {zero(), zero()};
};

}  // namespace tessera::cpu::TESSERA_ISA
