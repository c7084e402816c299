#include <tessera/core/ops/flip.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Flip> kFlipCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dims = {1, -1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dims = {1}}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
