#include <tessera/core/ops/dropout.h>

#include <tessera/kernels/cpu/dropout.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

bool dropout_kernel(Kernel& k, const Dropout::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  const std::int64_t parts = x.cut() ? x.cut().parts : 1;
  if (!is_fast_or_f64(y) || x.dtype != y.dtype || (x.cut() && x.cut().dim != 0) || x.numel() == 0 ||
      x.numel() / parts % attrs.per_sample != 0) {
    return false;
  }
  const DenseOperand dense(x);
  DropoutRuns d;
  d.dtype = x.dtype, d.x = dense.data(), d.y = bytes_of(y);
  d.draw = DropoutDraw(attrs.p, attrs.key, attrs.first_sample);
  d.parts = parts, d.run = attrs.per_sample;
  d.runs = x.numel() / parts / attrs.per_sample;
  d.samples = attrs.samples;
  dropout_runs(d);
  return true;
}

const RegisterKernel<Dropout, dropout_kernel> register_dropout{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
