#include <tessera/core/ops/put.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Put> kPutCase{{
    .samples = {{.inputs = {real({2, 5, 4}), real({2, 3, 2, 4}), integers({3, 2}, -5, 5)},
                 .attrs = {.first = 1, .add = true}},
                {.inputs = {real({4, 3, 2}), real({2, 2}), given({2}, {1, 3}, DType::i64),
                            given({2}, {0, 2}, DType::i64)}},
                {.inputs = {real({4, 3}), real({3, 3}), given({3}, {1, -3, 0}, DType::i64)}},
                {.inputs = {real({3, 2}), real({3, 2}), given({2}, {1, 0}, DType::i64)},
                 .attrs = {.first = 1}}},
    .wrong = {{.inputs = {real({4}), real({3}), integers({2}, 0, 4)}},
              {.inputs = {real({4}), real({2}), integers({2}, 4, 5)}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
