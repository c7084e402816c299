#include <tessera/core/ops/topk.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Topk> kTopkCase{{
    .samples = {{.inputs = {distinct({4, 7})}, .attrs = {.k = 3}},
                {.inputs = {distinct({6, 4})}, .attrs = {.k = 2, .dim = 0, .largest = false}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.k = 5}},
              {.inputs = {real({})}},
              {.inputs = {complex({4})}}},
    .dtypes = kNumberDTypes,
}};

}  // namespace
}  // namespace tessera
