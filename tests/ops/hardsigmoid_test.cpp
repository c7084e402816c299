#include <tessera/core/ops/hardsigmoid.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Hardsigmoid> kHardsigmoidCase{{
    .samples = {{.inputs = {given({2, 4}, {-4, -3.25, -2.75, -1, 0, 1.5, 2.75, 3.25})}},
                {.inputs = {given({3, 1}, {-3.5, 0.5, 3.5})}}},
    .wrong = {{.inputs = {complex({3})}}},
}};

}  // namespace
}  // namespace tessera
