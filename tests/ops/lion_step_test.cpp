#include <tessera/core/ops/lion_step.h>

#include <gtest/gtest.h>

#include "ops/step_scalars.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<LionStep> kLionStepCase{{
    .samples = {{.inputs = {scalars(0.1), real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.weight_decay = 0.25}},
                {.inputs = {scalars(0.01, 0.5), real({4, 6}), real({4, 6}), real({4, 6}), real({3}),
                            real({3}), real({3})},
                 .attrs = {.beta1 = 0.5, .beta2 = 0.25}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4})}},
              {.inputs = {scalars(), real({4}), real({4}), real({5})}},
              {.inputs = {scalars(), real({4}), real({4}), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
