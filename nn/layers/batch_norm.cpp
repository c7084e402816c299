#include <tessera/nn/layers/batch_norm.h>

#include <algorithm>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/buffer_step.h>

namespace tessera::nn {

Tensor BatchNorm::forward(const Tensor& x) const {
  check_ndim(x, least_, most_);
  if (unstacked_shape(x)[1] != num_features()) {
    fail<InvalidArgument>(class_name(), ": wrong number of channels; got shape ", x.shape(),
                          ", expected ", num_features(), " in dim 1");
  }
  if (mixes_samples()) {
    return normalize_and_track(x);
  }
  return batch_norm_with(x, running_mean, running_var, weight, bias, options().eps);
}

bool BatchNorm::mixes_samples() const {
  return training() || !running_mean.defined();
}

Tensor BatchNorm::normalize_and_track(const Tensor& x) const {
  const std::int64_t values =
      x.numel() / std::max<std::int64_t>(1, unstacked_shape(x)[1]) / x.microbatches().count;
  if (values == 1 && training()) {
    fail<ValueError>(
        class_name(), ": needs more than 1 value per channel when training; got shape ", x.shape(),
        x.microbatches()
            ? " of several microbatches; LoaderOptions::drop_last leaves out an epoch's short "
              "last batch, and a smaller grain makes microbatches larger"
            : "");
  }
  if (in_step_of_several()) {
    log_once("batch norm by microbatch", LogLevel::info, class_name(),
             ": statistics are those of each microbatch alone, ", Context::current().pass.grain,
             " in a global batch");
  }
  const BatchNormResult result = batch_norm(x, weight, bias, options().eps);
  if (training() && running_mean.defined()) {
    count_batch_and_track(result.mean, result.variance, static_cast<double>(values));
  }
  return result.y;
}

void BatchNorm::count_batch_and_track(const Tensor& mean, const Tensor& variance,
                                      double values) const {
  const NoGradGuard no_grad;
  num_batches_tracked.assign(num_batches_tracked.value() + 1);
  const std::optional<double> momentum = options().momentum;
  const double factor = momentum ? *momentum : 1 / num_batches_tracked.value().item<double>();
  if (values > 0) {
    track(mean, variance * (values / (values - 1)), factor);
  }
}

}  // namespace tessera::nn
