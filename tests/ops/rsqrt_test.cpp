#include <tessera/core/ops/rsqrt.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Rsqrt> kRsqrtCase{{
    .samples = {{.inputs = {real({4, 6}, 0.5, 4)}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
