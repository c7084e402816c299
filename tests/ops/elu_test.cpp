#include <tessera/core/ops/elu.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Elu> kEluCase{{
    .samples = {{.inputs = {real({4, 6}, -3, 3).away_from_zero()}, .attrs = {.alpha = 1.5}},
                {.inputs = {real({8}).away_from_zero()},
                 .attrs = {.alpha = 0.5, .scale = 1.25, .input_scale = 2}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
