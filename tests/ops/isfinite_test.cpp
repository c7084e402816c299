#include <cmath>

#include <tessera/core/ops/isfinite.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Isfinite> kIsfiniteCase{{
    .samples = {{.inputs = {given({4}, {1, INFINITY, -INFINITY, NAN})}},
                {.inputs = {complex({4})}}},
    .dtypes = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64},
}};

}  // namespace
}  // namespace tessera
