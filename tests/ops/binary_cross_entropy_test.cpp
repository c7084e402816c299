#include <tessera/core/ops/binary_cross_entropy.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<BinaryCrossEntropy> kBinaryCrossEntropyCase{{
    .samples = {{.inputs = {real({4, 6}, 0.125, 0.875), real({4, 6}, 0.125, 0.875)}},
                {.inputs = {real({4, 6}, 0.125, 0.875), real({4, 1}, 0.125, 0.875)}}},
    .wrong = {{.inputs = {given({2}, {0.5, 1.5}), real({2}, 0, 1)}},
              {.inputs = {real({2}, 0, 1), given({2}, {-0.5, 0.5})}},
              {.inputs = {real({3}, 0, 1), real({2}, 0, 1)}},
              {.inputs = {real({2}, 0, 1)}},
              {.inputs = {complex({2}), real({2}, 0, 1)}}},
}};

}  // namespace
}  // namespace tessera
