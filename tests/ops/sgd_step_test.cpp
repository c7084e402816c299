#include <tessera/core/ops/sgd_step.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<SgdStep> kSgdStepPlain{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6})}, .attrs = {.lr = 0.1}},
                {.inputs = {real({4, 6}), real({4, 6}), real({3}), real({3})},
                 .attrs = {.weight_decay = 0.25, .gradient_scale = 0.5}}},
    .wrong = {{.inputs = {real({4})}},
              {.inputs = {real({4}), real({5})}},
              {.inputs = {integers({4}, 0, 2), integers({4}, 0, 2)}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0},
    .strides = false,
}};

const RegisterOpCase<SgdStep> kSgdStepMomentum{{
    .variant = "_momentum",
    .samples = {{.inputs = {real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.lr = 0.1, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.25}},
                {.inputs = {real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.momentum = 0.9, .nesterov = true}},
                {.inputs = {real({4, 6}), real({4, 6}), real({4, 6})},
                 .attrs = {.momentum = 0.9, .dampening = 0.1, .first = true}}},
    .wrong = {{.inputs = {real({4}), real({4})}, .attrs = {.momentum = 0.9}}},
    .tolerance = {.of_largest = 2},
    .overwrites = {0, 2},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
