#include <tessera/core/ops/prelu.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Prelu> kPreluCase{{
    .samples = {{.inputs = {real({4, 6}).away_from_zero(), real({6})}},
                {.inputs = {real({2, 4, 3}).away_from_zero(), real({4, 1})}},
                {.inputs = {real({5}).away_from_zero(), given({}, {0.25}).constant()}}},
    .wrong = {{.inputs = {complex({3}), real({3})}}, {.inputs = {real({4}), real({3})}}},
}};

}  // namespace
}  // namespace tessera
