#include <tessera/core/ops/squeeze.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Squeeze> kSqueezeCase{{
    .samples = {{.inputs = {real({4, 1, 6})}, .attrs = {.dim = 1}},
                {.inputs = {real({4, 1})}, .attrs = {.dim = -1}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dim = 0}}, {.inputs = {real({})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
