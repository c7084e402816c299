#include <tessera/core/ops/tanh_backward.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<TanhBackward> kTanhGradientCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}, -1, 1)}}},
    .wrong = {{.inputs = {complex({3}), complex({3})}}},
}};

}  // namespace
}  // namespace tessera
