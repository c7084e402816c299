// The inner parts of matrix products: packing, the register tile, and the way out.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu {

/// A block of `width` rows (of A) or columns (of B) and `depth` values of k, to be packed in
/// panels.
struct PackBlock {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t width_stride = 0;
  std::int64_t depth_stride = 0;
  std::int64_t width = 0;
  std::int64_t depth = 0;
};

/// What packed data for sums of this type is made of.
template <class Sum>
using WordOf = std::conditional_t<sizeof(Sum) == 8, std::uint64_t, std::uint32_t>;

/// What a register tile brings into the second cache while it multiplies: `step` bytes of packed
/// data beside each word of k.
struct Ahead {
  const char* data = nullptr;
  std::int64_t step = 0;

  [[gnu::always_inline]] void operator()(std::int64_t k) const {
    constexpr int kToRead = 0, kSecondCache = 2;
    __builtin_prefetch(data + k * step, kToRead, kSecondCache);
  }
};

/// What a register tile makes of the sums that are there.
enum class TileSum : std::uint8_t {
  fresh,      ///< nothing: it takes their place
  continued,  ///< its chains of multiply-adds go on from them
  added,      ///< its own sums are added to them
};

/// How one kind of arithmetic multiplies. Packed data is words as wide as a sum: one word holds
/// `depth_per_word` consecutive values of k. Words of k come in runs, filled up with zeros. A panel
/// of columns is [words of k][panel width], one of rows [runs of k][panel width][words of a run].
template <class Sum>
struct ProductKernelOf {
  using Word = WordOf<Sum>;
  int rows = 0;     ///< of the register tile
  int columns = 0;  ///< of the register tile
  int depth_per_word = 1;
  int words_of_run = 1;
  /// Words of k that are multiplied at once: panels of more would leave the first cache, with fewer
  /// tiles of C would be read and written more often.
  int words_at_once = 384;
  /// Panels of `rows`, the last one padded with zeros.
  void (*pack_rows)(const PackBlock&, Word* panels) = nullptr;
  /// Panels of `columns`, the last one padded with zeros.
  void (*pack_columns)(const PackBlock&, Word* panels) = nullptr;
  /// tile[height, columns] (rows `stride` apart) = or += A panel · B panel over `words` of k.
  void (*tile)(std::int64_t height, std::int64_t words, const Word* a, const Word* b, Sum* tile,
               std::int64_t stride, TileSum, const Ahead&) = nullptr;
  /// True where `tile` knows TileSum::added.
  bool adds = false;
  /// True where tiles may have any height up to `rows`; false: `rows` is the only one.
  bool any_height = false;
  /// Called on a thread before its tiles.
  void (*begin)() = nullptr;

  /// Words that `depth` values of k are packed into.
  [[nodiscard]] std::int64_t words_of(std::int64_t depth) const {
    const std::int64_t run = std::int64_t{depth_per_word} * words_of_run;
    return (depth + run - 1) / run * words_of_run;
  }
};
using ProductKernel = ProductKernelOf<float>;

/// A block of sums on its way to memory.
template <class Sum>
struct TileOut {
  const Sum* sums = nullptr;
  const Sum* more = nullptr;  ///< as many that are added to them; null for none
  std::int64_t stride = 0;
  std::int64_t rows = 0, columns = 0;
  const Sum* bias = nullptr;
  void* c = nullptr;
  DType c_dtype = DType::f32;
  std::int64_t c_stride = 0;
  bool accumulate = false;
  bool past_caches = false;  ///< C is f32 and so large that it bypasses them
};

/// C[m, n] = A · B of f32, n a multiple of the tile's columns.
struct SmallProduct {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t a_row = 0, a_step = 0;  ///< from row to row, along k
  const float* b = nullptr;
  std::int64_t b_step = 0, b_panel = 0;  ///< along k, from one tile's columns to the next
  float* c = nullptr;
  std::int64_t c_stride = 0;
};

struct ProductTable {
  ProductKernel f32;
  ProductKernel bf16;
  ProductKernelOf<double> f64;
  void (*finish)(const TileOut<float>&) = nullptr;
  void (*finish_f64)(const TileOut<double>&) = nullptr;
  void (*small)(const SmallProduct&) = nullptr;
};

}  // namespace tessera::cpu
