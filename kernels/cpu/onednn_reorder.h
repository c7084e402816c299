// Copies between oneDNN's layouts and ours.
#pragma once

#include <cstdint>
#include <optional>

#include <tessera/kernels/cpu/onednn.h>

namespace tessera::cpu::onednn {

/// Memory that is given later.
[[nodiscard]] dnnl::memory without_data(const dnnl::memory::desc& desc);

/// A copy of whole runs of 16 channels: planes, as tensors are, to lines of 16, as oneDNN's nChw16c
/// is, or back. Several times as fast as oneDNN's own.
struct ChannelBlocks {
  std::int64_t samples = 0, blocks = 0, positions = 0;
  std::int64_t step = 0;  ///< elements from sample to sample of the planes
  DType dtype = DType::f32;
  bool to_lines = false;

  void copy(const void* from, void* to) const;
};

/// A copy between two layouts of a tensor, or nothing where they are equal. Of one thread.
class Reorder {
 public:
  Reorder() = default;
  explicit Reorder(const ChannelBlocks& blocks) : needed_(true), blocks_(blocks) {}
  Reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  [[nodiscard]] bool needed() const { return needed_; }
  void run(const void* from, void* to);

 private:
  bool needed_ = false;
  std::optional<ChannelBlocks> blocks_;
  dnnl::reorder primitive_;
  dnnl::memory from_, to_;
};

}  // namespace tessera::cpu::onednn
