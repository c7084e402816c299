#include <tessera/core/ops/one_hot.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<OneHot> kOneHotCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 5)}, .attrs = {.classes = 5}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.classes = 2}},
              {.inputs = {integers({4}, 5, 6)}, .attrs = {.classes = 5}}},
}};

}  // namespace
}  // namespace tessera
