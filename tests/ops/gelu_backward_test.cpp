#include <tessera/core/ops/gelu_backward.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<GeluBackward> kGeluGradientCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}, -3, 3)}},
                {.inputs = {real({4}), real({4}, -3, 3)}, .attrs = {.tanh_form = true}}},
    .tolerance = {.of_largest = 1},  // the sum cancels near -0.75, where the slope is 0
}};

}  // namespace
}  // namespace tessera
