// One step of Adam or AdamW on many parameters.
#pragma once

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {

/// Inputs: StepScalars and, for each parameter, its value, gradient, mean of gradients, mean of
/// squared gradients and, with amsgrad, the largest mean of squares so far. Outputs, for each:
/// value, means and largest after the step.
struct AdamwStep : ListStep<AdamwStep> {
  static constexpr OpInfo info{.name = "adamw_step",
                               .doc = "parameters and moments after a step of Adam or AdamW",
                               .differentiable = false};
  struct Attrs {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool decoupled = true;  ///< AdamW; false: Adam, whose weight decay is part of the gradient
    bool amsgrad = false;   ///< divides by the largest mean of squares so far
    void fields(auto&& see) const {
      see("beta1", beta1), see("beta2", beta2), see("eps", eps), see("weight_decay", weight_decay),
          see("decoupled", decoupled), see("amsgrad", amsgrad);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static int members(const Attrs& attrs) { return attrs.amsgrad ? 5 : 4; }
  static void reference(Kernel& k, const Attrs& attrs);
};

/// Takes a step in place, with the formulas of torch.optim.AdamW (Loshchilov and Hutter,
/// arXiv:1711.05101, Algorithm 2) or torch.optim.Adam (Kingma and Ba, arXiv:1412.6980, Algorithm
/// 1), with amsgrad after Reddi et al. (ICLR 2018, Algorithm 2). States: exp_avg, exp_avg_sq and,
/// with amsgrad, max_exp_avg_sq. An element's bits do not depend on how parameters are cut into
/// runs.
void adamw_step_(std::span<const StepTensors> parameters, const StepScalars& scalars,
                 const AdamwStep::Attrs& attrs);

}  // namespace tessera
