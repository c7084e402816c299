#include <tessera/core/ops/adamw_step.h>

#include <gtest/gtest.h>

#include "ops/step_scalars.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kSquares = real({4, 6}, 0, 2);

const RegisterOpCase<AdamwStep> kAdamwStepCase{{
    .samples = {{.inputs = {scalars(0.1, 1, 3), real({4, 6}), real({4, 6}), real({4, 6}), kSquares},
                 .attrs = {.weight_decay = 0.01}},
                {.inputs = {scalars(0.01, 0.5), real({4, 6}), real({4, 6}), real({4, 6}), kSquares,
                            real({3}), real({3}), real({3}), real({3}, 0, 2)},
                 .attrs = {.beta1 = 0.5, .beta2 = 0.25, .eps = 0.125}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4}), real({4})}},
              {.inputs = {scalars(), real({4}), real({4}), real({4}), real({5})}},
              {.inputs = {scalars(), real({4}), real({4}), real({4}), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3, 4},
    .strides = false,
}};

const RegisterOpCase<AdamwStep> kAdamwStepAmsgrad{{
    .variant = "_amsgrad",
    .samples = {{.inputs = {scalars(0.1), real({4, 6}), real({4, 6}), real({4, 6}), kSquares,
                            kSquares},
                 .attrs = {.weight_decay = 0.25, .decoupled = false, .amsgrad = true}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4}), real({4}), real({4})},
               .attrs = {.amsgrad = true}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3, 4, 5},
    .strides = false,
}};

TEST(AdamwStep, refuses_a_step_below_1_and_scalars_of_another_kind) {
  const StepTensors one{ones({2}), ones({2}), {ones({2}), ones({2})}};
  EXPECT_THROW(adamw_step_({&one, 1}, {.step = 0}, {}), InvalidArgument);
  const Tensor wrong = ones({3});
  EXPECT_THROW(static_cast<void>(call_all<AdamwStep>(
                   {wrong, one.parameter, one.gradient, one.states[0], one.states[1]})),
               InvalidArgument);
}

TEST(AdamwStep, is_one_call_whatever_changes_from_step_to_step) {
  const StepTensors one{ones({2}), ones({2}), {zeros({2}), zeros({2})}};
  const StepTensors two{ones({2}), ones({2}), {zeros({2}), zeros({2})}};
  const Tensor scalars = StepScalars{.lr = 0.5}.tensor();
  for (std::int64_t step = 1; step <= 3; ++step) {
    adamw_step_({&one, 1}, {.lr = 0.5, .step = step}, {});
    scalars.data<double>()[2] = static_cast<double>(step);
    Outputs outputs{two.parameter, two.states[0], two.states[1]};
    const AdamwStep::Attrs attrs;
    const TensorRef inputs[] = {scalars, two.parameter, two.gradient, two.states[0], two.states[1]};
    call(op_def<AdamwStep>(), inputs, &attrs, outputs);
  }
  EXPECT_EQ(one.parameter.to_vector<float>(), two.parameter.to_vector<float>());
}

}  // namespace
}  // namespace tessera
