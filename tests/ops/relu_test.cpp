#include <tessera/core/ops/relu.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Relu> kReluCase{{
    .samples = {{.inputs = {real({4, 6}).away_from_zero()}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
