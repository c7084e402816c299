// Normalisation of every channel of every sample.
#pragma once

#include <tuple>

#include <tessera/nn/layers/running_norm.h>

namespace tessera::nn {

using InstanceNormOptions = BasicRunningNormOptions<false>;

/// Every channel of every sample of x (N, C, ...), or of one sample (C, ...), brought to mean 0 and
/// variance 1, times weight plus bias (Ulyanov et al., "Instance Normalization", 2016). Where
/// statistics are tracked, those of the samples are averaged (variances with divisor n - 1), and
/// the running ones are used in evaluation.
class InstanceNorm : public RunningNorm {
 public:
  /// Throws ValueError for an x of the wrong number of dims or channels, and for channels of a
  /// single value unless running statistics are used.
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const InstanceNormOptions given = options();
    return std::tuple(num_features(), given);
  }

 protected:
  InstanceNorm(std::int64_t num_features, const InstanceNormOptions& options, int ndim)
      : RunningNorm(num_features, options), ndim_(ndim) {}
  void infer_sizes(const Tensor& x) {
    check_ndim(x, ndim_ - 1, ndim_);
    RunningNorm::infer_sizes(x.size(1 - ndim_));
  }

 private:
  [[nodiscard]] Tensor normalize(const Tensor& x) const;
  void track_samples(const Tensor& x) const;

  int ndim_;  ///< of x with a batch
};

/// x (N, C, L) or (C, L).
class InstanceNorm1d : public InstanceNorm {
 public:
  explicit InstanceNorm1d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm(num_features, options, 3) {}
};

/// x (N, C, H, W) or (C, H, W).
class InstanceNorm2d : public InstanceNorm {
 public:
  explicit InstanceNorm2d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm(num_features, options, 4) {}
};

/// x (N, C, D, H, W) or (C, D, H, W).
class InstanceNorm3d : public InstanceNorm {
 public:
  explicit InstanceNorm3d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm(num_features, options, 5) {}
};

}  // namespace tessera::nn
