// A serial convolution of one shape by oneDNN, with what brings its operands into the layouts that
// oneDNN wants.
#pragma once

#include <array>
#include <unordered_map>

#include <tessera/kernels/cpu/convolution.h>
#include <tessera/kernels/cpu/onednn.h>
#include <tessera/kernels/cpu/onednn_layouts.h>

namespace tessera::cpu::onednn {

/// The memory of a tile's x, weight and y; the result's is written.
using Operands = std::array<char*, 3>;

/// The primitive of a tile; of one thread.
class TileConvolution {
 public:
  explicit TileConvolution(const ConvolutionTile& tile);

  /// Bytes of a weight in oneDNN's layout.
  [[nodiscard]] std::size_t weight_bytes() const { return inner_[1].get_size(); }
  /// Brings a weight into oneDNN's layout, for all tiles that read it.
  void prepare_weight(const char* weight, char* prepared) { reorders_[1].run(weight, prepared); }
  /// False when oneDNN reads the weight as it is.
  [[nodiscard]] bool prepares_weight() const { return reorders_[1].needed(); }

  /// Computes the tile; a weight that is read is a prepared one.
  void run(const Operands& operands, const float* bias);

 private:
  [[nodiscard]] std::size_t scratch_bytes(std::size_t operand) const;

  std::size_t result_;
  dnnl::primitive primitive_;
  std::array<dnnl::memory::desc, 3> inner_;
  std::array<Reorder, 3> reorders_;  ///< into oneDNN's layout, or out of it for the result
  std::array<dnnl::memory, 3> memory_;
  dnnl::memory bias_, scratchpad_;
  std::size_t scratchpad_bytes_ = 0;
  std::unordered_map<int, dnnl::memory> arguments_;
};

/// The calling thread's own for `tile`.
[[nodiscard]] TileConvolution& tile_convolution(const ConvolutionTile& tile);

}  // namespace tessera::cpu::onednn
