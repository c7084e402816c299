#include <tessera/core/ops/block_squares.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<BlockSquares> kBlockSquaresCase{{
    .samples = {{.inputs = {real({4, 6}), real({}), real({0, 3})}},
                {.inputs = {real({BlockSquares::kBlock + 5})}}},
    .wrong = {{.inputs = {}}, {.inputs = {integers({4}, 0, 2)}}},
    .strides = false,
}};

}  // namespace
}  // namespace tessera
