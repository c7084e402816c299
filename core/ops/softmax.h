// Softmax along a dim, and its gradient.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera {

struct Softmax : AlongDim<1> {
  static constexpr OpInfo info{
      .name = "softmax", .doc = "exp(x) / sum(exp(x)) along a dim", .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// Inputs: gradient and y = softmax(x). Output: y (gradient - sum(gradient y)).
struct SoftmaxBackward : AlongDim<2> {
  static constexpr OpInfo info{.name = "softmax_backward",
                               .doc = "the gradient of softmax, from its output",
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// exp(x) / sum(exp(x)) along `dim`, computed without overflow. A row of nothing but
/// -inf is nan, and so is one that holds a nan or +inf.
[[nodiscard]] Tensor softmax(const Tensor& x, int dim);

}  // namespace tessera
