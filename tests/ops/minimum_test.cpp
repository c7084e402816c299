#include <tessera/core/ops/minimum.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Minimum> kMinimumCase{{
    .samples = {{.inputs = {distinct({4, 6}), real({4, 6}, 0.01, 0.04)}},
                {.inputs = {distinct({4, 1}), real({2}, 0.01, 0.04)}}},
    .wrong = {{.inputs = {real({4}), real({3})}}, {.inputs = {complex({2}), complex({2})}}},
    .dtypes = {DType::f32, DType::f64},
}};

}  // namespace
}  // namespace tessera
