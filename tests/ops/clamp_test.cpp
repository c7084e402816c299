#include <tessera/core/ops/clamp.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Clamp> kClampCase{{
    .samples = {{.inputs = {distinct({4, 6})}, .attrs = {.low = -0.53, .high = 0.28}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.low = 1, .high = 0}}, {.inputs = {complex({4})}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
