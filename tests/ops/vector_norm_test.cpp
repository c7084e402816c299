#include <tessera/core/ops/norm.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Norm> kNormCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.reduce = {.dims = {1}}}},
                {.inputs = {real({4, 6})}, .attrs = {.reduce = {.dims = {-1, 0}, .keepdim = true}}},
                {.inputs = {complex({4, 3})}},
                {.inputs = {given({2, 4}, {0, 2, 0, -1, 0.5, 0, 0, 0})},
                 .attrs = {.reduce = {.dims = {1}}}},
                {.inputs = {real({4, 6}).away_from_zero()},
                 .attrs = {.reduce = {.dims = {1}}, .p = 3}},
                {.inputs = {real({4, 6}).away_from_zero()},
                 .attrs = {.reduce = {.dims = {0}}, .p = 1}},
                {.inputs = {distinct({4, 7}).away_from_zero()},
                 .attrs = {.reduce = {.dims = {1}}, .p = 0}},
                {.inputs = {real({1, 2, 3}).away_from_zero()}, .attrs = {.reduce = {.dims = {1}}}}},
    .wrong = {{.inputs = {integers({4}, 0, 3)}}, {.inputs = {real({4})}, .attrs = {.p = -1}}},
}};

}  // namespace
}  // namespace tessera
