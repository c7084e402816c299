// How a matrix product is cut up: along k into segments, over C into blocks and tiles.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

namespace tessera::cpu {

[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return divide_up(a, b) * b;
}

/// A run of k that is packed and multiplied at once; runs never cross the borders of pieces.
struct Segment {
  std::int64_t begin = 0, depth = 0;
  std::int64_t words = 0;
  std::int64_t offset = 0;    ///< words of k before it in packed data
  bool starts_piece = false;  ///< sums begin at 0
  bool ends_piece = false;
  bool starts_cut = false;  ///< first segment of one of the equal parts
  bool ends_cut = false;
};

struct GemmPlan {
  std::vector<Segment> segments;
  std::int64_t words = 0;       ///< of all segments
  std::int64_t block_rows = 0;  ///< rows of A packed at a time
  std::int64_t tile_rows = 0, tile_columns = 0;
  bool direct = false;         ///< sums may be formed in C itself
  bool share_columns = false;  ///< B is packed once for all tiles, not by every tile for itself
};

template <class Sum>
[[nodiscard]] GemmPlan plan_gemm(const Gemm&, const ProductKernelOf<Sum>&);
/// Segments are whole pieces, and all of C is one block.
[[nodiscard]] GemmPlan plan_library_gemm(const Gemm&);

/// The columns of B that are one tile wide, over one segment.
[[nodiscard]] PackBlock columns_of(const Gemm&, const Segment&, std::int64_t column,
                                   std::int64_t columns);
/// Where the columns of a tile begin in data packed as [segment][panel][word][column in panel].
template <class Sum>
[[nodiscard]] std::int64_t columns_offset(const Gemm& g, const ProductKernelOf<Sum>& kernel,
                                          const Segment& s, std::int64_t column) {
  return s.offset * round_up(g.n, kernel.columns) + column * s.words;
}

}  // namespace tessera::cpu
