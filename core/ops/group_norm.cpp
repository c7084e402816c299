#include <tessera/core/ops/group_norm.h>

#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/support/channels.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {
namespace {

void check_groups(const Shape& x, std::int64_t groups) {
  check_layout(x.size() >= 2, "group_norm", "x", x, "(samples, channels, ...)");
  check<ValueError>(groups >= 1 && x[1] % groups == 0, "group_norm: wrong number of groups; got ",
                    groups, ", expected a divisor of ", x[1], " channels");
  check<ValueError>(numel_of(x) == 0 || numel_of(x) > x[0] * groups,
                    "group_norm: too few values; got ", x, " in ", groups,
                    " groups, expected more than 1 in each");
}

/// Every group of every sample brought to mean 0 and variance 1, in `dtype`.
Tensor normalized(const Tensor& x, std::int64_t groups, double epsilon, DType dtype) {
  if (x.numel() == 0) {
    return cast(x, dtype);
  }
  const Shape shape = unstacked_shape(x);
  const Tensor rows = reshape(x, {shape[0], groups, -1});
  return reshape(call_all<LayerNorm>({rows, Tensor(), Tensor()}, {epsilon, dtype})[0], shape);
}

}  // namespace

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias,
                  double epsilon) {
  if (x.microbatches().sample_dim() >
      0) {  // a reshape by numbers, below, could take groups of samples
    fail_on_microbatches("group_norm", "mixes samples");
  }
  check_groups(unstacked_shape(x), groups);
  const DType dtype = x.dtype();
  // Rounded to 16 bits once, at the end.
  const bool scaled = weight.defined() || bias.defined();
  const DType exact = dtype == DType::f64 || !scaled ? dtype : DType::f32;
  Tensor y = normalized(x, groups, epsilon, exact);
  if (weight.defined()) {
    check_not_narrowed("group_norm", "weight", weight.dtype(), dtype);
    y = y * along_channels(cast(weight, exact), unstacked_ndim(x));
  }
  if (bias.defined()) {
    check_not_narrowed("group_norm", "bias", bias.dtype(), dtype);
    y = y + along_channels(cast(bias, exact), unstacked_ndim(x));
  }
  return cast(y, dtype);
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  const Shape shape = unstacked_shape(x);
  check_layout(shape.size() >= 3, "instance_norm", "x", shape, "(samples, channels, sizes...)");
  check<ValueError>(numel_of(shape) == 0 || numel_of(shape) > shape[0] * shape[1],
                    "instance_norm: too few values; got ", shape,
                    ", expected more than 1 in each channel");
  return group_norm(x, shape[1], weight, bias, epsilon);
}

}  // namespace tessera
