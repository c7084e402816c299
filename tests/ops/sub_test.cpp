#include <tessera/core/ops/sub.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Sub> kSubCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6})}},
                {.inputs = {real({4, 1, 2}), real({8, 1})}},
                {.inputs = {complex({4}), real({4})}},
                {.inputs = {real({1, 1, 3}), real({2, 1})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}, {.inputs = {booleans({4}), booleans({4})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
