// One step of gradient descent on many parameters.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Inputs, for each parameter: its value, gradient and, with momentum, the momentum. Outputs, for
/// each: value and momentum after the step.
struct SgdStep {
  static constexpr OpInfo info{.name = "sgd_step",
                               .doc = "parameters and momenta after a step of gradient descent",
                               .differentiable = false};
  struct Attrs {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    bool first = false;         ///< the momentum begins as the gradient
    double gradient_scale = 1;  ///< gradients are multiplied with it first
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Tensors of one parameter, of equal shape and dtype (f32 or f64), dense.
struct SgdTensors {
  Tensor parameter;
  Tensor gradient;
  Tensor momentum;  ///< undefined for all or none
};

/// Takes a step of gradient descent in place, with the formulas of torch.optim.SGD. An element's
/// bits do not depend on how parameters are cut into runs.
void sgd_step_(std::span<const SgdTensors> parameters, const SgdStep::Attrs& attrs);

}  // namespace tessera
