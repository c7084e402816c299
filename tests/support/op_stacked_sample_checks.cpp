// Stacked values that hold samples: what came of samples and of what exists once a microbatch. An
// op treats their samples as it treats samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

constexpr DType kDType = DType::f32;
constexpr int kParts = 2;

/// Per input of a call: the dim along which it holds samples, or -1.
using SampleDims = std::vector<int>;

bool divides(const std::vector<Tensor>& inputs, const SampleDims& dims) {
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (dims[i] >= 0 && inputs[i].defined()) {
      const std::int64_t size = inputs[i].size(dims[i]);
      if (size == 0 || size % kParts != 0) {
        return false;
      }
      any = true;
    }
  }
  return any;
}

/// The inputs with borders, along the samples or stacked.
std::vector<Tensor> cut_inputs(std::vector<Tensor> inputs, const SampleDims& dims, bool stacked) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (dims[i] >= 0 && inputs[i].defined()) {
      inputs[i] = as_microbatches(inputs[i], kParts, dims[i]);
      inputs[i] = stacked ? stack_microbatches(inputs[i]) : inputs[i];
    }
  }
  return inputs;
}

/// What the op gives; nothing, and why, where it refuses.
std::optional<Outputs> run(const OpDef& op, const std::vector<Tensor>& inputs, const void* attrs,
                           std::string& refusal) {
  try {
    return run_op(op, inputs, attrs);
  } catch (const Error& error) {
    refusal = error.what();
    return {};
  }
}

/// `compared` microbatches have the same bits.
void expect_alike(const Tensor& along, const Tensor& stacked, std::size_t compared,
                  const std::string& what) {
  ASSERT_TRUE(stacked.microbatches().per_microbatch) << what;
  EXPECT_EQ(stacked.microbatches().samples,
            along.microbatches() ? along.microbatches().sample_dim() : -1)
      << what;
  if (along.microbatches()) {
    const Outputs expected = unbind_microbatches(along), got = unbind_microbatches(stacked);
    for (std::size_t m = 0; m < compared; ++m) {
      expect_same_bits(got[m], expected[m], what + ", microbatch " + std::to_string(m));
    }
  }
}

/// False where dims that are whole since others differ from them in size are so no more.
bool pieces_are_alike(const OpDef& op, std::vector<Tensor> inputs, const SampleDims& dims,
                      const ShardRule& rule, const void* attrs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (dims[i] >= 0 && inputs[i].defined()) {
      inputs[i] = piece_of(inputs[i], dims[i], 0, kParts);
    }
  }
  try {
    const ShardRule of_piece = shard_rule_of(op, inputs, attrs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (dims[i] >= 0 && of_piece.inputs[i][dims[i]] != rule.inputs[i][dims[i]]) {
        return false;
      }
    }
  } catch (const InvalidArgument&) {  // both are refused then, for other reasons
  }
  return true;
}

void compare(const OpCaseData& c, const SampleData& sample, const ShardRule& rule,
             const SampleDims& dims, const std::string& what) {
  const std::vector<Tensor> inputs = make_inputs(sample, kDType);
  const auto attrs = sample.attrs_of_microbatch(sample.attrs_in(kDType).get(), 0, kParts);
  const auto next = sample.attrs_of_microbatch(sample.attrs_in(kDType).get(), 1, kParts);
  // Attributes that name places in the batch are those of the first microbatch.
  const std::size_t compared = c.op->attrs->equal(attrs.get(), next.get()) ? kParts : 1;
  if (!divides(inputs, dims) || !pieces_are_alike(*c.op, inputs, dims, rule, attrs.get())) {
    return;
  }
  std::string refusal_along = "none", refusal_stacked = "none";
  const auto along = run(*c.op, cut_inputs(inputs, dims, false), attrs.get(), refusal_along);
  const auto stacked = run(*c.op, cut_inputs(inputs, dims, true), attrs.get(), refusal_stacked);
  ASSERT_EQ(along.has_value(), stacked.has_value())
      << what << ": " << refusal_along << " and, stacked, " << refusal_stacked;
  for (std::size_t o = 0; along && o < along->size(); ++o) {
    expect_alike((*along)[o], (*stacked)[o], compared, what + ", output " + std::to_string(o));
  }
}

/// For each label, the dims that carry it; for each dim that is whole, that dim alone.
std::vector<SampleDims> all_sample_dims(const OpCaseData& c, const ShardRule& rule) {
  std::vector<SampleDims> all;
  const SampleDims none(rule.inputs.size(), -1);
  for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
    for (int d = 0; d < rule.inputs[i].size; ++d) {
      SampleDims dims = none;
      const std::int8_t label = rule.inputs[i][d];
      if (label == DimLabels::kWhole) {
        dims[i] = d;
      } else if (attributes_hold(*c.op, label)) {
        std::ranges::transform(rule.inputs, dims.begin(),
                               [&](const DimLabels& input) { return input.find(label); });
      }
      if (std::ranges::find(all, dims) == all.end()) {
        all.push_back(std::move(dims));
      }
    }
  }
  return all;
}

}  // namespace

void check_stacked_samples(const OpCaseData& c) {
  const NoGradGuard no_grad;
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample, kDType);
    if (std::ranges::any_of(inputs,
                            [](const Tensor& x) { return x.defined() && x.microbatches(); })) {
      continue;
    }
    const ShardRule rule = shard_rule_of(*c.op, inputs, sample.attrs_in(kDType).get());
    for (const SampleDims& dims : all_sample_dims(c, rule)) {
      std::string what = c.op->info.name;
      for (const int dim : dims) {
        what.append(" ").append(std::to_string(dim));
      }
      compare(c, sample, rule, dims, what);
    }
  }
}

}  // namespace tessera::test
