#include <tessera/core/ops/slice.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Slice> kSliceCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dim = 1, .start = 1, .end = 6, .step = 2}},
                {.inputs = {real({4, 6})}, .attrs = {.dim = -1, .start = -2}},
                {.inputs = {real({4, 6})}, .attrs = {.dim = 0, .start = 3, .end = 1}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dim = 1}},
              {.inputs = {real({4})}, .attrs = {.step = 0}},
              {.inputs = {real({})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
