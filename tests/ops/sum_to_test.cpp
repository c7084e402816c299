#include <tessera/core/ops/sum_to.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<SumTo> kSumToCase{{
    .samples = {{.inputs = {real({4, 2, 6})}, .attrs = {.shape = {2, 6}}},
                {.inputs = {real({2, 3})}, .attrs = {.shape = {3}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.shape = {3}}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
