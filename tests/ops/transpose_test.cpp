#include <tessera/core/ops/transpose.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Transpose> kTransposeCase{{
    .samples = {{.inputs = {real({4, 2, 6})}},
                {.inputs = {real({4, 2, 6})}, .attrs = {.first = 0, .second = 2}},
                {.inputs = {real({1, 3, 2})}}},
    .wrong = {{.inputs = {real({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
