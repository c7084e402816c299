// The logarithm of softmax along a dim, and its gradient.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct LogSoftmax {
  static constexpr OpInfo info{
      .name = "log_softmax", .doc = "x - log(sum(exp(x))) along a dim", .saved_outputs = 0b1};
  struct Attrs {
    int dim = -1;  ///< in [0, ndim)
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient and y = log_softmax(x). Output: gradient - exp(y) sum(gradient).
struct LogSoftmaxBackward {
  static constexpr OpInfo info{.name = "log_softmax_backward",
                               .doc = "the gradient of log_softmax, from its output",
                               .saved_inputs = 0b11};
  using Attrs = LogSoftmax::Attrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x - log(sum(exp(x))) along `dim`, computed without overflow.
[[nodiscard]] Tensor log_softmax(const Tensor& x, int dim);

}  // namespace tessera
