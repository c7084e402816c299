#include <tessera/core/ops/cast.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Cast> kCastCase{{
    .samples = {{.inputs = {real({4, 6})}, .attrs = {.dtype = DType::f64}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
