#include <tessera/core/ops/sgd_step.h>

#include <vector>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool sgd_kernel(Kernel& k, const tessera::SgdStep::Attrs& attrs) {
  const bool has_momentum = attrs.momentum != 0;
  const int in = has_momentum ? 3 : 2;
  const int out = has_momentum ? 2 : 1;
  if (attrs.dampening != 0 || k.input_count() * out != k.output_count() * in ||
      !steps_in_place(k, in, out)) {
    return false;
  }
  std::vector<ParameterRange> ranges;
  for (int i = 0; i * in < k.input_count(); ++i) {
    const TensorImpl& parameter = k.input(i * in);
    float* momentum = has_momentum ? k.input(i * in + 2).data<float>() : nullptr;
    ranges.push_back({parameter.data<float>(), k.input(i * in + 1).data<float>(), momentum, nullptr,
                      nullptr, parameter.numel()});
  }
  cpu::SgdStep step;
  step.learning_rate = attrs.lr, step.momentum = attrs.momentum;
  step.weight_decay = attrs.weight_decay, step.nesterov = attrs.nesterov;
  step.first_step = attrs.first, step.gradient_scale = attrs.gradient_scale;
  sgd_step(step, ranges);
  return true;
}

const RegisterKernel<tessera::SgdStep, sgd_kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
