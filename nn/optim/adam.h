// Adam. (AdamW is in adamw.h.)
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

/// Options of Adam, and of AdamW, whose weight decay is decoupled from the gradient.
template <bool decoupled>
struct BasicAdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = decoupled ? 0.01 : 0;
  bool amsgrad = false;
  bool maximize = false;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "beta1", o.beta1, "beta2", o.beta2, "eps", o.eps, "weight_decay",
                 o.weight_decay, "amsgrad", o.amsgrad, "maximize", o.maximize);
  }
};

/// What Adam and AdamW share. Keeps two tensors a parameter, `exp_avg` and `exp_avg_sq`, and with
/// amsgrad (Reddi et al., "On the Convergence of Adam and Beyond", ICLR 2018) `max_exp_avg_sq`.
template <bool decoupled>
class BasicAdam : public OptimizerWith<BasicAdamOptions<decoupled>> {
 public:
  using OptimizerWith<BasicAdamOptions<decoupled>>::OptimizerWith;

 private:
  [[nodiscard]] std::vector<Optimizer::StateKind> state_kinds(std::size_t group,
                                                              const Shape& shape) const override;
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

using AdamOptions = BasicAdamOptions<false>;

/// Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015), with the formulas
/// of torch.optim.Adam: weight decay is added to the gradient.
class Adam : public BasicAdam<false> {
 public:
  using BasicAdam::BasicAdam;
};

}  // namespace tessera::optim
