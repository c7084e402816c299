#include <tessera/kernels/cpu/optimizer.h>

#include <optional>
#include <vector>

#include <tessera/core/ops/block_squares.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// Input `m` of a group, when it is the output's memory too.
template <class Number>
bool lies_on_output(const Kernel& k, int members, int parameter, int m) {
  const TensorImpl& old = k.input(member_at(members, parameter, m));
  const TensorImpl& now = k.output(parameter * (members - 1) + (m == 0 ? 0 : m - 1));
  return is_dense<Number>(now) && bytes_of(now) == bytes_of(old);
}

/// The parameters of a step on groups of `members` tensors, when everything is dense and of numbers
/// of this type, float or double, and each group's outputs lie on its inputs.
template <class Number>
std::optional<std::vector<ParameterRangeOf<Number>>> ranges_in_place(const Kernel& k, int members) {
  std::vector<ParameterRangeOf<Number>> ranges;
  ranges.reserve(static_cast<std::size_t>(step_parameter_count(k, members)));
  for (int parameter = 0; parameter < step_parameter_count(k, members); ++parameter) {
    ParameterRangeOf<Number>& range = ranges.emplace_back();
    for (int m = 0; m < members; ++m) {
      const int at = member_at(members, parameter, m);
      if (!k.has_input(at) || !is_dense<Number>(k.input(at)) ||
          (m != 1 && !lies_on_output<Number>(k, members, parameter, m))) {
        return std::nullopt;
      }
    }
    const int first = member_at(members, parameter, 0);
    range.parameter = k.input(first).data<Number>();
    range.gradient = k.input(first + 1).data<Number>();
    for (int m = 2; m < members; ++m) {
      range.states[m - 2] = k.input(first + m).data<Number>();
    }
    range.count = k.input(first).numel();
  }
  return ranges;
}

int members_of(const AdamwStep::Attrs& attrs) {
  return attrs.amsgrad ? 5 : 4;
}
int members_of(const SgdStep::Attrs& attrs) {
  return attrs.momentum != 0 ? 3 : 2;
}
int members_of(const RmspropStep::Attrs& attrs) {
  return 3 + (attrs.centered ? 1 : 0) + (attrs.momentum != 0 ? 1 : 0);
}
int members_of(const AdagradStep::Attrs& /*any*/) {
  return 3;
}
int members_of(const LionStep::Attrs& /*any*/) {
  return 3;
}

template <class Attrs, class Number>
using Step = void (*)(const StepScalars&, const Attrs&, ParameterRangesOf<Number>);

/// Runs the step on the parameters of a call, or leaves the call to the reference.
template <class Number, class Attrs>
bool step_in_place(const Kernel& k, const Attrs& attrs, Step<Attrs, Number> step) {
  const auto ranges = ranges_in_place<Number>(k, members_of(attrs));
  if (ranges) {
    step(StepScalars::of(k), attrs, *ranges);
  }
  return ranges.has_value();
}

template <class Op, Step<typename Op::Attrs, float> f32, Step<typename Op::Attrs, double> f64>
bool step_kernel(Kernel& k, const typename Op::Attrs& attrs) {
  return step_in_place<float>(k, attrs, f32) || step_in_place<double>(k, attrs, f64);
}

template <class Op, Step<typename Op::Attrs, float> f32, Step<typename Op::Attrs, double> f64>
using StepOp = RegisterKernel<Op, step_kernel<Op, f32, f64>>;
const StepOp<AdamwStep, adamw_step<float>, adamw_step<double>> register_adamw_step{DeviceType::cpu};
const StepOp<SgdStep, sgd_step<float>, sgd_step<double>> register_sgd_step{DeviceType::cpu};
const StepOp<AdagradStep, adagrad_step<float>, adagrad_step<double>> register_adagrad_step{
    DeviceType::cpu};
const StepOp<RmspropStep, rmsprop_step<float>, rmsprop_step<double>> register_rmsprop_step{
    DeviceType::cpu};
const StepOp<LionStep, lion_step<float>, lion_step<double>> register_lion_step{DeviceType::cpu};

static_assert(BlockSquares::kBlock == kSquareBlock);

void add_squares(const TensorImpl& x, double* sums) {
  if (x.dtype == DType::f64) {
    sum_of_squares(x.data<double>(), x.numel(), sums);
  } else {
    sum_of_squares(x.data<float>(), x.numel(), sums);
  }
}

bool block_squares_kernel(Kernel& k, const BlockSquares::Attrs&) {
  for (int i = 0; i < k.input_count(); ++i) {
    if (!(is_f32(k.input(i)) || is_f64(k.input(i))) || !k.output().contiguous()) {
      return false;
    }
  }
  auto* sums = k.output().data<double>();
  for (int i = 0; i < k.input_count(); ++i) {
    add_squares(k.input(i), sums);
    sums += BlockSquares::blocks(k.input(i).numel());
  }
  return true;
}

const RegisterKernel<BlockSquares, block_squares_kernel> register_block_squares{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
