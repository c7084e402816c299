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
  return is_factor(k.input(0), compute) && is_factor(k.input(1), compute) &&
         is_factor(k.output(), compute) && (!bias || is_factor(k.input(2), compute)) &&
         k.input(0).numel() > 0 && k.input(1).numel() > 0;
}

void set_bias(const FloatOperand& bias, DType compute, ConvolutionTask& t) {
  if (compute == DType::f64) {
    t.bias_f64 = static_cast<const double*>(bias.values());
  } else {
    t.bias = bias.data();
  }
}

/// Makes images out of images: y of x, or x of y. `shape_of` is asked for operands that suit.
template <class ShapeOf>
bool make_images(Kernel& k, ConvolutionResult result, DType compute, const ShapeOf& shape_of) {
  if (!takes(k, compute)) {
    return false;
  }
  const bool to_y = result == ConvolutionResult::y;
  const FloatOperand bias(k, 2);
  ConvolutionTask t;
  t.result = result, t.compute = compute;
  t.shape = shape_of(k.input(0).shape, k.input(1).shape);
  (to_y ? t.x : t.y) = array_of(k.input(0)), (to_y ? t.y : t.x) = array_of(k.output());
  t.weight = array_of(k.input(1));
  set_bias(bias, compute, t);
  convolve(t);
  return true;
}

bool convolution_kernel(Kernel& k, const Convolution::Attrs& attrs) {
  return make_images(k, ConvolutionResult::y, attrs.dtype, [&](const Shape& x, const Shape& w) {
    return convolution_geometry(k.op(), x, w, attrs.options);
  });
}

bool grad_input_kernel(Kernel& k, const ConvolutionBackwardInput::Attrs& attrs) {
  return make_images(k, ConvolutionResult::x, attrs.dtype, [&](const Shape& y, const Shape& w) {
    return geometry_of_input(k.op(), y, w, attrs.size, attrs.options);
  });
}

bool grad_weight_kernel(Kernel& k, const ConvolutionBackwardWeight::Attrs& attrs) {
  if (!takes(k, attrs.dtype)) {
    return false;
  }
  const FloatResult sums(k.output(), k.workspace());
  ConvolutionTask t;
  t.result = ConvolutionResult::weight;
  t.shape =
      geometry_of_weight(k.op(), k.input(0).shape, k.input(1).shape, attrs.size, attrs.options);
  t.y = array_of(k.input(0)), t.x = array_of(k.input(1)),
  t.weight = {static_cast<char*>(sums.values()), sums.dtype()};
  t.compute = attrs.dtype;
  t.cuts = k.microbatch_count(), t.per_microbatch = k.per_microbatch();
  convolve(t);
  sums.store();
  return true;
}

const RegisterKernel<Convolution, convolution_kernel> register_convolution{DeviceType::cpu};
const RegisterKernel<ConvolutionBackwardInput, grad_input_kernel>
    register_convolution_backward_input{DeviceType::cpu};
const RegisterKernel<ConvolutionBackwardWeight, grad_weight_kernel, bytes_of_sums>
    register_convolution_backward_weight{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
