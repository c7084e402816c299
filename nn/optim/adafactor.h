// Adafactor.
#pragma once

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

/// Value of `eps1` that stands for the distance from 1 to the next number of the parameter's dtype.
inline constexpr double kEpsOfDType = -1;

struct AdafactorOptions {
  double lr = 1e-2;           ///< the largest relative rate
  double beta2_decay = -0.8;  ///< in step t means keep 1 - t^beta2_decay of themselves
  double eps1 = kEpsOfDType;  ///< least mean square, as its root
  double eps2 = 1e-3;         ///< least size of a parameter
  double d = 1;               ///< updates are clipped to this size
  double weight_decay = 0;    ///< decoupled
  bool maximize = false;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "beta2_decay", o.beta2_decay, "eps1", o.eps1, "eps2", o.eps2, "d",
                 o.d, "weight_decay", o.weight_decay, "maximize", o.maximize);
  }
};

/// Adafactor (Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost",
/// ICML 2018, Algorithms 4 and 5), with the formulas of torch.optim.Adafactor; sizes are root mean
/// squares. Of a parameter of two dims and more it keeps the mean squares of rows and columns,
/// `row_var` and `col_var`, else `variance`. Each parameter is updated by one rank. Rates, which
/// follow from sizes that are read back, and weights of means are computed on the host: a captured
/// step would freeze them.
class Adafactor : public OptimizerWith<AdafactorOptions> {
 public:
  using OptimizerWith::OptimizerWith;

 private:
  [[nodiscard]] StateKinds state_kinds(std::size_t group, const Shape& shape) const override;
  [[nodiscard]] bool elementwise() const override { return false; }
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

}  // namespace tessera::optim
