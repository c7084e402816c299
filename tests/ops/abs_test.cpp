#include <tessera/core/ops/abs.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Abs> kAbsCase{{
    .samples = {{.inputs = {real({4, 6}).away_from_zero()}},
                {.inputs = {complex({4}).away_from_zero()}}},
    .wrong = {{.inputs = {booleans({3})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
