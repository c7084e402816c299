#include <tessera/core/ops/sign.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Sign> kSignCase{{
    .samples = {{.inputs = {real({4, 6}).away_from_zero()}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
