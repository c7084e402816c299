#include <tessera/core/ops/adamw_step.h>

#include <vector>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {
namespace {

bool kernel(Kernel& k, const AdamwStep::Attrs& attrs) {
  std::vector<ParameterRange> ranges;
  for (int i = 0, o = 0; i < k.input_count(); i += 4, o += 3) {
    const bool in_place = &k.input(i) == &k.output(o) && &k.input(i + 2) == &k.output(o + 1) &&
                          &k.input(i + 3) == &k.output(o + 2);
    if (!in_place || !is_f32(k.input(i))) {
      return false;
    }
    ranges.push_back({.parameter = k.output(o).data<float>(),
                      .gradient = k.input(i + 1).data<float>(),
                      .first = k.output(o + 1).data<float>(),
                      .second = k.output(o + 2).data<float>(),
                      .count = k.input(i).numel()});
  }
  adamw_step({.learning_rate = attrs.lr,
              .beta1 = attrs.beta1,
              .beta2 = attrs.beta2,
              .epsilon = attrs.eps,
              .weight_decay = attrs.weight_decay,
              .step = attrs.step,
              .gradient_scale = attrs.gradient_scale},
             ranges);
  return true;
}

const RegisterKernel<AdamwStep, kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
