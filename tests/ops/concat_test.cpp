#include <tessera/core/ops/concat.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Concat> kConcatCase{{
    .samples = {{.inputs = {real({4, 2}), real({4, 6})}, .attrs = {.dim = 1}},
                {.inputs = {real({2, 4}), real({2, 4}), real({4, 4})}}},
    .wrong = {{.inputs = {real({4}), real({4, 1})}},
              {.inputs = {real({4, 1}), real({3, 1})}, .attrs = {.dim = 1}},
              {.inputs = {real({})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
