#include <tessera/core/ops/group_norm.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/support/channels.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {
namespace {

void check_groups(const Tensor& x, std::int64_t groups) {
  check_layout(x.ndim() >= 2, "group_norm", "x", x.shape(), "(samples, channels, ...)");
  check<ValueError>(groups >= 1 && x.size(1) % groups == 0,
                    "group_norm: wrong number of groups; got ", groups, ", expected a divisor of ",
                    x.size(1), " channels");
  check<ValueError>(x.numel() == 0 || x.numel() > groups, "group_norm: too few values; got ",
                    x.shape(), " in ", groups, " groups, expected more than 1 in each");
}

/// Every group of every sample brought to mean 0 and variance 1, in `dtype`.
Tensor normalized(const Tensor& x, std::int64_t groups, double epsilon, DType dtype) {
  if (x.numel() == 0) {
    return cast(x, dtype);
  }
  const Tensor rows = reshape(x, {x.size(0), groups, -1});
  return reshape(call_all<LayerNorm>({rows, Tensor(), Tensor()}, {epsilon, dtype})[0], x.shape());
}

}  // namespace

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias,
                  double epsilon) {
  check_groups(x, groups);
  const DType dtype = x.dtype();
  // Rounded to 16 bits once, at the end.
  const bool scaled = weight.defined() || bias.defined();
  const DType exact = dtype == DType::f64 || !scaled ? dtype : DType::f32;
  Tensor y = normalized(x, groups, epsilon, exact);
  if (weight.defined()) {
    check_not_narrowed("group_norm", "weight", weight.dtype(), dtype);
    y = y * along_channels(cast(weight, exact), x.ndim());
  }
  if (bias.defined()) {
    check_not_narrowed("group_norm", "bias", bias.dtype(), dtype);
    y = y + along_channels(cast(bias, exact), x.ndim());
  }
  return cast(y, dtype);
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  check_layout(x.ndim() >= 3, "instance_norm", "x", x.shape(), "(samples, channels, sizes...)");
  check<ValueError>(x.numel() == 0 || x.numel() > x.size(0) * x.size(1),
                    "instance_norm: too few values; got ", x.shape(),
                    ", expected more than 1 in each channel");
  return group_norm(x, x.size(1), weight, bias, epsilon);
}

}  // namespace tessera
