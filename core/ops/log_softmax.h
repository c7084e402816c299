// The logarithm of softmax along a dim, and its gradient.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera {

struct LogSoftmax : AlongDim<1> {
  static constexpr OpInfo info{
      .name = "log_softmax", .doc = "x - log(sum(exp(x))) along a dim", .saved_outputs = 0b1};
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// Inputs: gradient and y = log_softmax(x). Output: gradient - exp(y) sum(gradient).
struct LogSoftmaxBackward : AlongDim<2> {
  static constexpr OpInfo info{.name = "log_softmax_backward",
                               .doc = "the gradient of log_softmax, from its output",
                               .saved_inputs = 0b11};
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// x - log(sum(exp(x))) along `dim`, computed without overflow. A row of nothing but -inf is nan,
/// and so is one that holds a nan or +inf.
[[nodiscard]] Tensor log_softmax(const Tensor& x, int dim);

}  // namespace tessera
