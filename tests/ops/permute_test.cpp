#include <tessera/core/ops/permute.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Permute> kPermuteCase{{
    .samples = {{.inputs = {real({4, 2, 6})}, .attrs = {.order = {2, 0, -2}}},
                {.inputs = {real({1, 3, 2})}, .attrs = {.order = {2, 0, -2}}}},
    .wrong = {{.inputs = {real({4, 2})}, .attrs = {.order = {0, 0}}},
              {.inputs = {real({4, 2})}, .attrs = {.order = {0}}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
