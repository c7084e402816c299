#include <tessera/core/ops/batch_norm.h>

#include <tessera/kernels/cpu/batch_norm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// True when inputs from `first` on are f32 or absent.
bool are_f32(const Kernel& k, int first) {
  for (int i = first; i < k.input_count(); ++i) {
    if (k.has_input(i) && !is_f32(k.input(i))) {
      return false;
    }
  }
  return true;
}

const float* floats_of(const Kernel& k, int i) {
  return k.has_input(i) ? k.input(i).data<float>() : nullptr;
}

template <class Norm>
Norm sizes_of(const TensorImpl& x) {
  Norm n;
  n.batch = x.shape[0], n.channels = x.shape[1];
  n.inner = n.channels == 0 ? 1 : x.numel() / n.batch / n.channels;
  n.dtype = x.dtype;
  return n;
}

bool forward_kernel(Kernel& k, const tessera::BatchNorm::Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  if (!is_fast(x.dtype) || !has_fast_outputs(k) || !are_f32(k, 1)) {
    return false;
  }
  const DenseOperand dense(x);
  auto n = sizes_of<BatchNormForward>(x);
  n.y_dtype = k.output(0).dtype, n.epsilon = attrs.epsilon;
  n.x = dense.data(), n.y = bytes_of(k.output(0));
  n.weight = floats_of(k, 1), n.bias = floats_of(k, 2);
  n.mean = k.output(1).data<float>(), n.variance = k.output(2).data<float>();
  batch_norm_forward(n);
  return true;
}

bool backward_kernel(Kernel& k, const tessera::BatchNormBackward::Attrs& attrs) {
  const TensorImpl& gradient = k.input(0);
  const TensorImpl& x = k.input(1);
  const bool wants_parameters = attrs.weight || attrs.bias;
  if (!is_fast(gradient.dtype) || !is_fast(x.dtype) || !has_fast_outputs(k) || !are_f32(k, 2) ||
      (wants_parameters && attrs.parameters != DType::f32)) {
    return false;
  }
  const DenseOperand dense(x), dense_gradient(gradient);
  auto n = sizes_of<BatchNormBackward>(x);
  n.dy_dtype = gradient.dtype, n.epsilon = attrs.epsilon;
  n.x = dense.data(), n.dy = dense_gradient.data(), n.dx = bytes_of(k.output(0));
  n.mean = floats_of(k, 2), n.variance = floats_of(k, 3), n.weight = floats_of(k, 4);
  n.dweight = attrs.weight ? k.output(1).data<float>() : nullptr;
  n.dbias = attrs.bias ? k.output(1 + attrs.weight).data<float>() : nullptr;
  batch_norm_backward(n);
  return true;
}

const RegisterKernel<tessera::BatchNorm, forward_kernel> registered{DeviceType::cpu};
const RegisterKernel<tessera::BatchNormBackward, backward_kernel> registered_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
