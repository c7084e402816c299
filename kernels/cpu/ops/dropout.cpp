#include <tessera/core/ops/dropout.h>

#include <tessera/kernels/cpu/dropout.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// Elements in a microbatch of the whole tensor, of which `box` holds what `x` does.
std::int64_t microbatch_of(const TensorImpl& x, const Box& box) {
  Shape microbatch = box.whole;
  if (x.microbatches()) {
    microbatch[0] = x.shape[0] / x.microbatches().count;
  }
  return numel_of(microbatch);
}

bool dropout_kernel(Kernel& k, const Dropout::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  const Box box = attrs.draw.box_of(x);
  const std::int64_t microbatch = microbatch_of(x, box);
  if (!is_fast_or_f64(y) || x.dtype != y.dtype || (x.microbatches() && x.microbatches().dim != 0) ||
      x.numel() == 0 || microbatch % attrs.draw.per_sample != 0) {
    return false;
  }
  const DenseOperand dense(x);
  drop_elements(
      {.dtype = x.dtype, .x = dense.data(), .y = bytes_of(y), .box = box, .microbatch = microbatch},
      attrs.p, attrs.draw);
  return true;
}

const RegisterKernel<Dropout, dropout_kernel> register_dropout{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
