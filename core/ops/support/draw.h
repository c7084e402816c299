// Random numbers for the elements of a tensor: of which sample's stream, and which of its numbers.
//
// Note [Keys are attributes]. A draw's key is made where a public function is called and goes with
// the call, whole: backward makes the mask of its forward anew, and by then the context may be in
// another step, or have drawn more. A key that kernels took from the context would need the tape to
// keep seed and step of each call.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/box.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// One draw for all elements of a tensor. With the elements counted in row-major order inside a
/// microbatch, element i belongs to sample first_sample + samples * microbatch + i / per_sample and
/// has offset i % per_sample in it.
struct Draw {
  std::uint64_t key = 0;          ///< of the draw
  std::int64_t first_sample = 0;  ///< index in the global batch of the tensor's first sample
  std::int64_t samples = 1;       ///< in a microbatch
  std::int64_t per_sample = 1;    ///< elements
  Box box{};                      ///< what an operand holds of the tensor; of no dims: all

  /// What `x`, an operand, holds.
  [[nodiscard]] Box box_of(const TensorImpl& x) const {
    return box.whole.empty() ? Box::all_of(x.shape) : box;
  }
  void fields(auto&& see) const {
    see("key", key), see("first_sample", first_sample), see("samples", samples),
        see("per_sample", per_sample), see("box", box);
  }
  friend bool operator==(const Draw&, const Draw&) = default;
};

/// The running module's next draw, for the elements of `x`: dealt to the samples of the context's
/// pass; without one dim 0 holds the samples. In a StepDraws all microbatches are one sample.
[[nodiscard]] Draw new_draw(const Tensor& x);

/// `x` or, when it is equal for all microbatches of the context's pass, one copy of it for each:
/// what is drawn for it differs.
[[nodiscard]] Tensor for_each_drawing(const Tensor& x);

/// Which number of which sample each element of an operand gets.
class DrawnNumbers {
 public:
  DrawnNumbers(const Draw& draw, const TensorImpl& x);

  struct Index {
    std::int64_t sample = 0;  ///< its index in the global batch
    std::int64_t offset = 0;  ///< in the sample
  };
  /// The number of the operand's element at `index`.
  [[nodiscard]] Index operator()(const Dims& index) const;

 private:
  const Draw& draw_;
  Dims offset_;
  int cut_dim_;
  std::int64_t microbatch_size_;  ///< entries of a microbatch along it
  Strides strides_;               ///< of a microbatch of the whole tensor
};

}  // namespace tessera
