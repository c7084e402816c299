#include <tessera/core/ops/exp.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Exp> kExpCase{{
    .samples = {{.inputs = {real({4, 6}, -2, 2)}}, {.inputs = {complex({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
