// Tiles of convolutions, and how their operands lie in memory.
#pragma once

#include <array>

#include <tessera/kernels/cpu/convolution.h>
#include <tessera/kernels/cpu/onednn_reorder.h>

namespace tessera::cpu::onednn {

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
