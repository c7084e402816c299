#include <tessera/core/ops/cos.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Cos> kCosCase{{
    .samples = {{.inputs = {real({4, 6}, -3, 3)}}, {.inputs = {complex({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
