#include <tessera/core/ops/argmin.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Argmin> kArgminCase{{
    .samples = {{.inputs = {distinct({4, 6, 2})}, .attrs = {.dims = {1}}},
                {.inputs = {distinct({4, 6})}},
                {.inputs = {distinct({1, 2, 3})}, .attrs = {.dims = {1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dims = {1}}},
              {.inputs = {real({4, 2})}, .attrs = {.dims = {0, -2}}},
              {.inputs = {complex({4})}},
              {.inputs = {booleans({4})}},
              {.inputs = {real({0})}}},
}};

}  // namespace
}  // namespace tessera
