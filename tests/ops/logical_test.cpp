#include <tessera/core/ops/logical.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<LogicalAnd> kLogicalAndCase{{
    .samples = {{.inputs = {booleans({4, 6}), booleans({6})}}},
}};

const RegisterOpCase<LogicalOr> kLogicalOrCase{{
    .samples = {{.inputs = {booleans({4, 6}), booleans({6})}}},
}};

const RegisterOpCase<LogicalNot> kLogicalNotCase{{
    .samples = {{.inputs = {booleans({4, 6})}}},
}};

}  // namespace
}  // namespace tessera
