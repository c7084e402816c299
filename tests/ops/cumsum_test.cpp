#include <tessera/core/ops/cumsum.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Cumsum> kCumsumCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dim = 1}},
                {.inputs = {complex({4})}},
                {.inputs = {real({1, 2, 3})}, .attrs = {.dim = 1}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dim = 1}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
