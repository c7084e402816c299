// What must hold for every op: one function a promise, each a GoogleTest body.
#pragma once

#include "support/op_case.h"

namespace tessera::test {

/// Wrong calls throw InvalidArgument that names both halves, or Unsupported whose text begins with
/// the op's name.
void check_rejects_wrong_calls(const OpCaseData& c);
/// Every listed dtype runs and is as near to the f64 result as the dtype allows.
void check_dtypes(const OpCaseData& c);
/// Fast kernels agree with the reference kernel, on dense and on strided inputs.
void check_kernels(const OpCaseData& c);
/// Fast kernels agree with the reference kernel, on every instruction set, where inputs hold
/// infinities, nan, the largest and the smallest numbers, zeros: one, nothing else, many of them,
/// in 1 to 33 elements. The reference is an oracle of another kind: plain code, number by number,
/// in doubles, in which no sum or square of floats overflows. A seeded sample; --gtest_shuffle
/// --gtest_repeat=N takes N others.
void check_special_values(const OpCaseData& c);
/// Strided inputs give the bits that dense ones give.
void check_strides(const OpCaseData& c);
/// Strided destinations get the bits that fresh outputs get.
void check_destinations(const OpCaseData& c);
/// Inputs sliced to nothing along any label run and give nothing there.
void check_empty(const OpCaseData& c);
/// Whatever dim of an input has size 0: kernels, reference and fast ones, write every element of
/// their outputs, and agree.
void check_empty_kernels(const OpCaseData& c);
/// The same for gradients, which finite differences confirm: those of other inputs are zero where
/// nothing comes out. In f32 they agree with those in f64.
void check_empty_gradient(const OpCaseData& c);
/// Inputs have the same gradients, bit for bit, whichever others want one.
void check_gradient_of_each(const OpCaseData& c);
/// Meta tensors get the shapes and dtypes that real ones get.
void check_meta(const OpCaseData& c);
/// Writing into the first input gives what a fresh output gives.
void check_in_place(const OpCaseData& c);
/// Gradients against central finite differences, f64.
void check_gradient(const OpCaseData& c);
/// Gradients of gradients against finite differences of gradients.
void check_second_gradient(const OpCaseData& c);
/// Expects Unsupported where the gradient of an op's gradient is asked for, or is to be recorded.
void check_refuses_second_gradient(const OpCaseData& c);
/// The shard rule fits the inputs' and outputs' dims.
void check_shard_form(const OpCaseData& c);
/// Cutting all inputs along a label, into even and uneven pieces for 2 to 4 ranks, or along two
/// labels, running each, and joining the outputs gives the whole. Samples must be large enough for
/// all of this, for every label and pair of labels along which outputs can be joined.
void check_shard_truth(const OpCaseData& c);
/// Several microbatches in one pass give the values and gradients of each alone, bit for bit, or
/// Unsupported: along every label that samples may lie along, and whichever of the inputs along it
/// know their borders.
void check_microbatches(const OpCaseData& c);
/// An elementwise op gives the bits of each microbatch alone where some inputs exist once a
/// microbatch and all microbatches share the others.
void check_stacked(const OpCaseData& c);
/// Stacked values that hold samples are taken where samples are, and refused where samples are,
/// give each microbatch's bits, and the results know which dim holds samples.
void check_stacked_samples(const OpCaseData& c);
/// On a device whose memory the host cannot touch, and whose work comes late, forward, backward and
/// writes over inputs give the CPU's bits, in several orders of work on several streams.
void check_guarded(const OpCaseData& c);

}  // namespace tessera::test
