#include <tessera/core/ops/gelu.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Gelu> kGeluCase{{
    .samples = {{.inputs = {real({4, 6}, -9, 9)}},
                {.inputs = {real({8})}, .attrs = {.tanh_form = true}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
