#include <tessera/core/ops/sigmoid.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Sigmoid> kSigmoidCase{{
    .samples = {{.inputs = {real({4, 6}, -3, 3)}}, {.inputs = {complex({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
