#include <tessera/core/ops/var.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Var> kVarCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.reduce = {.dims = {1}}, .correction = 0}},
                {.inputs = {real({4, 6})},
                 .attrs = {.reduce = {.dims = {-1, 0}, .keepdim = true}, .correction = 0}},
                {.inputs = {complex({4, 3})}},
                {.inputs = {real({1, 2, 3})}, .attrs = {.reduce = {.dims = {1}}}}},
    .wrong = {{.inputs = {integers({4}, 0, 3)}}},
}};

}  // namespace
}  // namespace tessera
