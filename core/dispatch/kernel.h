// What a kernel sees: inputs, outputs and workspace that the runtime allocated, the stream, and how
// sums over microbatches are wanted.
#pragma once

#include <span>

#include <tessera/core/device/stream.h>
#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

/// Arguments of a kernel. Kernels read inputs, write every element of every output, and do nothing
/// else: they allocate no outputs, know no autograd, and wait for nothing.
class Kernel {
 public:
  Kernel(const char* op, std::span<TensorImpl* const> inputs, std::span<TensorImpl* const> outputs)
      : op_(op), inputs_(inputs), outputs_(outputs) {}

  [[nodiscard]] const char* op() const { return op_; }
  [[nodiscard]] int input_count() const { return static_cast<int>(inputs_.size()); }
  [[nodiscard]] int output_count() const { return static_cast<int>(outputs_.size()); }
  [[nodiscard]] bool has_input(int i) const {
    return i < input_count() && inputs_[static_cast<std::size_t>(i)] != nullptr;
  }
  [[nodiscard]] const TensorImpl& input(int i = 0) const {
    return *inputs_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] TensorImpl& output(int i = 0) const {
    return *outputs_[static_cast<std::size_t>(i)];
  }
  /// All inputs, null where there is none: for the runtime, which puts others in their place.
  [[nodiscard]] std::span<TensorImpl* const> inputs() const { return inputs_; }

  /// Number of microbatches that a sum over the batch must be cut into; 1 means one plain sum. More
  /// than 1 only for ops that declare `sums_microbatches`. The inputs know along which dim.
  [[nodiscard]] std::int32_t microbatch_count() const { return microbatch_count_; }
  /// True when the pieces are wanted one by one, as a new dim 0 of the reduced outputs; otherwise
  /// they are added along the balanced binary tree over microbatches.
  [[nodiscard]] bool per_microbatch() const { return per_microbatch_; }
  /// The stream that a kernel which is called on the host puts its work into.
  [[nodiscard]] const StreamId& stream() const { return stream_; }
  void set_stream(const StreamId& stream) { stream_ = stream; }
  /// Memory of the size that the kernel was registered to need (RegisterKernel), aligned to 64. It
  /// holds nothing yet.
  [[nodiscard]] std::byte* workspace() const { return workspace_; }
  void set_workspace(std::byte* workspace) { workspace_ = workspace; }
  void set_microbatches(std::int32_t count, bool per_microbatch) {
    microbatch_count_ = count;
    per_microbatch_ = per_microbatch;
  }

 private:
  const char* op_;
  std::span<TensorImpl* const> inputs_;
  std::span<TensorImpl* const> outputs_;
  std::int32_t microbatch_count_ = 1;
  bool per_microbatch_ = false;
  StreamId stream_;
  std::byte* workspace_ = nullptr;
};

}  // namespace tessera
