#include <tessera/core/ops/adamw_step.h>

#include <vector>

#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

bool adamw_kernel(Kernel& k, const AdamwStep::Attrs& attrs) {
  constexpr int kIn = 4;
  constexpr int kOut = 3;
  if (!steps_in_place(k, kIn, kOut)) {
    return false;
  }
  std::vector<ParameterRange> ranges;
  for (int i = 0; i * kIn < k.input_count(); ++i) {
    const TensorImpl& parameter = k.input(i * kIn);
    ranges.push_back({parameter.data<float>(), k.input(i * kIn + 1).data<float>(),
                      k.input(i * kIn + 2).data<float>(), k.input(i * kIn + 3).data<float>(),
                      nullptr, parameter.numel()});
  }
  AdamWStep step;
  step.learning_rate = attrs.lr, step.beta1 = attrs.beta1, step.beta2 = attrs.beta2;
  step.epsilon = attrs.eps, step.weight_decay = attrs.weight_decay;
  step.step = attrs.step, step.gradient_scale = attrs.gradient_scale;
  adamw_step(step, ranges);
  return true;
}

const RegisterKernel<AdamwStep, adamw_kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
