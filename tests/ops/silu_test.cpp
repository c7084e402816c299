#include <tessera/core/ops/silu.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Silu> kSiluCase{{
    .samples = {{.inputs = {real({4, 6}, -3, 3)}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
