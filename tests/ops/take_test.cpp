#include <tessera/core/ops/take.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Take> kTakeCase{{
    .samples = {{.inputs = {real({2, 5, 4}), integers({3, 2}, -5, 5)}, .attrs = {.first = 1}},
                {.inputs = {real({4, 3, 2}), integers({6}, 0, 4), integers({6}, 0, 3)}},
                {.inputs = {real({3, 4, 1}), integers({1, 3}, 0, 4)}, .attrs = {.first = 1}}},
    .wrong = {{.inputs = {real({4}), integers({2}, 4, 5)}},
              {.inputs = {real({4}), real({2})}},
              {.inputs = {real({4})}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
