#include <tessera/core/ops/batch_norm.h>

#include <optional>

#include <tessera/kernels/cpu/batch_norm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// True when inputs from `first` on are of a fast dtype or absent.
bool are_fast(const Kernel& k, int first) {
  for (int i = first; i < k.input_count(); ++i) {
    if (k.has_input(i) && !is_fast(k.input(i))) {
      return false;
    }
  }
  return true;
}

template <class Norm>
Norm sizes_of(const TensorImpl& x) {
  Norm n;
  n.batch = x.shape[0], n.channels = x.shape[1];
  n.inner = x.numel() / n.batch / n.channels;
  n.dtype = x.dtype;
  return n;
}

bool forward_kernel(Kernel& k, const tessera::BatchNorm::Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  if (!is_fast(x.dtype) || !has_fast_outputs(k) || !are_fast(k, 1) || x.numel() == 0) {
    return false;
  }
  const DenseOperand dense(x);
  const FloatOperand weight(k, 1), bias(k, 2);
  auto n = sizes_of<BatchNormForward>(x);
  n.y_dtype = k.output(0).dtype, n.epsilon = attrs.epsilon;
  n.x = dense.data(), n.y = bytes_of(k.output(0));
  n.weight = weight.data(), n.bias = bias.data();
  n.mean = k.output(1).data<float>(), n.variance = k.output(2).data<float>();
  batch_norm_forward(n);
  return true;
}

bool backward_kernel(Kernel& k, const tessera::BatchNormBackward::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.input(1);
  if (!is_fast(gradient.dtype) || !is_fast(x.dtype) || !has_fast_outputs(k) || !are_fast(k, 2) ||
      x.numel() == 0) {
    return false;
  }
  const DenseOperand dense(x), dense_gradient(gradient);
  const FloatOperand mean(k, 2), variance(k, 3), weight(k, 4);
  std::optional<FloatResult> dweight, dbias;
  if (attrs.weight) {
    dweight.emplace(k.output(1));
  }
  if (attrs.bias) {
    dbias.emplace(k.output(1 + attrs.weight));
  }
  auto n = sizes_of<BatchNormBackward>(x);
  n.dy_dtype = gradient.dtype, n.epsilon = attrs.epsilon;
  n.x = dense.data(), n.dy = dense_gradient.data(), n.dx = bytes_of(k.output(0));
  n.mean = mean.data(), n.variance = variance.data(), n.weight = weight.data();
  n.dweight = dweight ? dweight->data() : nullptr;
  n.dbias = dbias ? dbias->data() : nullptr;
  batch_norm_backward(n);
  for (const auto* result : {&dweight, &dbias}) {
    if (*result) {
      (*result)->store();
    }
  }
  return true;
}

const RegisterKernel<tessera::BatchNorm, forward_kernel> register_batch_norm{DeviceType::cpu};
const RegisterKernel<tessera::BatchNormBackward, backward_kernel> register_batch_norm_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
