#include <tessera/core/ops/adamw_step.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kSquares = real({4, 6}, 0, 2);

const RegisterOpCase<AdamwStep> kAdamwStepCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}), real({4, 6}), kSquares},
                 .attrs = {.lr = 0.1, .weight_decay = 0.01, .step = 3}},
                {.inputs = {real({4, 6}), real({4, 6}), real({4, 6}), kSquares, real({3}),
                            real({3}), real({3}), real({3}, 0, 2)},
                 .attrs = {.beta1 = 0.5, .beta2 = 0.25, .eps = 0.125, .gradient_scale = 0.5}}},
    .wrong = {{.inputs = {real({4}), real({4}), real({4})}},
              {.inputs = {real({4}), real({4}), real({4}), real({5})}},
              {.inputs = {real({4}), real({4}), real({4}), integers({4}, 0, 2)}},
              {.inputs = {real({4}), real({4}), real({4}), real({4})}, .attrs = {.step = 0}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2, 3},
    .strides = false,
}};

const RegisterOpCase<AdamwStep> kAdamwStepAmsgrad{{
    .variant = "_amsgrad",
    .samples = {{.inputs = {real({4, 6}), real({4, 6}), real({4, 6}), kSquares, kSquares},
                 .attrs = {.lr = 0.1, .weight_decay = 0.25, .decoupled = false, .amsgrad = true}}},
    .wrong = {{.inputs = {real({4}), real({4}), real({4}), real({4})}, .attrs = {.amsgrad = true}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2, 3, 4},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
