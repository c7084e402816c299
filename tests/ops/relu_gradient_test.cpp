#include <tessera/core/ops/relu_gradient.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<ReluGradient> kReluGradientCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}).away_from_zero()}}},
}};

}  // namespace
}  // namespace tessera
