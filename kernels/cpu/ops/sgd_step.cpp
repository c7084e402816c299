#include <tessera/core/ops/sgd_step.h>

#include <vector>

#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/optimizer.h>

namespace tessera::cpu {
namespace {

bool kernel(Kernel& k, const tessera::SgdStep::Attrs& attrs) {
  const bool momentum = attrs.momentum != 0;
  const int members = momentum ? 3 : 2;
  if (attrs.dampening != 0) {
    return false;
  }
  std::vector<ParameterRange> ranges;
  for (int i = 0, o = 0; i < k.input_count(); i += members, o += members - 1) {
    const bool in_place =
        &k.input(i) == &k.output(o) && (!momentum || &k.input(i + 2) == &k.output(o + 1));
    if (!in_place || !is_f32(k.input(i))) {
      return false;
    }
    ranges.push_back({.parameter = k.output(o).data<float>(),
                      .gradient = k.input(i + 1).data<float>(),
                      .first = momentum ? k.output(o + 1).data<float>() : nullptr,
                      .count = k.input(i).numel()});
  }
  sgd_step({.learning_rate = attrs.lr,
            .momentum = attrs.momentum,
            .weight_decay = attrs.weight_decay,
            .nesterov = attrs.nesterov,
            .first_step = attrs.first,
            .gradient_scale = attrs.gradient_scale},
           ranges);
  return true;
}

const RegisterKernel<tessera::SgdStep, kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
