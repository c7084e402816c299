#include <tessera/core/ops/mean.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Mean> kMeanCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dims = {1}}},
                {.inputs = {real({4, 6})}, .attrs = {.dims = {-1, 0}, .keepdim = true}},
                {.inputs = {real({4, 3})}},
                {.inputs = {real({1, 2, 3})}, .attrs = {.dims = {1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dims = {1}}},
              {.inputs = {real({4, 2})}, .attrs = {.dims = {0, -2}}},
              {.inputs = {integers({4}, 0, 2)}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
