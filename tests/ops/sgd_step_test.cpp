#include <tessera/core/ops/sgd_step.h>

#include <gtest/gtest.h>

#include "ops/step_scalars.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<SgdStep> kSgdStepPlain{{
    .samples = {{.inputs = {scalars(0.1), real({4, 6}), real({4, 6})}},
                {.inputs = {scalars(0.01, 0.5), real({4, 6}), real({4, 6}), real({3}), real({3})},
                 .attrs = {.weight_decay = 0.25}}},
    .wrong = {{.inputs = {scalars(), real({4})}},
              {.inputs = {scalars(), real({4}), real({5})}},
              {.inputs = {scalars(), integers({4}, 0, 2), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1},
    .strides = false,
}};

const RegisterOpCase<SgdStep> kSgdStepMomentum{{
    .variant = "_momentum",
    .samples = {{.inputs = {scalars(0.1), real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.25}},
                {.inputs = {scalars(), real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.momentum = 0.9, .nesterov = true}},
                {.inputs = {scalars(0.01, 1, 1), real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.momentum = 0.9, .dampening = 0.1}}},
    .wrong = {{.inputs = {scalars(), real({4}), real({4})}, .attrs = {.momentum = 0.9}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {1, 3},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
