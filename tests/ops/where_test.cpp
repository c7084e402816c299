#include <tessera/core/ops/where.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Where> kWhereCase{{
    .samples = {{.inputs = {booleans({4, 6}), real({4, 6}), real({4, 6})}},
                {.inputs = {booleans({4, 1}), real({2}), real({4, 1})}}},
    .wrong = {{.inputs = {real({4}), real({4}), real({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
