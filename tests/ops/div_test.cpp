#include <tessera/core/ops/div.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Div> kDivCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}).away_from_zero()}},
                {.inputs = {real({4, 1, 2}), real({8, 1}).away_from_zero()}},
                {.inputs = {complex({4}), complex({4}).away_from_zero()}},
                {.inputs = {real({1, 1, 3}), real({2, 1}).away_from_zero()}}},
    .wrong = {{.inputs = {real({4}), real({3})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
