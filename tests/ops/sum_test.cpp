#include <tessera/core/ops/sum.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Sum> kCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dims = {1}}},
                {.inputs = {real({4, 6})}, .attrs = {.dims = {-1, 0}, .keepdim = true}},
                {.inputs = {real({4, 3})}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dims = {1}}},
              {.inputs = {real({4, 2})}, .attrs = {.dims = {0, -2}}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
