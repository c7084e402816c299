#include <tessera/core/ops/expand.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Expand> kExpandCase{{
    .samples = {{.inputs = {real({4, 1})}, .attrs = {.shape = {2, -1, 6}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.shape = {3}}},
              {.inputs = {real({4})}, .attrs = {.shape = {}}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
