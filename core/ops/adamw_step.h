// One step of AdamW on many parameters.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Inputs, for each parameter: its value, gradient, mean of gradients, mean of squared gradients.
/// Outputs, for each: value and both means after the step.
struct AdamwStep {
  static constexpr OpInfo info{.name = "adamw_step",
                               .doc = "parameters and moments after a step of AdamW",
                               .differentiable = false};
  struct Attrs {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    std::int64_t step = 1;      ///< of these parameters, counted from 1
    double gradient_scale = 1;  ///< gradients are multiplied with it first
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Tensors of one parameter, of equal shape and dtype (f32 or f64), dense.
struct AdamwTensors {
  Tensor parameter;
  Tensor gradient;
  Tensor mean;
  Tensor square;
};

/// Takes a step of AdamW in place, with the formulas of torch.optim.AdamW (Loshchilov and Hutter,
/// arXiv:1711.05101). An element's bits do not depend on how parameters are cut into runs.
void adamw_step_(std::span<const AdamwTensors> parameters, const AdamwStep::Attrs& attrs);

}  // namespace tessera
