#include <tessera/core/ops/binary_cross_entropy_with_logits.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<BinaryCrossEntropyWithLogits> kBinaryCrossEntropyWithLogitsCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}, 0, 1)}},
                {.inputs = {real({4, 6}), real({4, 6}, 0, 1), real({6}, 0.5, 2)}},
                {.inputs = {real({4, 6}, -40, 40), real({4, 1}, 0, 1), real({4, 6}, 0.5, 2)}}},
    .wrong = {{.inputs = {real({3}), real({2}, 0, 1)}},
              {.inputs = {real({3})}},
              {.inputs = {complex({2}), real({2}, 0, 1)}},
              {.inputs = {real({2}), real({2}, 0, 1), real({3})}}},
}};

}  // namespace
}  // namespace tessera
