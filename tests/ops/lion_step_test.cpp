#include <tessera/core/ops/lion_step.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<LionStep> kLionStepCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.lr = 0.1, .weight_decay = 0.25}},
                {.inputs = {real({4, 6}), real({4, 6}), real({4, 6}), real({3}), real({3}),
                            real({3})},
                 .attrs = {.beta1 = 0.5, .beta2 = 0.25, .gradient_scale = 0.5}}},
    .wrong = {{.inputs = {real({4}), real({4})}},
              {.inputs = {real({4}), real({4}), real({5})}},
              {.inputs = {real({4}), real({4}), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
