#include <tessera/core/ops/rmsprop_step.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kX = real({4, 6});
const InputSpec kRmsSquares = real({4, 6}, 1, 2);
const InputSpec kMeans = real({4, 6}, -0.5, 0.5);

const RegisterOpCase<RmspropStep> kRmspropStepPlain{{
    .samples = {{.inputs = {kX, kX, kRmsSquares}, .attrs = {.lr = 0.1, .weight_decay = 0.25}},
                {.inputs = {kX, kX, kRmsSquares, real({3}), real({3}), real({3}, 0, 2)},
                 .attrs = {.alpha = 0.5, .eps = 0.125, .gradient_scale = 0.5}}},
    .wrong = {{.inputs = {real({4}), real({4})}},
              {.inputs = {real({4}), real({4}), real({5})}},
              {.inputs = {real({4}), real({4}), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2},
    .strides = false,
}};

const RegisterOpCase<RmspropStep> kRmspropStepMomentum{{
    .variant = "_momentum",
    .samples = {{.inputs = {kX, kX, kRmsSquares, kX}, .attrs = {.lr = 0.1, .momentum = 0.9}}},
    .wrong = {{.inputs = {real({4}), real({4}), real({4})}, .attrs = {.momentum = 0.9}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2, 3},
    .strides = false,
}};

const RegisterOpCase<RmspropStep> kRmspropStepCentered{{
    .variant = "_centered",
    .samples = {{.inputs = {kX, kX, kRmsSquares, kMeans, kX},
                 .attrs = {.lr = 0.1, .alpha = 0.75, .momentum = 0.9, .centered = true}}},
    .wrong = {{.inputs = {real({4}), real({4}), real({4})}, .attrs = {.centered = true}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2, 3, 4},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
