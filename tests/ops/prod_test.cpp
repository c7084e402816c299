#include <tessera/core/ops/prod.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Prod> kProdCase{{
    .samples = {{.inputs = {real({4, 6, 2}).away_from_zero()}, .attrs = {.dims = {1}}},
                {.inputs = {real({4, 3})}},
                {.inputs = {given({2, 3}, {0, 2, 3, 0, 0, 5})},
                 .attrs = {.dims = {1}, .keepdim = true}},
                {.inputs = {complex({3})}},
                {.inputs = {real({})}},
                {.inputs = {real({1, 2, 3}).away_from_zero()}, .attrs = {.dims = {1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dims = {1}}},
              {.inputs = {real({4, 2})}, .attrs = {.dims = {0, -2}}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
