// Sums over rows in an order that depends on the shape of a microbatch alone.
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
  [[nodiscard]] bool are_result(bool stacked) const {
    return blocks_per_cut == 1 && (stacked || cuts == 1);
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
/// out[cuts, columns] when `stacked`. Destroys `sums`.
void add_blocks(const RowBlocks&, float* sums, std::int64_t stride, std::int64_t columns,
                bool stacked, float* out);

/// Sums that tasks form block by block, each of the size of the result: in the result itself where
/// they are it, otherwise in memory of their own until `finish`. `result` is that of add_blocks.
class BlockSums {
 public:
  BlockSums(const RowBlocks&, std::int64_t size, bool stacked, float* result);

  [[nodiscard]] float* of(std::int64_t block) const { return sums_ + block * size_; }
  /// All are formed: adds them.
  void finish();

 private:
  const RowBlocks& blocks_;
  std::int64_t size_;
  bool stacked_;
  float* result_;
  HeldBlock held_;
  float* sums_;
};

/// out[columns] = sum over rows of x[rows, columns] (f32 or bf16), e.g. the gradient of a bias.
void sum_rows(DType, const void* x, std::int64_t rows, std::int64_t columns, std::int64_t cuts,
              bool stacked, float* out);

}  // namespace tessera::cpu
