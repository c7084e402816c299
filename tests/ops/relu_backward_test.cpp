#include <tessera/core/ops/relu_backward.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<ReluBackward> kReluGradientCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}).away_from_zero()}}},
}};

}  // namespace
}  // namespace tessera
