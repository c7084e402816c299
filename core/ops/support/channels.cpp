#include <tessera/core/ops/support/channels.h>

#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {

void check_channels(const Infer& c, const Tensor& x) {
  check_layout(x.ndim() >= 2, c.op(), "x", x.shape(), "(samples, channels, ...)");
  check_floating(c.op(), "x", x.dtype());
}

void check_channel_values(const Infer& c, const Tensor& x, int i, const char* name) {
  const Shape expected{x.shape()[1]};
  if (!c.has_input(i)) {
    return;
  }
  check_shape(c.op(), name, c.input(i).shape(), expected);
  check_floating(c.op(), name, c.input(i).dtype());
  check_not_narrowed(c.op(), name, c.input(i).dtype(), x.dtype());
}

DimLabels channel_labels(int ndim) {
  DimLabels labels(ndim);
  if (ndim > 0) {
    labels[ndim == 1 ? 0 : 1] = 0;
  }
  return labels;
}

Channels::Channels(const TensorImpl& x)
    : count(static_cast<std::size_t>(x.shape[1])), inner(1), values(0) {
  for (int d = 2; d < x.shape.size(); ++d) {
    inner *= static_cast<std::size_t>(x.shape[d]);
  }
  values = static_cast<double>(static_cast<std::size_t>(x.shape[0]) * inner);
}

std::vector<double> channel_values_or(const Kernel& k, int i, const Channels& of, double value) {
  return k.has_input(i) ? dense_values<double>(k.input(i)) : std::vector<double>(of.count, value);
}

Tensor along_channels(const Tensor& x, int ndim) {
  Shape shape = Dims::filled(ndim - 1, 1);
  shape[0] = -1;
  return reshape(x, shape);
}

}  // namespace tessera
