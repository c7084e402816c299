#include <tessera/core/ops/tril.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Tril> kTrilCase{{
    .samples = {{.inputs = {real({4, 3, 5})}},
                {.inputs = {real({3, 3})}, .attrs = {.diagonal = 1}}},
    .wrong = {{.inputs = {real({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
