// Losses of rows as means or sums over microbatches.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::cpu {

/// The rows of a batch: `cuts` microbatches of equal size, one after another.
struct LossRows {
  const std::int64_t* targets = nullptr;
  std::int64_t rows = 0, cuts = 1, ignore_index = -100;
  bool mean = true;  ///< over the rows that are not ignored; else a sum

  /// factors[row] = what the row's loss is multiplied with: 0 for an ignored one.
  template <class Number>
  void factors(Number* factors) const;
  /// Each microbatch's result. Rows are added in f64, in order inside blocks of 256, and so are
  /// the blocks.
  template <class Number>
  [[nodiscard]] std::vector<Number> reduce(const Number* losses) const;
  /// The number of a microbatch's rows that are not ignored.
  [[nodiscard]] double counted(std::int64_t cut) const;
};

}  // namespace tessera::cpu
