#include <tessera/core/ops/reshape.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Reshape> kReshapeCase{{
    .samples = {{.inputs = {real({4, 6})}, .attrs = {.shape = {-1, 3}}},
                {.inputs = {real({4, 2, 6})}, .attrs = {.shape = {-1, 6}}},
                {.inputs = {real({4, 6, 1})}, .attrs = {.shape = {-1, 2, 3}}},
                {.inputs = {real({1, 6, 1})}, .attrs = {.shape = {-1, 3, 2}}}},
    .wrong = {{.inputs = {real({4, 6})}, .attrs = {.shape = {5, -1}}},
              {.inputs = {real({4})}, .attrs = {.shape = {-1, -1}}},
              {.inputs = {real({4})}, .attrs = {.shape = {-2, 2}}}},
    .dtypes = kAllDTypes,
    .strides = false,
}};

}  // namespace
}  // namespace tessera
