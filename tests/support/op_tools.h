// Making inputs for op checks, running ops in all ways, and comparing what comes out.
#pragma once

#include <optional>
#include <vector>

#include "support/op_case.h"

namespace tessera::test {

/// Inputs of a sample; `dtype` replaces the dtype of those that take part in a sweep.
[[nodiscard]] std::vector<Tensor> make_inputs(const SampleData& sample,
                                              std::optional<DType> dtype = {});

/// Makes the derived inputs anew, after others changed.
void derive_inputs(const SampleData& sample, std::vector<Tensor>& inputs);

/// The inputs of a sample with nothing in some dims: those of a label of the shard rule, those of
/// one size, and each alone. Not all of them make a call that the op takes.
[[nodiscard]] std::vector<std::vector<Tensor>> inputs_of_nothing(const OpCaseData& c,
                                                                 const SampleData& sample,
                                                                 std::optional<DType> dtype = {});

/// The op through the whole pipeline.
[[nodiscard]] Outputs run_op(const OpDef& op, const std::vector<Tensor>& inputs, const void* attrs);
/// The text of an error names the op and both halves: `op: what is wrong; got X, expected Y`.
void expect_names_both_halves(const OpDef& op, const std::string& text, const std::string& what);
/// Outputs that the op's shape rule asks for, filled by `kernel` alone; nothing when it declines.
[[nodiscard]] std::optional<Outputs> run_kernel(const OpDef& op, OpDef::KernelFunction kernel,
                                                const std::vector<Tensor>& inputs,
                                                const void* attrs);
/// The same with the op's reference kernel.
[[nodiscard]] Outputs run_reference(const OpDef& op, const std::vector<Tensor>& inputs,
                                    const void* attrs);
[[nodiscard]] ShardRule shard_rule_of(const OpDef& op, const std::vector<Tensor>& inputs,
                                      const void* attrs);

/// The same elements with other strides: column-major, with gaps.
[[nodiscard]] Tensor strided_copy(const Tensor& x);
/// A view of what lies in `box`, without using ops.
[[nodiscard]] Tensor box_of(const Tensor& x, const Box& box);
/// Attributes of the piece of a call whose first output is `output`, as the op says.
[[nodiscard]] std::shared_ptr<const void> localised(const OpDef& op, const void* attrs,
                                                    const Box& output);
/// True when a call that holds microbatches along `label` has the attributes of one without: they
/// name no size there. Samples lie along label 0 where attributes name any.
[[nodiscard]] inline bool attributes_hold(const OpDef& op, std::int8_t label) {
  return op.localise == nullptr || label == 0;
}
/// Piece `index` of `pieces` along `dim`, without using ops. 0 pieces give an empty one.
[[nodiscard]] Tensor piece_of(const Tensor& x, int dim, int index, int pieces);
/// The elements in another dtype, dense.
[[nodiscard]] Tensor converted(const Tensor& x, DType dtype);
/// What a wide computation became in `dtype`: bools and integers wrap or truncate.
void expect_near(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                 const std::string& what);
void expect_same_bits(const Tensor& actual, const Tensor& expected, const std::string& what);

}  // namespace tessera::test
