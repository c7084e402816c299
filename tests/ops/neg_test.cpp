#include <tessera/core/ops/neg.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Neg> kNegCase{{
    .samples = {{.inputs = {real({4, 6})}}, {.inputs = {complex({4})}}},
    .wrong = {{.inputs = {booleans({3})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
