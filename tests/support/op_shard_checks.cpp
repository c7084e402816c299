#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

std::set<std::int8_t> labels_of(const ShardRule& rule) {
  std::set<std::int8_t> labels;
  for (const DimLabels& input : rule.inputs) {
    for (int d = 0; d < input.size; ++d) {
      labels.insert(input[d]);
    }
  }
  labels.erase(DimLabels::kWhole);
  return labels;
}

/// The labels that slicing with unchanged attributes can check.
std::set<std::int8_t> checked_labels(const OpCaseData& c, const ShardRule& rule) {
  std::set<std::int8_t> labels = labels_of(rule);
  if (!c.shard_labels.empty()) {
    std::erase_if(labels,
                  [&](std::int8_t l) { return std::ranges::count(c.shard_labels, l) == 0; });
  }
  return labels;
}

bool divides(const std::vector<Tensor>& tensors, std::span<const DimLabels> dims, std::int8_t label,
             int pieces) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (int d = 0; d < dims[i].size; ++d) {
      const bool cut = dims[i][d] == label;
      if (cut && (tensors[i].shape()[d] == 0 || tensors[i].shape()[d] % pieces != 0)) {
        return false;
      }
    }
  }
  return true;
}

/// The inputs of one piece: views, unless the op takes dense inputs only.
std::vector<Tensor> cut(const OpCaseData& c, const std::vector<Tensor>& inputs,
                        const ShardRule& rule, std::int8_t label, int index, int pieces) {
  std::vector<Tensor> result = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (int d = 0; d < rule.inputs[i].size; ++d) {
      if (rule.inputs[i][d] == label) {
        result[i] = piece_of(result[i], d, index, pieces);
      }
    }
  }
  for (Tensor& piece : result) {
    piece = c.strides || !piece.defined() ? piece : converted(piece, piece.dtype());
  }
  return result;
}

Tensor sum_of(const std::vector<Outputs>& pieces, std::size_t output) {
  using Complex = std::complex<double>;
  const Tensor& first = pieces[0][output];
  Tensor sum = zeros(first.shape(), {.dtype = first.dtype()});
  for (const Outputs& piece : pieces) {
    std::int64_t next = 0;
    for_each_element(piece[output].get(), [&](std::int64_t at) {
      const auto total =
          load_as<Complex>(sum.get(), next) + load_as<Complex>(piece[output].get(), at);
      store_as(sum.get(), next++, total);
    });
  }
  return sum;
}

/// True when some output has no dim for what lies along `label`: sums over it, as gradients of
/// parameters are over the batch.
bool sums_over(const ShardRule& rule, std::int8_t label) {
  return std::ranges::any_of(rule.outputs,
                             [&](const DimLabels& output) { return output.find(label) < 0; });
}

/// Makes `inputs` hold as many microbatches along `label`.
void hold_microbatches(const std::vector<Tensor>& inputs, const ShardRule& rule, std::int8_t label,
                       int count) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const int dim = rule.inputs[i].find(label); dim >= 0) {
      inputs[i].get().set_cut({.parts = count, .dim = static_cast<std::int8_t>(dim)});
    }
  }
}

/// Where the outputs are cut along `label`, as what plans calls says of inputs that are.
InlineVector<std::int8_t, 3> output_dims(const ShardRule& rule, std::int8_t label) {
  std::vector<std::int8_t> dims;
  for (const DimLabels& input : rule.inputs) {
    dims.push_back(static_cast<std::int8_t>(input.find(label)));
  }
  const AxisUse use = follow(rule, dims);
  EXPECT_EQ(use.label, label);
  EXPECT_EQ(use.conflict, -1);
  return use.output_dims;
}

/// Compares the whole outputs with those of all pieces. Gives the number of comparisons.
int compare(const OpCaseData& c, const ShardRule& rule, std::int8_t label, const Outputs& whole,
            const std::vector<Outputs>& pieces) {
  int compared = 0;
  const int count = static_cast<int>(pieces.size());
  const std::string what = std::string(c.op->info.name) + " label " + std::to_string(label) +
                           " in " + std::to_string(count) + " pieces";
  const auto dims = output_dims(rule, label);
  for (std::size_t o = 0; o < whole.size(); ++o) {
    const int dim = dims[o];
    const bool stacked = whole[o].cut().stacked;
    for (int i = 0; (dim >= 0 || stacked) && i < count; ++i, ++compared) {
      const Tensor piece = stacked ? unbind_microbatches(whole[o])[static_cast<std::size_t>(i)]
                                   : piece_of(whole[o], dim, i, count);
      expect_same_bits(pieces[static_cast<std::size_t>(i)][o], piece, what);
    }
    if (dim < 0 && !stacked && rule.reduction == ShardRule::Reduction::sum) {
      expect_near(sum_of(pieces, o), whole[o], {.ulps = 16, .of_largest = 8}, what);
      ++compared;
    }
  }
  return compared;
}

/// True where pieces of two along both labels can be checked.
bool can_cut_twice(const OpCaseData& c, const ShardRule& rule, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& outputs, std::int8_t label, std::int8_t other) {
  return c.strides && divides(inputs, rule.inputs, label, 2) &&
         divides(outputs, rule.outputs, label, 2) && divides(inputs, rule.inputs, other, 2) &&
         divides(outputs, rule.outputs, other, 2);
}

/// Output `o` of the quarters, put together along both labels, against the whole one.
void compare_quarters(const ShardRule& rule, std::array<std::int8_t, 2> pair, std::size_t o,
                      const Tensor& whole, const std::array<Outputs, 4>& quarters,
                      const std::string& what) {
  const int a = output_dims(rule, pair[0])[o];
  const int b = output_dims(rule, pair[1])[o];
  if ((a < 0 || b < 0) && rule.reduction != ShardRule::Reduction::sum) {
    return;
  }
  for (int i = 0; i < (a < 0 ? 1 : 2); ++i) {
    for (int j = 0; j < (b < 0 ? 1 : 2); ++j) {
      std::vector<Outputs> parts;
      for (int q = 0; q < 4; ++q) {
        if ((a < 0 || q / 2 == i) && (b < 0 || q % 2 == j)) {
          parts.push_back(quarters[static_cast<std::size_t>(q)]);
        }
      }
      const Tensor along = a < 0 ? whole : piece_of(whole, a, i, 2);
      const Tensor expected = b < 0 ? along : piece_of(along, b, j, 2);
      parts.size() == 1
          ? expect_same_bits(parts[0][o], expected, what)
          : expect_near(sum_of(parts, o), expected, {.ulps = 16, .of_largest = 8}, what);
    }
  }
}

/// Cuts one sample along each pair of its labels into quarters.
void compare_pairs(const OpCaseData& c, const SampleData& sample) {
  const std::vector<Tensor> inputs = make_inputs(sample);
  const auto attrs = sample.attrs();
  if (!c.op->attrs->equal(attrs.get(), sample.attrs_of_piece(attrs.get(), 1, 2).get())) {
    return;  // attributes of a piece tell of one axis alone
  }
  const Outputs whole = run_op(*c.op, inputs, attrs.get());
  const std::vector<Tensor> outputs(whole.begin(), whole.end());
  const ShardRule rule = shard_rule_of(*c.op, inputs, attrs.get());
  const std::set<std::int8_t> labels = checked_labels(c, rule);
  for (const std::int8_t label : labels) {
    for (const std::int8_t other : labels) {
      if (other <= label || !can_cut_twice(c, rule, inputs, outputs, label, other)) {
        continue;
      }
      std::array<Outputs, 4> quarters;
      for (int q = 0; q < 4; ++q) {
        const std::vector<Tensor> half = cut(c, inputs, rule, label, q / 2, 2);
        quarters[static_cast<std::size_t>(q)] =
            run_op(*c.op, cut(c, half, rule, other, q % 2, 2), attrs.get());
      }
      const std::string what = std::string(c.op->info.name) + " labels " + std::to_string(label) +
                               " and " + std::to_string(other);
      for (std::size_t o = 0; o < whole.size(); ++o) {
        compare_quarters(rule, {label, other}, o, whole[o], quarters, what);
      }
    }
  }
}

/// Cuts one sample along each of its labels. Gives the number of comparisons, or -1 where the rule
/// has no label to cut along.
int compare_pieces(const OpCaseData& c, const SampleData& sample, DType dtype) {
  const std::vector<Tensor> inputs = make_inputs(sample, dtype);
  const auto attrs = sample.attrs_in(dtype);
  const Outputs whole = run_op(*c.op, inputs, attrs.get());
  const ShardRule rule = shard_rule_of(*c.op, inputs, attrs.get());
  const std::vector<Tensor> outputs(whole.begin(), whole.end());
  int compared = checked_labels(c, rule).empty() ? -1 : 0;
  for (const std::int8_t label : checked_labels(c, rule)) {
    for (const int count : {2, 4}) {
      if (!divides(inputs, rule.inputs, label, count) ||
          !divides(outputs, rule.outputs, label, count)) {
        continue;
      }
      std::vector<Outputs> pieces;
      for (int i = 0; i < count; ++i) {
        const auto attrs_of_piece = sample.attrs_of_piece(attrs.get(), i, count);
        pieces.push_back(
            run_op(*c.op, cut(c, inputs, rule, label, i, count), attrs_of_piece.get()));
      }
      if (!c.means_of_microbatches) {
        compared += compare(c, rule, label, whole, pieces);
      }
      if (c.means_of_microbatches || (c.strides && sums_over(rule, label))) {
        const std::vector<Tensor> held = make_inputs(sample, dtype);
        hold_microbatches(held, rule, label, count);
        compared += compare(c, rule, label, run_op(*c.op, held, attrs.get()), pieces);
      }
    }
  }
  return compared;
}

}  // namespace

void check_shard_form(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample);
    const NoGradGuard no_grad;
    const Outputs outputs = run_op(*c.op, inputs, sample.attrs().get());
    const ShardRule rule = shard_rule_of(*c.op, inputs, sample.attrs().get());
    ASSERT_EQ(rule.inputs.size(), inputs.size());
    ASSERT_EQ(rule.outputs.size(), outputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(rule.inputs[i].size, inputs[i].defined() ? inputs[i].ndim() : 0) << "input " << i;
    }
    const std::set<std::int8_t> labels = labels_of(rule);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      ASSERT_EQ(rule.outputs[o].size, outputs[o].ndim()) << "output " << o;
      std::set<std::int8_t> seen;
      for (int d = 0; d < rule.outputs[o].size; ++d) {
        const std::int8_t label = rule.outputs[o][d];
        if (label != DimLabels::kWhole) {
          EXPECT_TRUE(labels.contains(label)) << "an output's label that no input has";
          EXPECT_TRUE(seen.insert(label).second) << "an output has a label twice";
        }
      }
    }
  }
}

void check_shard_truth(const OpCaseData& c) {
  const NoGradGuard no_grad;
  for (const DType dtype : {DType::f64, DType::f32}) {
    int compared = -1;
    for (const SampleData& sample : c.samples) {
      const int of_sample = compare_pieces(c, sample, dtype);
      compared = of_sample < 0 ? compared : std::max(compared, 0) + of_sample;
    }
    EXPECT_NE(compared, 0) << "no sample's dims divide into pieces, so no label was checked";
  }
  for (const SampleData& sample : c.samples) {
    if (!c.means_of_microbatches) {
      compare_pairs(c, sample);
    }
  }
}

void check_empty(const OpCaseData& c) {
  const NoGradGuard no_grad;
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample);
    const ShardRule rule = shard_rule_of(*c.op, inputs, sample.attrs().get());
    for (const std::int8_t label : checked_labels(c, rule)) {
      const std::vector<Tensor> nothing = cut(c, inputs, rule, label, 0, 0);
      try {
        const Outputs outputs = run_op(*c.op, nothing, sample.attrs().get());
        for (std::size_t o = 0; o < outputs.size(); ++o) {
          const int dim = rule.outputs[o].find(label);
          EXPECT_EQ(dim >= 0 ? outputs[o].shape()[dim] : 0, 0) << c.op->info.name;
        }
      } catch (const InvalidArgument&) {  // the largest of nothing, say
        EXPECT_EQ(rule.outputs[0].find(label), -1) << c.op->info.name;
      }
    }
  }
}

}  // namespace tessera::test
