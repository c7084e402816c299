#include <tessera/core/ops/gelu.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Gelu> kCase{{
    .samples = {{.inputs = {real({4, 6}, -3, 3)}},
                {.inputs = {real({8})}, .attrs = {.tanh_form = true}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
    // 1 + erf cancels left of zero: one rounding of a number near 1 is left.
    .tolerance = {.of_largest = 1},
}};

}  // namespace
}  // namespace tessera
