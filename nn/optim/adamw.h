// AdamW.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;

  /// Throws InvalidArgument naming the option that cannot be meant.
  void validate() const;
  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("lr", options.lr);
    f("beta1", options.beta1);
    f("beta2", options.beta2);
    f("eps", options.eps);
    f("weight_decay", options.weight_decay);
  }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight Decay
/// Regularization", ICLR 2019), with the formulas of torch.optim.AdamW. Keeps two tensors a
/// parameter, `exp_avg` and `exp_avg_sq`.
class AdamW : public OptimizerWith<AdamWOptions> {
 public:
  explicit AdamW(const std::vector<nn::Parameter>& parameters, const AdamWOptions& options = {});
  /// Without parameters: see `add_group`.
  AdamW();

 private:
  void update(std::size_t group, std::int64_t step, std::span<const Range> ranges,
              double scale) override;
};

}  // namespace tessera::optim
