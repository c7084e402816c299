#include <tessera/core/ops/as_strided.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<AsStrided> kAsStridedCase{{
    .samples = {{.inputs = {real({4, 6})},
                 .attrs = {.shape = {3, 2}, .strides = {2, 1}, .offset = 5}},
                {.inputs = {real({8})}, .attrs = {.shape = {3, 2}, .strides = {1, 1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.shape = {3}, .strides = {2}}}},
    .dtypes = kAllDTypes,
    .strides = false,
}};

const RegisterOpCase<StridedSum> kStridedSumCase{{
    .samples = {{.inputs = {real({3, 2})},
                 .attrs = {.shape = {4, 3},
                           .view = {.shape = {3, 2}, .strides = {1, 1}, .offset = 4}}}},
    .wrong = {{.inputs = {real({4})},
               .attrs = {.shape = {4}, .view = {.shape = {2}, .strides = {1}}}}},
}};

}  // namespace
}  // namespace tessera
