// Stochastic gradient descent.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;

  /// Throws InvalidArgument naming the option that cannot be meant.
  void validate() const;
  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("lr", options.lr);
    f("momentum", options.momentum);
    f("dampening", options.dampening);
    f("weight_decay", options.weight_decay);
    f("nesterov", options.nesterov);
  }
};

/// Stochastic gradient descent, with momentum and Nesterov's look-ahead by the formulas of
/// torch.optim.SGD (Sutskever et al., "On the importance of initialization and momentum in deep
/// learning", ICML 2013). Keeps one tensor a parameter, `momentum_buffer`.
class Sgd : public OptimizerWith<SgdOptions> {
 public:
  explicit Sgd(const std::vector<nn::Parameter>& parameters, const SgdOptions& options = {});
  /// Without parameters: see `add_group`.
  Sgd();

 private:
  void update(std::size_t group, std::int64_t step, std::span<const Range> ranges,
              double scale) override;
  [[nodiscard]] bool has_state(std::size_t group) const override;
};

}  // namespace tessera::optim
