#include <tessera/core/ops/convolution.h>

#include <tessera/kernels/cpu/convolution.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

ConvolutionArray array_of(const TensorImpl& x) {
  return {bytes_of(x), x.dtype};
}

/// True when the arguments of a call, `bias` at last, are such as the kernel takes.
bool takes(const Kernel& k, DType compute) {
  const bool bias = k.has_input(2);
  return is_fast(k.input(0)) && is_fast(k.input(1)) && is_fast(k.output()) && is_fast(compute) &&
         (!bias || is_fast(k.input(2))) && k.input(0).numel() > 0 && k.input(1).numel() > 0;
}

bool convolution_kernel(Kernel& k, const Convolution::Attrs& attrs) {
  if (!takes(k, attrs.dtype)) {
    return false;
  }
  const FloatOperand bias(k, 2);
  ConvolutionTask t;
  t.shape = convolution_geometry(k.op(), k.input(0).shape, k.input(1).shape, attrs.options);
  t.x = array_of(k.input(0)), t.weight = array_of(k.input(1)), t.y = array_of(k.output());
  t.bias = bias.data();
  t.compute = attrs.dtype;
  convolve(t);
  return true;
}

bool grad_input_kernel(Kernel& k, const ConvolutionGradInput::Attrs& attrs) {
  if (!takes(k, attrs.dtype)) {
    return false;
  }
  const FloatOperand bias(k, 2);
  ConvolutionTask t;
  t.result = ConvolutionResult::x;
  t.shape =
      geometry_of_input(k.op(), k.input(0).shape, k.input(1).shape, attrs.size, attrs.options);
  t.y = array_of(k.input(0)), t.weight = array_of(k.input(1)), t.x = array_of(k.output());
  t.bias = bias.data();
  t.compute = attrs.dtype;
  convolve(t);
  return true;
}

bool grad_weight_kernel(Kernel& k, const ConvolutionGradWeight::Attrs& attrs) {
  if (!takes(k, attrs.dtype)) {
    return false;
  }
  const FloatResult sums(k.output());
  ConvolutionTask t;
  t.result = ConvolutionResult::weight;
  t.shape =
      geometry_of_weight(k.op(), k.input(0).shape, k.input(1).shape, attrs.size, attrs.options);
  t.y = array_of(k.input(0)), t.x = array_of(k.input(1)),
  t.weight = {reinterpret_cast<char*>(sums.data()), DType::f32};
  t.compute = attrs.dtype;
  t.cuts = k.cuts(), t.stacked = k.stacked();
  convolve(t);
  sums.store();
  return true;
}

const RegisterKernel<Convolution, convolution_kernel> register_convolution{DeviceType::cpu};
const RegisterKernel<ConvolutionGradInput, grad_input_kernel> register_convolution_grad_input{
    DeviceType::cpu};
const RegisterKernel<ConvolutionGradWeight, grad_weight_kernel> register_convolution_grad_weight{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
