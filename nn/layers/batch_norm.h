// Normalisation of channels over the batch.
#pragma once

#include <tessera/core/tensor/microbatch_shape.h>
#include <tessera/nn/layers/running_norm.h>

namespace tessera::nn {

using BatchNormOptions = RunningNormOptions;

/// Every channel of x (N, C, ...) brought to mean 0 and variance 1 over all other dims, times
/// weight plus bias (Ioffe and Szegedy, "Batch Normalization", ICML 2015). In training, and where
/// no statistics are tracked, by the statistics of x, towards which the running ones are moved (the
/// variance with divisor n - 1); else by the running ones.
///
/// In a step of several microbatches each is normalised by its own statistics, and the running ones
/// become the mean of the microbatches' ones when the step ends; the log says so once.
class BatchNorm : public RunningNorm {
 public:
  /// Throws ValueError for an x of the wrong number of dims, and in training for one with a single
  /// value a channel.
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  [[nodiscard]] bool mixes_samples() const override;

 protected:
  BatchNorm(std::int64_t num_features, const BatchNormOptions& options, int least, int most)
      : RunningNorm(num_features, options), least_(least), most_(most) {}
  void infer_sizes(const Tensor& x) {
    check_ndim(x, least_, most_);
    RunningNorm::infer_sizes(unstacked_shape(x)[1]);
  }

 private:
  [[nodiscard]] Tensor normalize_and_track(const Tensor& x) const;
  void count_batch_and_track(const Tensor& mean, const Tensor& variance, double values) const;

  int least_, most_;  ///< dims of x
};

/// x (N, C) or (N, C, L).
class BatchNorm1d : public BatchNorm {
 public:
  explicit BatchNorm1d(std::int64_t num_features, const BatchNormOptions& options = {})
      : BatchNorm(num_features, options, 2, 3) {}
};

/// x (N, C, H, W).
class BatchNorm2d : public BatchNorm {
 public:
  explicit BatchNorm2d(std::int64_t num_features, const BatchNormOptions& options = {})
      : BatchNorm(num_features, options, 4, 4) {}
};

/// x (N, C, D, H, W).
class BatchNorm3d : public BatchNorm {
 public:
  explicit BatchNorm3d(std::int64_t num_features, const BatchNormOptions& options = {})
      : BatchNorm(num_features, options, 5, 5) {}
};

}  // namespace tessera::nn
