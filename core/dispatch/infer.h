// What an op's shape rule sees and sets.
#pragma once

#include <span>

#include <tessera/core/base/inline_vector.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Shape, dtype and device of an output to be. The pipeline sets the layout of microbatches; only
/// ops that declare `sees_microbatches` set it themselves.
struct OutputSpec {
  Shape shape;
  DType dtype = DType::f32;
  Device device{};
  MicrobatchLayout microbatches;
};

/// Throws MissingTensor: input `i` of `op` is an undefined tensor, or not there.
[[noreturn]] void fail_missing(const char* op, int i);

/// Inputs of a call and the specs of its outputs. A shape rule checks everything that can be wrong
/// with a call and throws InvalidArgument before anything is computed.
class Infer {
 public:
  Infer(const char* op, std::span<const TensorRef> inputs) : op_(op), inputs_(inputs) {}

  [[nodiscard]] const char* op() const { return op_; }
  [[nodiscard]] int input_count() const { return static_cast<int>(inputs_.size()); }
  /// Throws InvalidArgument when the call lacks this input.
  [[nodiscard]] const Tensor& input(int i = 0) const {
    if (!has_input(i)) [[unlikely]] {
      fail_missing(op_, i);
    }
    return inputs_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] bool has_input(int i) const {
    return i < input_count() && inputs_[static_cast<std::size_t>(i)]->defined();
  }

  /// Adds the next output, on the device of the first input.
  void add_output(const Shape& shape, DType dtype, MicrobatchLayout layout = {}) {
    outputs_.emplace_back(OutputSpec{shape, dtype, input(0).device(), layout});
  }

  [[nodiscard]] std::span<const OutputSpec> outputs() const { return outputs_; }
  [[nodiscard]] std::span<OutputSpec> outputs() { return {outputs_.data(), outputs_.size()}; }

 private:
  const char* op_;
  std::span<const TensorRef> inputs_;
  InlineVector<OutputSpec, 2> outputs_;
};

}  // namespace tessera
