#include <tessera/core/ops/rmsprop_step.h>

#include <gtest/gtest.h>

#include "ops/step_scalars.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kX = real({4, 6});
const InputSpec kRmsSquares = real({4, 6}, 1, 2);
const InputSpec kMeans = real({4, 6}, -0.5, 0.5);

const RegisterOpCase<RmspropStep> kRmspropStepPlain{{
    .samples = {{.inputs = {scalars(0.1), kX, kX, kRmsSquares}, .attrs = {.weight_decay = 0.25}},
                {.inputs = {scalars(0.01, 0.5), kX, kX, kRmsSquares, real({3}), real({3}),
                            real({3}, 0, 2)},
                 .attrs = {.alpha = 0.5, .eps = 0.125}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4})}},
              {.inputs = {scalars(), real({4}), real({4}), real({5})}},
              {.inputs = {scalars(), real({4}), real({4}), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3},
    .strides = false,
}};

const RegisterOpCase<RmspropStep> kRmspropStepMomentum{{
    .variant = "_momentum",
    .samples = {{.inputs = {scalars(0.1), kX, kX, kRmsSquares, kX}, .attrs = {.momentum = 0.9}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4}), real({4})}, .attrs = {.momentum = 0.9}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3, 4},
    .strides = false,
}};

const RegisterOpCase<RmspropStep> kRmspropStepCentered{{
    .variant = "_centered",
    .samples = {{.inputs = {scalars(0.1), kX, kX, kRmsSquares, kMeans, kX},
                 .attrs = {.alpha = 0.75, .momentum = 0.9, .centered = true}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4}), real({4})},
               .attrs = {.centered = true}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3, 4, 5},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
