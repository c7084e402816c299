#include <tessera/nn/optim/gradient_norm.h>

#include <algorithm>

#include <tessera/core/ops/block_squares.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/optim/flat_range.h>

namespace tessera::optim {

static_assert(BlockSquares::kBlock == nn::kNormBlock);

std::vector<double> sums_by_block(std::span<const GradientPart> parts) {
  std::vector<Tensor> runs;
  std::vector<std::int64_t> places;  // of each run's first block
  runs.reserve(parts.size());
  places.reserve(parts.size());
  std::int64_t blocks = 0;
  for (const auto& [gradient, range] : parts) {
    check<InternalError>(range.count == 0 || range.first % nn::kNormBlock == 0,
                         "gradient norm: the range at ", range.first, " is not cut at a block");
    if (range.count > 0) {
      runs.push_back(flat_range(gradient, range));
      places.push_back(blocks + range.first / nn::kNormBlock);
    }
    blocks += BlockSquares::blocks(gradient->numel());
  }
  std::vector<double> sums(static_cast<std::size_t>(blocks), 0.0);
  if (!runs.empty()) {
    const Tensor squares = to_host(block_squares(runs));
    const auto* next = squares.data<double>();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::int64_t count = BlockSquares::blocks(runs[i].numel());
      std::copy_n(next, count, sums.begin() + places[i]);
      next += count;
    }
  }
  return sums;
}

}  // namespace tessera::optim
