// Interpolation between positions, as a layer.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include <tessera/core/ops/upsample.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// Factors for spatial dims: one for all, or one for each.
class ScaleFactor {
 public:
  ScaleFactor(double all) : factors_{all}, single_(true) {}
  ScaleFactor(std::initializer_list<double> factors) : factors_(factors) {}
  explicit ScaleFactor(std::vector<double> factors) : factors_(std::move(factors)) {}

  [[nodiscard]] const std::vector<double>& factors() const { return factors_; }
  [[nodiscard]] bool single() const { return single_; }  ///< given as one number
  /// Prints what was given: 2.0 or (2.0, 1.5).
  friend std::ostream& operator<<(std::ostream& out, const ScaleFactor& s);

 private:
  std::vector<double> factors_;
  bool single_ = false;
};

/// One of size and scale_factor is given.
struct UpsampleOptions {
  std::optional<PerDim> size = {};
  std::optional<ScaleFactor> scale_factor = {};
  std::string mode = "nearest";  ///< or nearest-exact, linear, bilinear, trilinear, bicubic
  /// Whether the first and last positions meet, in all modes but the nearest ones.
  std::optional<bool> align_corners = {};

  static void each(auto& o, const auto& f) {
    visit_fields(f, "size", o.size, "scale_factor", o.scale_factor, "mode", o.mode, "align_corners",
                 o.align_corners);
  }
};

/// x (N, C, positions...) -> the same with more or fewer positions, interpolated. Throws ValueError
/// for an unknown mode, or unless one of size and scale_factor is given, InvalidArgument for
/// another number of spatial dims than the mode's.
[[nodiscard]] Tensor interpolate(const Tensor& x, const UpsampleOptions& options);

/// interpolate as a module.
class Upsample : public Module {
 public:
  /// Throws ValueError for an unknown mode, or unless one of size and scale_factor is given.
  explicit Upsample(const UpsampleOptions& options);
  /// Throws InvalidArgument for another number of spatial dims than the mode's.
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(options_); }
  [[nodiscard]] std::string extra_repr() const override;

 private:
  UpsampleOptions options_;
};

}  // namespace tessera::nn
