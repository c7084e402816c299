#include <tessera/core/ops/adagrad_step.h>

#include <gtest/gtest.h>

#include "ops/step_scalars.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kSum = real({4, 6}, 0, 2);

const RegisterOpCase<AdagradStep> kAdagradStepCase{{
    .samples = {{.inputs = {scalars(0.1, 1, 3), real({4, 6}), real({4, 6}), kSum},
                 .attrs = {.lr_decay = 0.5, .weight_decay = 0.25}},
                {.inputs = {scalars(0.01, 0.5, 1), real({4, 6}), real({4, 6}), kSum, real({3}),
                            real({3}), real({3}, 0, 2)},
                 .attrs = {.eps = 0.125, .initial_accumulator_value = 0.5}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4})}},
              {.inputs = {scalars(), real({4}), real({4}), real({5})}},
              {.inputs = {scalars(), real({4}), real({4}), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
