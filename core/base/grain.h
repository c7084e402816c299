// The grain: into how many microbatches a global batch is cut, and how they are dealt to ranks.
//
// The weights depend on the grain and not on the number of ranks (docs/determinism.md), so everyone
// who deals with microbatches takes the rule from here.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

/// Consecutive microbatches [first, first + count).
struct MicrobatchRange {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend bool operator==(const MicrobatchRange&, const MicrobatchRange&) = default;
};

/// The largest power of two up to 8 that divides `batch`, a positive number of samples.
[[nodiscard]] std::int64_t default_grain(std::int64_t batch);

/// Throws InvalidArgument, naming the nearest numbers that work, when `grain` is no power of two,
/// does not divide `batch`, or is less than `ranks`.
void check_grain(std::int64_t batch, std::int64_t grain, int ranks);

/// The microbatches of `rank`: contiguous shares that differ by at most one, longer ones first.
/// Needs grain >= ranks.
[[nodiscard]] MicrobatchRange share_of_rank(std::int64_t grain, int ranks, int rank);

/// Cuts `range` into blocks that are subtrees of the balanced binary tree over microbatches: each
/// has a power of two of them, at most `largest`, and begins at a multiple of its size.
[[nodiscard]] std::vector<MicrobatchRange> aligned_blocks(MicrobatchRange range,
                                                          std::int64_t largest = INT64_MAX);

}  // namespace tessera
