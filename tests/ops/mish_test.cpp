#include <tessera/core/ops/mish.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Mish> kMishCase{{
    .samples = {{.inputs = {real({4, 6}, -5, 5)}}, {.inputs = {real({}, 18, 22)}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
