// Softmax along a dim, and its gradient.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Softmax {
  static constexpr OpInfo info{
      .name = "softmax", .doc = "exp(x) / sum(exp(x)) along a dim", .saved_outputs = 0b1};
  struct Attrs {
    int dim = -1;  ///< in [0, ndim)
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient and y = softmax(x). Output: y (gradient - sum(gradient y)).
struct SoftmaxBackward {
  static constexpr OpInfo info{.name = "softmax_backward",
                               .doc = "the gradient of softmax, from its output",
                               .saved_inputs = 0b11};
  using Attrs = Softmax::Attrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// exp(x) / sum(exp(x)) along `dim`, computed without overflow. A row of nothing but -inf is NaN.
[[nodiscard]] Tensor softmax(const Tensor& x, int dim);

}  // namespace tessera
