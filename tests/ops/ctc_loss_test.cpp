#include <tessera/core/ops/ctc_loss.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kLogProbs = real({5, 4, 3}, -3, 0);
const InputSpec kLabels = given({4, 2}, {1, 2, 2, 2, 1, 0, 0, 0}, DType::i64);
const InputSpec kFrames = given({4}, {5, 3, 2, 4}, DType::i64);
const InputSpec kLengths = given({4}, {2, 2, 1, 0}, DType::i64);

const RegisterOpCase<CtcLoss> kCtcLossCase{{
    .samples = {{.inputs = {kLogProbs, kLabels, kFrames, kLengths}},
                {.inputs = {kLogProbs, given({4, 1}, {0, 1, 1, 0}, DType::i64),
                            given({4}, {5, 0, 1, 2}, DType::i64),
                            given({4}, {1, 1, 1, 1}, DType::i64)},
                 .attrs = {.blank = 2, .zero_infinity = true}}},
    .wrong = {{.inputs = {kLogProbs, kLabels, kFrames, kLengths}, .attrs = {.blank = 3}},
              {.inputs = {kLogProbs, kLabels, kFrames, kLengths}, .attrs = {.blank = 1}},
              {.inputs = {kLogProbs, kLabels, given({4}, {6, 3, 2, 4}, DType::i64), kLengths}},
              {.inputs = {kLogProbs, kLabels, kFrames, given({4}, {3, 2, 1, 0}, DType::i64)}},
              {.inputs = {kLogProbs, integers({4, 2}, 3, 5), kFrames, kLengths}},
              {.inputs = {kLogProbs, kLabels, kFrames}},
              {.inputs = {kLogProbs, kLabels, real({4}), kLengths}},
              {.inputs = {kLogProbs, integers({3, 2}, 1, 3), kFrames, kLengths}},
              {.inputs = {real({5, 4}), kLabels, kFrames, kLengths}}},
    .second_gradient = SecondGradient::refused,
}};

const RegisterOpCase<CtcLossBackward> kCtcLossBackwardCase{{
    .samples = {{.inputs = {kLogProbs, kLabels, kFrames, kLengths, real({4})}}},
    .wrong = {{.inputs = {kLogProbs, kLabels, kFrames, kLengths, real({3})}},
              {.inputs = {kLogProbs, kLabels, kFrames, kLengths, integers({4}, 0, 2)}},
              {.inputs = {kLogProbs, kLabels, kFrames, kLengths}}},
    .gradient = false,  // Unsupported: second derivatives of the loss
}};

}  // namespace
}  // namespace tessera
