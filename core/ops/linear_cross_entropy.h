// The head of a language model: logits = x weight^T and their mean cross entropy, without ever
// holding all logits.
//
// Note [Gradients in forward]. Logits exist a few rows at a time, and making them again in backward
// would cost a third of the head's time. So forward under autograd turns them into gradients at
// once: it computes the loss and, for the gradient that backward will most likely bring (1 / grain
// where all rows count, see Tensor::backward), the gradients of x and weight. Backward hands them
// on as they are, or scaled when the incoming gradient is another power of two times that. Powers
// of two round nothing, so this gives the bits that computing with the incoming gradient would
// give. In any other case (gradients that are no powers of two or differ between microbatches, a
// weight that other dense ops use as well, memory that was needed for another gradient meanwhile)
// backward computes logits and gradients anew.
//
// The weight's gradient is written where it will be summed (OpInfo::early_gradient), else into
// memory that becomes the gradient itself: there is no second buffer in either case.
//
// Note [Order of sums]. The weight's gradient is summed inside every 256 rows of a microbatch,
// these sums are added in row order, and microbatches along the tree. So `max_bytes` and the number
// of microbatches in a pass change no bits.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct LinearCrossEntropyAttrs {
  std::int64_t ignore_index = -100;  ///< rows with this target count nothing
  double label_smoothing = 0;
  std::int64_t max_bytes = 0;  ///< of logits held at a time; at least 256 rows are
  DType dtype = DType::f32;    ///< factors of products are rounded to it, gradients of logits too
  bool gradients = false;      ///< of x and weight are wanted: outputs 1 and 2
  double expected = 1;  ///< gradient of each microbatch's loss that they are computed for ...
  double elements = 0;  ///< ... where so many rows count, in proportion else; 0: in any case
  /// The gradient that is expected of a microbatch of which `counted` rows count.
  [[nodiscard]] double expected_of(double counted) const {
    return elements > 0 ? counted / elements * expected : expected;
  }
  void fields(auto&& see) const {
    see("ignore_index", ignore_index), see("label_smoothing", label_smoothing),
        see("max_bytes", max_bytes), see("dtype", dtype), see("gradients", gradients),
        see("expected", expected), see("elements", elements);
  }
  friend bool operator==(const LinearCrossEntropyAttrs&, const LinearCrossEntropyAttrs&) = default;
};

/// Inputs: x (..., n), weight (V, n), targets (...) of an integer dtype. Outputs: the mean loss of
/// each microbatch, () or (microbatches), f32 or f64; the gradients of x and weight in their
/// dtypes, the latter summed over the microbatches, if wanted.
struct LinearCrossEntropy {
  static constexpr OpInfo info{.name = "linear_cross_entropy",
                               .doc = "mean cross entropy of the logits x weight^T",
                               .sees_microbatches = true,
                               .saved_inputs = 0b111,
                               .saved_outputs = 0b110,
                               .kept_outputs = 0b100,
                               .early_gradient = {.input = 1, .output = 2}};
  using Attrs = LinearCrossEntropyAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: the gradient of the loss, () or (microbatches); x, weight, targets. Outputs: the
/// gradients of x and weight.
struct LinearCrossEntropyBackward {
  static constexpr OpInfo info{.name = "linear_cross_entropy_backward",
                               .doc = "the gradients of linear_cross_entropy",
                               .differentiable = false,
                               .sees_microbatches = true};
  struct Attrs {
    LinearCrossEntropyAttrs head;
    bool per_microbatch =
        false;  ///< the weight's gradient is (microbatches, V, n), one a microbatch
    void fields(auto&& see) const { see("head", head), see("per_microbatch", per_microbatch); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
};

struct LinearCrossEntropyOptions {
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
};

/// Mean cross entropy of the logits x (..., n) weight^T (V, n) with the classes `targets` (...),
/// over the rows that are not ignored, as `cross_entropy` has it. TESSERA_HEAD_BYTES bounds the
/// logits held at a time. Throws InvalidArgument for a target outside [0, V) that is not
/// `ignore_index`.
[[nodiscard]] Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight,
                                          const Tensor& targets,
                                          const LinearCrossEntropyOptions& options = {});

}  // namespace tessera
