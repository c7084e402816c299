// Sums along the last dim, and sums over rows in an order that depends on the shape of a
// microbatch alone.
//
// A microbatch's rows are taken in blocks, of kRowBlock unless said otherwise; a block is summed
// row by row, blocks are added in order, microbatches along the balanced binary tree.
#pragma once

#include <cstdint>

#include <tessera/core/device/allocator.h>
#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu {

inline constexpr std::int64_t kRowBlock = 32;

/// How `rows` rows in `cuts` equal parts fall into blocks.
struct RowBlocks {
  RowBlocks(std::int64_t rows, std::int64_t cuts, std::int64_t height = kRowBlock);

  std::int64_t cuts, height, rows_per_cut, blocks_per_cut;

  [[nodiscard]] std::int64_t count() const { return cuts * blocks_per_cut; }
  /// True when the sums of the blocks are the result: nothing is left to add.
  [[nodiscard]] bool are_result(bool per_microbatch) const {
    return blocks_per_cut == 1 && (per_microbatch || cuts == 1);
  }
  [[nodiscard]] std::int64_t first_row(std::int64_t block) const {
    return block / blocks_per_cut * rows_per_cut + block % blocks_per_cut * height;
  }
  [[nodiscard]] std::int64_t rows_of(std::int64_t block) const {
    const std::int64_t left = rows_per_cut - block % blocks_per_cut * height;
    return left < height ? left : height;
  }
};

/// Adds block sums[block * stride + i], i in [0, columns): into out[columns], or
/// out[cuts, columns] when `per_microbatch`. Destroys `sums`.
template <class Number>
void add_blocks(const RowBlocks&, Number* sums, std::int64_t stride, std::int64_t columns,
                bool per_microbatch, Number* out);

/// out[columns] = the rows of x[microbatches, columns], added along the balanced binary tree.
template <class Number>
void add_microbatches(const Number* x, std::int64_t microbatches, std::int64_t columns,
                      Number* out);

/// Sums that tasks form block by block, each of the size of the result: in the result itself where
/// they are it, otherwise in memory of their own until `finish`. `result` is that of add_blocks.
template <class Number>
class BlockSumsOf {
 public:
  BlockSumsOf(const RowBlocks& blocks, std::int64_t size, bool per_microbatch, Number* result)
      : blocks_(blocks),
        size_(size),
        per_microbatch_(per_microbatch),
        result_(result),
        sums_(result) {
    if (!blocks.are_result(per_microbatch)) {
      held_ = HeldMemory(static_cast<std::size_t>(blocks.count() * size) * sizeof(Number));
      sums_ = held_.as<Number>();
    }
  }

  [[nodiscard]] Number* of(std::int64_t block) const { return sums_ + block * size_; }
  /// All are formed: adds them.
  void finish() {
    if (sums_ != result_) {
      add_blocks(blocks_, sums_, size_, size_, per_microbatch_, result_);
    }
  }

 private:
  const RowBlocks& blocks_;
  std::int64_t size_;
  bool per_microbatch_;
  Number* result_;
  HeldMemory held_;
  Number* sums_;
};
using BlockSums = BlockSumsOf<float>;

/// out[columns] = sum over rows of x[rows, columns], e.g. the gradient of a bias: float of f32 or
/// bf16, double of f64.
template <class Number>
void sum_rows(DType, const void* x, std::int64_t rows, std::int64_t columns, std::int64_t cuts,
              bool per_microbatch, Number* out);

/// sums[r] = sum of row r of x[rows, columns] (f32, bf16 or f64). Blocks of 1024 columns are added
/// up in f32, of f64 in f64, their sums in order in double.
void sum_last(DType, const void* x, std::int64_t rows, std::int64_t columns, double* sums);

}  // namespace tessera::cpu
