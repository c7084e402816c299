#include <tessera/core/ops/pad.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Pad> kPadCase{{
    .samples = {{.inputs = {real({4, 6})},
                 .attrs = {.before = {0, 1}, .after = {0, 2}, .value = 3}},
                {.inputs = {real({3, 2})},
                 .attrs = {.before = {1, 0}, .after = {0, 0}, .between = {2, 1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.before = {0, 1}, .after = {0}}},
              {.inputs = {real({4})}, .attrs = {.before = {-1}, .after = {0}}},
              {.inputs = {real({2})}, .attrs = {.before = {INT64_MAX}, .after = {INT64_MAX}}},
              {.inputs = {real({2})},
               .attrs = {.before = {INT64_MAX}, .after = {INT64_MAX}, .between = {2}}},
              {.inputs = {real({3})},
               .attrs = {.before = {0}, .after = {0}, .between = {INT64_MAX}}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
