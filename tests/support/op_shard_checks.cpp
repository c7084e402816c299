#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/op_checks.h"
#include "support/op_pieces.h"
#include "support/op_tools.h"
#include "support/sweep.h"

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

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

using Labels = std::set<int>;
using Pairs = std::set<std::pair<std::int8_t, std::int8_t>>;

/// Labels of the samples of a case, and those along which they were cut and compared. Along some a
/// pass may hold microbatches, though pieces cannot be joined.
struct Seen {
  Labels labels, cut, cut_unevenly, of_microbatches, held_together;
  Pairs cut_pairs;
};

bool is_mean(const OpCaseData& c, std::size_t output) {
  return std::ranges::count(c.means_of_microbatches, static_cast<int>(output)) > 0;
}

/// Targets, the last input, that are not ignored.
double rows_that_count(const std::vector<Tensor>& inputs) {
  double rows = 0;
  for_each_element(inputs.back().get(), [&](std::int64_t at) {
    rows += load_as<std::int64_t>(inputs.back().get(), at) >= 0 ? 1 : 0;
  });
  return rows;
}

/// The outputs of a piece, of which means have the piece's weight in the whole.
Outputs run_weighted(const WholeCall& whole, const Stretches& stretches) {
  Outputs outputs = whole.run_piece(stretches);
  for (const int o : whole.c.means_of_microbatches) {
    if (o < static_cast<int>(outputs.size())) {
      const double weight =
          rows_that_count(whole.inputs_along(stretches)) / rows_that_count(whole.inputs);
      TensorImpl& mean = outputs[static_cast<std::size_t>(o)].get();
      for_each_element(
          mean, [&](std::int64_t at) { store_as(mean, at, load_as<double>(mean, at) * weight); });
    }
  }
  return outputs;
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
      inputs[i].get().set_microbatches({.count = count, .dim = static_cast<std::int8_t>(dim)});
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

std::string text_of(const WholeCall& whole, const Stretches& dealt) {
  std::ostringstream text;
  text << whole.c.op->info.name;
  for (const Stretch& s : dealt) {
    text << " label " << int{s.label} << " " << s.first << ":" << s.first + s.size << " of "
         << s.total;
  }
  return text.str();
}

bool can_be_summed(const WholeCall& whole, std::size_t output) {
  return whole.rule.partial == ShardRule::Partial::sum || is_mean(whole.c, output);
}

/// True when pieces along all of `labels` can be joined to output `output`.
bool can_be_joined(const WholeCall& whole, std::size_t output,
                   const std::vector<std::int8_t>& labels) {
  return can_be_summed(whole, output) || std::ranges::all_of(labels, [&](std::int8_t label) {
           return output_dims(whole.rule, label)[output] >= 0;
         });
}

bool can_be_joined(const WholeCall& whole, const std::vector<std::int8_t>& labels) {
  for (std::size_t o = 0; o < whole.outputs.size(); ++o) {
    if (can_be_joined(whole, o, labels)) {
      return true;
    }
  }
  return false;
}

/// Sums are formed in another order than that of the whole.
constexpr Tolerance kSums{.ulps = 16, .of_largest = 8};

void expect_part(const WholeCall& whole, std::size_t o, const Tensor& piece,
                 const Stretches& stretches) {
  const Tensor expected = whole.part_of_output(o, stretches);
  const std::string what = text_of(whole, stretches);
  is_mean(whole.c, o) ? expect_near(piece, expected, kSums, what)
                      : expect_same_bits(piece, expected, what);
}

/// Compares the whole outputs with those of the pieces along one label. Gives the number of
/// comparisons.
int compare_dealt(const WholeCall& whole, const Stretches& dealt) {
  std::vector<Outputs> pieces;
  for (const Stretch& stretch : dealt) {
    pieces.push_back(run_weighted(whole, {stretch}));
  }
  const auto dims = output_dims(whole.rule, dealt[0].label);
  const std::string what = text_of(whole, dealt);
  int compared = 0;
  for (std::size_t o = 0; o < whole.outputs.size(); ++o) {
    for (std::size_t i = 0; dims[o] >= 0 && i < dealt.size(); ++i, ++compared) {
      expect_part(whole, o, pieces[i][o], {dealt[i]});
    }
    if (dims[o] < 0 && can_be_summed(whole, o)) {
      expect_near(sum_of(pieces, o), whole.outputs[o], kSums, what);
      ++compared;
    }
  }
  return compared;
}

/// Compares a call that holds microbatches along a label with calls on each of them alone.
int compare_held(const WholeCall& whole, const SampleData& sample, DType dtype,
                 const Stretches& dealt) {
  const std::vector<Tensor> held = make_inputs(sample, dtype);
  const int count = static_cast<int>(dealt.size());
  hold_microbatches(held, whole.rule, dealt[0].label, count);
  const Outputs outputs = run_op(*whole.c.op, held, whole.attrs.get());
  int compared = 0;
  for (int i = 0; i < count; ++i) {
    const Outputs alone = whole.run_piece({dealt[static_cast<std::size_t>(i)]});
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const int dim = output_dims(whole.rule, dealt[0].label)[o];
      if (dim >= 0 || outputs[o].microbatches().per_microbatch) {
        const Tensor piece = outputs[o].microbatches().per_microbatch
                                 ? unbind_microbatches(outputs[o])[static_cast<std::size_t>(i)]
                                 : piece_of(outputs[o], dim, i, count);
        expect_same_bits(alone[o], piece, text_of(whole, dealt) + " held together");
        ++compared;
      }
    }
  }
  return compared;
}

bool is_even(const Stretches& dealt) {
  return std::ranges::all_of(dealt, [&](const Stretch& s) { return s.size == dealt[0].size; });
}

/// Cuts one sample along each of its labels.
void compare_pieces(const OpCaseData& c, const SampleData& sample, DType dtype, Seen& seen) {
  const WholeCall whole(c, make_inputs(sample, dtype), sample.attrs_in(dtype));
  for (const std::int8_t label : labels_of(whole.rule)) {
    (can_be_joined(whole, {label}) ? seen.labels : seen.of_microbatches).insert(label);
    const std::int64_t parts = whole.parts_along(label);
    if (parts < 2) {
      continue;
    }
    for (const Stretches& dealt : dealings(label, parts)) {
      if (compare_dealt(whole, dealt) > 0) {
        (is_even(dealt) ? seen.cut : seen.cut_unevenly).insert(label);
      }
      const bool means = !c.means_of_microbatches.empty();
      if (is_even(dealt) && (means || (c.strides && sums_over(whole.rule, label))) &&
          compare_held(whole, sample, dtype, dealt) > 0) {
        seen.held_together.insert(label);
      }
    }
  }
}

/// Output `o` of the quarters, put together along both labels, against the whole one.
void compare_quarters(const WholeCall& whole, std::size_t o, const Stretches& along,
                      const Stretches& across, const std::vector<Outputs>& quarters) {
  const bool joins = output_dims(whole.rule, along[0].label)[o] >= 0;
  const bool joins_across = output_dims(whole.rule, across[0].label)[o] >= 0;
  for (std::size_t i = 0; i < (joins ? 2 : 1); ++i) {
    for (std::size_t j = 0; j < (joins_across ? 2 : 1); ++j) {
      std::vector<Outputs> parts;
      for (std::size_t q = 0; q < 4; ++q) {
        if ((!joins || q / 2 == i) && (!joins_across || q % 2 == j)) {
          parts.push_back(quarters[q]);
        }
      }
      const Stretches both{along[i], across[j]};
      parts.size() == 1 ? expect_part(whole, o, parts[0][o], both)
                        : expect_near(sum_of(parts, o), whole.part_of_output(o, both), kSums,
                                      text_of(whole, both));
    }
  }
}

/// Cuts one sample along two of its labels into quarters that are not equal.
void compare_pair(const WholeCall& whole, std::int8_t label, std::int8_t other) {
  const Stretches along = dealings(label, whole.parts_along(label)).back();
  const Stretches across = dealings(other, whole.parts_along(other)).back();
  std::vector<Outputs> quarters;
  for (std::size_t q = 0; q < 4; ++q) {
    quarters.push_back(run_weighted(whole, {along[q / 2], across[q % 2]}));
  }
  for (std::size_t o = 0; o < whole.outputs.size(); ++o) {
    if (can_be_joined(whole, o, {label, other})) {
      compare_quarters(whole, o, along, across, quarters);
    }
  }
}

/// Pairs of labels of a sample along which pieces can be joined.
Pairs pairs_of(const WholeCall& whole) {
  Pairs pairs;
  const std::set<std::int8_t> labels = labels_of(whole.rule);
  for (const std::int8_t label : labels) {
    for (const std::int8_t other : labels) {
      if (label < other && can_be_joined(whole, {label, other})) {
        pairs.emplace(label, other);
      }
    }
  }
  return pairs;
}

/// Pairs of labels of all samples of a case, or a few of them.
Pairs sampled_pairs(const OpCaseData& c) {
  Pairs all, drawn;
  for (const SampleData& sample : c.samples) {
    all.merge(pairs_of(WholeCall(c, make_inputs(sample), sample.attrs())));
  }
  for (const int number : sampled(static_cast<int>(all.size()), 2)) {
    drawn.insert(*std::next(all.begin(), number));
  }
  return drawn;
}

void compare_pairs(const OpCaseData& c, const SampleData& sample, DType dtype, const Pairs& pairs,
                   Seen& seen) {
  const WholeCall whole(c, make_inputs(sample, dtype), sample.attrs_in(dtype));
  const Pairs own = pairs_of(whole);
  for (const auto& [label, other] : pairs) {
    if (own.contains({label, other}) && whole.parts_along(label) >= 2 &&
        whole.parts_along(other) >= 2) {
      compare_pair(whole, label, other);
      seen.cut_pairs.emplace(label, other);
    }
  }
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
  const Pairs pairs = sampled_pairs(c);
  for (const DType dtype : {DType::f64, DType::f32}) {
    Seen seen;
    for (const SampleData& sample : c.samples) {
      compare_pieces(c, sample, dtype, seen);
      compare_pairs(c, sample, dtype, pairs, seen);
    }
    EXPECT_EQ(seen.cut, seen.labels) << "labels along which samples divide into equal pieces";
    EXPECT_EQ(seen.cut_unevenly, seen.labels) << "labels along which samples are dealt unevenly";
    EXPECT_EQ(seen.cut_pairs, pairs) << "pairs of labels along which samples are cut";
    if (c.strides) {
      EXPECT_TRUE(std::ranges::includes(seen.held_together, seen.of_microbatches));
    }
    if (!c.means_of_microbatches.empty()) {
      EXPECT_EQ(seen.held_together, seen.labels);
    }
  }
}

void check_empty(const OpCaseData& c) {
  const NoGradGuard no_grad;
  for (const SampleData& sample : c.samples) {
    const WholeCall whole(c, make_inputs(sample), sample.attrs());
    for (const std::int8_t label : labels_of(whole.rule)) {
      try {
        const Outputs outputs = whole.run_piece({{.label = label}});
        for (std::size_t o = 0; o < outputs.size(); ++o) {
          const int dim = whole.rule.outputs[o].find(label);
          EXPECT_EQ(dim >= 0 ? outputs[o].shape()[dim] : 0, 0) << c.op->info.name;
        }
      } catch (const InvalidArgument&) {  // the largest of nothing, say
        EXPECT_EQ(whole.rule.outputs[0].find(label), -1) << c.op->info.name;
      }
    }
  }
}

}  // namespace tessera::test
