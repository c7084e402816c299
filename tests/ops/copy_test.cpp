#include <tessera/core/ops/copy.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Copy> kCopyCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6})}}, {.inputs = {real({4, 6}), real({6})}}},
    .wrong = {{.inputs = {real({4}), real({2, 4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
