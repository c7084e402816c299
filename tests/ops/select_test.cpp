#include <tessera/core/ops/select.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Select> kSelectCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dim = 1, .index = 2}},
                {.inputs = {real({4, 6})}, .attrs = {.dim = -1, .index = -1}},
                {.inputs = {real({1, 2, 3})}, .attrs = {.dim = 1, .index = 1}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.index = 4}}, {.inputs = {real({})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
