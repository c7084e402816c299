#include <tessera/core/ops/as_strided.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

const RegisterOpCase<AsStrided> kAsStridedCase{{
    .samples = {{.inputs = {real({4, 6})},
                 .attrs = {.shape = {3, 2}, .strides = {2, 1}, .offset = 5}},
                {.inputs = {real({8})}, .attrs = {.shape = {3, 2}, .strides = {1, 1}}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.shape = {3}, .strides = {2}}},
              {.inputs = {real({2})}, .attrs = {.shape = {7}, .strides = {kLargest}, .offset = 4}},
              {.inputs = {real({1})}, .attrs = {.shape = {2}, .strides = {2}, .offset = kLargest}}},
    .dtypes = kAllDTypes,
    .strides = false,
}};

const RegisterOpCase<StridedSum> kStridedSumCase{{
    .samples = {{.inputs = {real({3, 2})},
                 .attrs = {.shape = {4, 3},
                           .view = {.shape = {3, 2}, .strides = {1, 1}, .offset = 4}}}},
    .wrong =
        {{.inputs = {real({4})}, .attrs = {.shape = {4}, .view = {.shape = {2}, .strides = {1}}}},
         {.inputs = {real({2})},
          .attrs = {.shape = {4}, .view = {.shape = {2}, .strides = {kLargest}, .offset = 1}}}},
}};

}  // namespace
}  // namespace tessera
