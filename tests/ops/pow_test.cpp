#include <tessera/core/ops/pow.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Pow> kPowCase{{
    .samples = {{.inputs = {real({4, 6}, 0.5, 2), real({4, 6})}},
                {.inputs = {real({4, 1}, 0.5, 2), real({2})}},
                {.inputs = {real({4, 6}, 0.5, 2), given({}, {2})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}},
}};

}  // namespace
}  // namespace tessera
