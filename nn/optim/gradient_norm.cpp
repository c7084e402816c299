#include <tessera/nn/optim/gradient_norm.h>

#include <algorithm>
#include <array>

#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/elements.h>

namespace tessera::optim {
namespace {

constexpr std::int64_t kLanes = 16;

/// Squares of f32 are exact in f64, so that fused and separate multiplication agree.
template <class T>
double squares(const T* data, std::int64_t count) {
  std::array<double, kLanes> lanes{};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto x = convert<double>(data[i + lane]);
      lanes[static_cast<std::size_t>(lane)] += x * x;
    }
  }
  for (std::int64_t i = whole; i < count; ++i) {
    const auto x = convert<double>(data[i]);
    lanes[static_cast<std::size_t>(i - whole)] += x * x;
  }
  double sum = 0;
  for (const double lane : lanes) {
    sum += lane;
  }
  return sum;
}

/// One block of one tensor.
struct Block {
  const TensorImpl* tensor;
  std::int64_t first;
  std::int64_t count;
  std::size_t at;  ///< its place in the result
};

std::vector<Block> blocks_of(std::span<const GradientPart> parts, std::size_t& total) {
  std::vector<Block> blocks;
  for (const auto& [gradient, range] : parts) {
    check<InternalError>(range.first % nn::kNormBlock == 0, "gradient norm: range at ", range.first,
                         " is not cut at a block");
    const std::int64_t end = range.first + range.count;
    for (std::int64_t first = range.first; first < end; first += nn::kNormBlock) {
      blocks.push_back({&gradient.get(), first, std::min(nn::kNormBlock, end - first),
                        total + static_cast<std::size_t>(first / nn::kNormBlock)});
    }
    total += static_cast<std::size_t>(norm_blocks(gradient.numel()));
  }
  return blocks;
}

}  // namespace

std::vector<double> block_squares(std::span<const GradientPart> parts) {
  std::size_t total = 0;
  const std::vector<Block> blocks = blocks_of(parts, total);
  std::vector<double> sums(total, 0.0);
  parallel_for(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t i) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    sums[block.at] = visit_dtype(block.tensor->dtype, [&]<class T>() -> double {
      return squares(block.tensor->data<T>() + block.first, block.count);
    });
  });
  return sums;
}

}  // namespace tessera::optim
