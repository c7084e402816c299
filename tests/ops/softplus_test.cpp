#include <tessera/core/ops/softplus.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Softplus> kSoftplusCase{{
    .samples = {{.inputs = {real({4, 6}, -9, 9)}},
                {.inputs = {real({8}).away_from_zero()}, .attrs = {.beta = 2, .threshold = 0}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
