#include <tessera/nn/layers/instance_norm.h>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/group_norm.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/var.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::nn {

Tensor InstanceNorm::forward(const Tensor& x) const {
  check_ndim(x, ndim_ - 1, ndim_);
  const Shape shape = unstacked_shape(x);
  const int dim = shape.size() == ndim_ ? 1 : 0;
  if (shape[dim] != num_features()) {
    const bool used = weight.defined() || running_mean.defined();
    const std::string text = tessera::detail::concat(
        class_name(), ": wrong number of channels; got shape ", x.shape(), ", expected ",
        num_features(), " in dim ", dim, used ? "" : ", which is not used without affine");
    check<ValueError>(!used, text);
    log_once(text, LogLevel::warning, text);
  }
  return dim == 1 ? normalize(x) : squeeze(normalize(unsqueeze(x, 0)), 0);
}

Tensor InstanceNorm::normalize(const Tensor& x) const {
  if (!training() && running_mean.defined()) {
    return batch_norm_with(x, running_mean, running_var, weight, bias, options().eps);
  }
  const Tensor y = instance_norm(x, weight, bias, options().eps);
  if (running_mean.defined()) {
    track_samples(x);
  }
  return y;
}

void InstanceNorm::track_samples(const Tensor& x) const {
  const NoGradGuard no_grad;
  Dims inner;
  for (int d = 2; d < unstacked_ndim(x); ++d) {
    inner.push_back(d);
  }
  const Tensor values = cast(x, promote(x.dtype(), DType::f32));
  track(mean(mean(values, inner), {0}), mean(var(values, inner), {0}),
        options().momentum.value_or(0));
}

}  // namespace tessera::nn
