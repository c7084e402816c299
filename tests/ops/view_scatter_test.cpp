#include <tessera/core/ops/view_scatter.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<ViewScatter> kViewScatterCase{{
    .samples = {{.inputs = {real({4, 6}), real({3, 2})},
                 .attrs = {.shape = {3, 2}, .strides = {2, 1}, .offset = 5}}},
    .wrong = {{.inputs = {real({4}), real({3})}, .attrs = {.shape = {2}, .strides = {1}}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
