#include <tessera/core/ops/sqrt.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Sqrt> kSqrtCase{{
    .samples = {{.inputs = {real({4, 6}, 0.5, 4)}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
