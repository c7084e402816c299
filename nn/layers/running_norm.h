// What batch norm and instance norm share: scale and shift of channels, and running statistics.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/module.h>
#include <tessera/nn/state/older_state.h>

namespace tessera::nn {

/// `by_default` is whether a norm has weights and running statistics if it is not asked.
template <bool by_default>
struct BasicRunningNormOptions {
  double eps = 1e-5;  ///< added to the variance
  /// Weight of the newest statistics; none: that of a plain average, and of instance norm 0.
  std::optional<double> momentum = 0.1;
  bool affine = by_default;               ///< with weight
  bool bias = true;                       ///< with bias, if affine
  bool track_running_stats = by_default;  ///< with running statistics

  static void each(auto& o, const auto& f) {
    visit_fields(f, "eps", o.eps, "momentum", o.momentum, "affine", o.affine, "bias", o.bias,
                 "track_running_stats", o.track_running_stats);
  }
  operator BasicRunningNormOptions<!by_default>() const {
    return {eps, momentum, affine, bias, track_running_stats};
  }
};

using RunningNormOptions = BasicRunningNormOptions<true>;

/// State over `num_features` channels, and how it is kept. Weights and running variances begin as
/// ones, biases and running means as zeros.
class RunningNorm : public Module, public ReadsOlderState {
 public:
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(num_features(), options_); }
  [[nodiscard]] std::string extra_repr() const override;
  /// 2, as PyTorch counts: since then `num_batches_tracked` is saved.
  [[nodiscard]] int state_version() const override { return 2; }
  /// Keeps the count of batches where the state is older than 2, or says nothing of its version.
  void take_older_state(LoadContext& context) const override;

  Parameter weight;            ///< (num_features); undefined when not affine
  Parameter bias;              ///< (num_features); undefined without bias
  Buffer running_mean;         ///< (num_features); undefined when statistics are not tracked
  Buffer running_var;          ///< (num_features); undefined when statistics are not tracked
  Buffer num_batches_tracked;  ///< i64, 0-d; undefined when statistics are not tracked

 protected:
  /// `num_features` may be kInferred. Throws ValueError unless it is positive.
  RunningNorm(std::int64_t num_features, const RunningNormOptions& options);
  /// Takes `features` for those that were inferred.
  void infer_sizes(std::int64_t features);

  /// Moves the running statistics by `factor` towards `mean` and `variance`, which are one for the
  /// whole pass or stacked, one a microbatch.
  void track(const Tensor& mean, const Tensor& variance, double factor) const;
  /// Throws ValueError unless `x` has from `least` to `most` dims.
  void check_ndim(const Tensor& x, int least, int most) const;

  /// Zero while they are not known.
  [[nodiscard]] std::int64_t num_features() const;
  [[nodiscard]] const RunningNormOptions& options() const { return options_; }

 private:
  std::int64_t num_features_;
  RunningNormOptions options_;
};

}  // namespace tessera::nn
