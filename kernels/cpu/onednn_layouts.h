// Tiles of convolutions, and how their operands lie in memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include <tessera/kernels/cpu/convolution.h>
#include <tessera/kernels/cpu/onednn.h>

namespace tessera::cpu::onednn {

/// Memory that is given later.
[[nodiscard]] dnnl::memory without_data(const dnnl::memory::desc& desc);

/// A copy of whole runs of 16 channels: planes, as tensors are, to lines of 16, as oneDNN's nChw16c
/// is, or of all channels, as its nhwc, or back. Several times as fast as oneDNN's own.
struct ChannelReorder {
  std::int64_t samples = 0, blocks = 0, positions = 0;
  std::int64_t step = 0;  ///< elements from sample to sample of the planes
  bool whole_lines = false;
  DType dtype = DType::f32;
  bool to_lines = false;

  void operator()(const void* from, void* to) const;
};

/// What brings a weight's gradient in f32 from lines (taps, 16 in, 16 out), as OIhw16i16o is, to
/// dense planes.
struct WeightReorder {
  std::int64_t out_blocks = 0, in_blocks = 0, taps = 0;

  void operator()(const void* from, void* to) const;
};

/// A copy between two layouts of a tensor, or nothing where they are equal. Of one thread.
class Reorder {
 public:
  Reorder() = default;
  explicit Reorder(std::function<void(const void* from, void* to)> copy)
      : needed_(true), copy_(std::move(copy)) {}
  Reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  [[nodiscard]] bool needed() const { return needed_; }
  void run(const void* from, void* to);

 private:
  bool needed_ = false;
  std::function<void(const void*, void*)> copy_;  ///< our own, or none
  dnnl::reorder primitive_;
  dnnl::memory from_, to_;
};

/// Some samples of a convolution and, without groups, some channels.
struct ConvolutionTile {
  ConvolutionResult result = ConvolutionResult::y;
  ConvolutionGeometry shape;      ///< of the tile
  std::int64_t x_channels = 0;    ///< of the whole x, which lie between two samples
  std::int64_t y_channels = 0;    ///< of the whole y
  std::array<DType, 3> dtypes{};  ///< of x, weight and y in memory
  DType compute = DType::f32;
  bool bias = false;

  friend bool operator==(const ConvolutionTile&, const ConvolutionTile&) = default;
};

/// The last spatial sizes, two or three.
[[nodiscard]] dnnl::memory::dims spatial(const ConvolutionGeometry& g, const Spatial& sizes);

/// Sizes of x, weight and y.
[[nodiscard]] std::array<dnnl::memory::dims, 3> dims_of(const ConvolutionGeometry& g);

/// What brings an operand (x, weight, y) from where it lies into `inner`, or out of it for the
/// result.
[[nodiscard]] Reorder reorder_of(const ConvolutionTile& tile, std::size_t operand,
                                 const dnnl::memory::desc& inner);

}  // namespace tessera::cpu::onednn
