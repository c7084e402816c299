#include <tessera/core/ops/unsqueeze.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Unsqueeze> kUnsqueezeCase{{
    .samples = {{.inputs = {real({4, 6})}, .attrs = {.dim = 1}},
                {.inputs = {real({4})}, .attrs = {.dim = -1}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dim = 3}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
