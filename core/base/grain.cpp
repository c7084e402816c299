#include <tessera/core/base/grain.h>

#include <algorithm>
#include <bit>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

std::int64_t power_below(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

std::int64_t power_above(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

/// The largest power of two that divides `n`.
std::int64_t power_in(std::int64_t n) {
  return n & -n;
}

void check_divides(std::int64_t batch, std::int64_t grain) {
  const std::int64_t below = batch / grain * grain;
  if (batch % grain == 0) {
    return;
  }
  const std::int64_t fits = std::min(power_in(batch), power_below(grain));
  const std::string nearest = below == 0
                                  ? std::to_string(grain)
                                  : std::to_string(below) + " or " + std::to_string(below + grain);
  fail<InvalidArgument>("grain: the batch is not divisible by it; got batch ", batch, " and grain ",
                        grain, ", expected batch ", nearest, ", or grain ", fits);
}

void check_ranks(std::int64_t batch, std::int64_t grain, int ranks) {
  if (ranks <= grain) {
    return;
  }
  const std::int64_t smallest = power_above(ranks);
  const std::int64_t whole = (batch + smallest - 1) / smallest * smallest;
  const std::string with_batch =
      whole == batch ? "" : " (which needs batch " + std::to_string(whole) + ")";
  fail<InvalidArgument>("grain: fewer microbatches than ranks; got grain ", grain, " and ", ranks,
                        " ranks, expected grain ", smallest, with_batch, ", or at most ", grain,
                        grain == 1 ? " rank" : " ranks");
}

}  // namespace

std::int64_t default_grain(std::int64_t batch) {
  check(batch >= 1, "grain: the batch is empty; got ", batch, ", expected at least 1");
  return std::min<std::int64_t>(power_in(batch), 8);
}

void check_grain(std::int64_t batch, std::int64_t grain, int ranks) {
  check(batch >= 1, "grain: the batch is empty; got ", batch, ", expected at least 1");
  check(grain >= 1, "grain: too small; got ", grain, ", expected 1 or a larger power of two");
  if (power_below(grain) != grain) {
    fail<InvalidArgument>("grain: no power of two; got ", grain, ", expected ", power_below(grain),
                          " or ", power_above(grain));
  }
  check_divides(batch, grain);
  check_ranks(batch, grain, ranks);
}

MicrobatchRange share_of_rank(std::int64_t grain, int ranks, int rank) {
  check(ranks >= 1 && ranks <= grain, "grain: more ranks than microbatches; got ", ranks,
        " ranks, expected 1 to ", grain);
  check(rank >= 0 && rank < ranks, "grain: no such rank; got ", rank, ", expected 0 to ",
        ranks - 1);
  const std::int64_t share = grain / ranks;
  const std::int64_t longer = grain % ranks;
  return {.first = rank * share + std::min<std::int64_t>(rank, longer),
          .count = share + (rank < longer ? 1 : 0)};
}

std::vector<MicrobatchRange> aligned_blocks(MicrobatchRange range, std::int64_t largest) {
  check(largest >= 1, "grain: blocks of no microbatch; got at most ", largest,
        " at once, expected at least 1");
  std::vector<MicrobatchRange> blocks;
  for (std::int64_t first = range.first; first < range.first + range.count;) {
    std::int64_t size = power_below(std::min(range.first + range.count - first, largest));
    size = first == 0 ? size : std::min(size, power_in(first));
    blocks.push_back({first, size});
    first += size;
  }
  return blocks;
}

}  // namespace tessera
