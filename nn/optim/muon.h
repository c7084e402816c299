// Muon.
#pragma once

#include <array>

#include <tessera/nn/optim/groups.h>

namespace tessera::optim {

/// How the learning rate of a matrix of r rows and c columns follows from its shape.
enum class AdjustLr : std::uint8_t {
  original,            ///< lr sqrt(max(1, r / c))
  match_rms_adamw,     ///< 0.2 lr sqrt(max(r, c)): updates as large as AdamW's
  spectral_unclamped,  ///< lr sqrt(r / c)
};

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;  ///< decoupled
  double momentum = 0.95;
  bool nesterov = true;
  std::array<double, 3> ns_coefficients{3.4445, -4.775, 2.0315};  ///< of x, x^3 and x^5
  double eps = 1e-7;                                              ///< least norm to divide by
  int ns_steps = 5;                                               ///< Newton-Schulz iterations
  AdjustLr adjust_lr_fn = AdjustLr::original;

  /// Throws ValueError naming the option that cannot be meant.
  void validate() const;
  static void each(auto& o, const auto& f) {
    visit_fields(f, "lr", o.lr, "weight_decay", o.weight_decay, "momentum", o.momentum, "nesterov",
                 o.nesterov, "ns_coefficients.0", o.ns_coefficients[0], "ns_coefficients.1",
                 o.ns_coefficients[1], "ns_coefficients.2", o.ns_coefficients[2], "eps", o.eps,
                 "ns_steps", o.ns_steps, "adjust_lr_fn", o.adjust_lr_fn);
  }
};

/// Muon (Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024), with the
/// formulas of torch.optim.Muon: every step moves a matrix by its mean gradient, orthogonalised by
/// Newton-Schulz iterations. They run in f32 (f64 for f64 parameters), PyTorch's in bf16. Takes
/// parameters of two dims only; give the others to another optimizer. Keeps one tensor a parameter,
/// `momentum_buffer`. Each parameter is updated by one rank. The learning rate, decay, momentum and
/// gradient scale are numbers of the host: a captured step would freeze them.
class Muon : public OptimizerWith<MuonOptions> {
 public:
  explicit Muon(const std::vector<nn::Parameter>& parameters, const MuonOptions& options = {});
  template <Number... N>
  explicit Muon(const std::vector<nn::Parameter>&, N...) = delete;  // by name: {.lr = 0.1}
  /// Begins without parameters: see `add_group`.
  Muon() = default;

 private:
  [[nodiscard]] StateKinds state_kinds(std::size_t group, const Shape& shape) const override;
  [[nodiscard]] bool elementwise() const override { return false; }
  void check_parameter(const nn::Slot& slot) const override;
  void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
              double scale) override;
};

}  // namespace tessera::optim
