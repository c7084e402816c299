// Several microbatches in one pass against each alone: values and gradients have the same bits,
// whichever inputs know where they are cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::test {
namespace {

constexpr DType kDType = DType::f32;

/// A sample that is cut into `count` microbatches along `label`.
struct Cutting {
  const OpCaseData* op_case;
  const SampleData* sample;
  ShardRule rule;
  std::int8_t label;
  int count;

  [[nodiscard]] int dim_of(std::size_t input) const { return rule.inputs[input].find(label); }
  [[nodiscard]] std::string name() const {
    return std::string(op_case->op->info.name) + " label " + std::to_string(label) + " in " +
           std::to_string(count);
  }
};

/// Outputs and gradients of the inputs, undefined where there is none.
struct Result {
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;
};

/// Weights that differ from element to element.
Tensor weights_of(const Tensor& y) {
  Tensor w = empty(y.shape(), {.dtype = y.dtype()});
  w.get().set_microbatches(y.microbatches());
  for (std::int64_t i = 0; i < w.numel(); ++i) {
    store_as(w.get(), i, std::cos(static_cast<double>(i)));
  }
  return w;
}

bool has_gradient(const Cutting& c, const std::vector<Tensor>& inputs, std::size_t i) {
  const InputSpec& spec = c.sample->inputs[i];
  return c.op_case->gradient && c.op_case->op->info.differentiable && spec.differentiates &&
         inputs[i].defined() && is_differentiable(inputs[i].dtype());
}

/// `seeds` are made where they are empty.
Result run(const Cutting& c, const std::vector<Tensor>& inputs, const void* attrs,
           std::vector<Tensor>& seeds) {
  std::vector<Tensor> leaves;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (has_gradient(c, inputs, i)) {
      leaves.push_back(inputs[i]);
      leaves.back().set_requires_grad(true);
      places.push_back(i);
    }
  }
  const Outputs outputs = run_op(*c.op_case->op, inputs, attrs);
  Result result{.outputs = {}, .gradients = std::vector<Tensor>(inputs.size())};
  std::vector<Tensor> roots;
  for (const Tensor& y : outputs) {
    result.outputs.push_back(y.detach());
    const bool counts = static_cast<int>(roots.size()) < c.op_case->gradient_outputs;
    if (y.requires_grad() && counts) {
      roots.push_back(y);
    }
  }
  if (roots.empty()) {
    return result;
  }
  if (seeds.empty()) {
    std::ranges::transform(roots, std::back_inserter(seeds), weights_of);
  }
  const std::vector<Tensor> gradients = grad(roots, leaves, seeds);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result.gradients[places[i]] = gradients[i];
  }
  return result;
}

Tensor dense(const Tensor& x) {
  return x.defined() ? converted(x.detach(), x.dtype()) : x;
}

std::vector<Tensor> inputs_of_piece(const Cutting& c, int m) {
  std::vector<Tensor> inputs = make_inputs(*c.sample, kDType);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const int dim = inputs[i].defined() ? c.dim_of(i) : -1; dim >= 0) {
      inputs[i] = dense(piece_of(inputs[i], dim, m, c.count));
    }
  }
  return inputs;
}

/// Microbatch `m` of what a pass of several gave; `cut` says where it lies.
Tensor piece(Tensor x, const MicrobatchLayout& layout, int m) {
  x = x.detach();
  x.get().set_microbatches(layout);
  return dense(unbind_microbatches(x)[static_cast<std::size_t>(m)]);
}

void expect_gradient(const Cutting& c, std::size_t input, const Tensor& whole,
                     const std::vector<Result>& pieces, const std::string& what) {
  const int dim = c.dim_of(input);
  if (dim < 0) {
    std::vector<Tensor> all;
    for (const Result& r : pieces) {
      ASSERT_EQ(r.gradients[input].defined(), whole.defined()) << what;
      all.push_back(r.gradients[input]);
    }
    if (whole.defined()) {
      const std::vector<TensorRef> refs(all.begin(), all.end());
      expect_same_bits(whole, sum_microbatches(join_microbatches(refs, -1)), what);
    }
    return;
  }
  const MicrobatchLayout layout{.count = c.count, .dim = static_cast<std::int8_t>(dim)};
  for (int m = 0; whole.defined() && m < c.count; ++m) {
    expect_same_bits(piece(whole, layout, m), pieces[static_cast<std::size_t>(m)].gradients[input],
                     what);
  }
}

/// What has no borders is the sum over microbatches.
void expect_output(const Tensor& whole, const std::vector<Result>& pieces, std::size_t output,
                   const std::string& what) {
  std::vector<TensorRef> all;
  for (const Result& r : pieces) {
    all.emplace_back(r.outputs[output]);
  }
  if (!whole.microbatches()) {
    expect_same_bits(whole, sum_microbatches(join_microbatches(all, -1)), what);
    return;
  }
  for (std::size_t m = 0; m < all.size(); ++m) {
    expect_same_bits(piece(whole, whole.microbatches(), static_cast<int>(m)), *all[m], what);
  }
}

/// Runs the sample with borders on those inputs along the label that `marked` has a bit for.
/// False where the op refuses.
bool compare(const Cutting& c, std::uint32_t marked, const std::string& what) {
  const std::vector<Tensor> inputs = make_inputs(*c.sample, kDType);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const int dim = inputs[i].defined() ? c.dim_of(i) : -1; dim >= 0 && (marked >> i & 1U)) {
      inputs[i].get().set_microbatches({.count = c.count, .dim = static_cast<std::int8_t>(dim)});
    }
  }
  std::vector<Tensor> seeds;
  Result whole;
  try {
    // Attributes that name places in the batch are those of a microbatch, the first one here.
    const auto attrs = c.sample->attrs_of_microbatch(c.sample->attrs_in(kDType).get(), 0, c.count);
    whole = run(c, inputs, attrs.get(), seeds);
  } catch (const Unsupported&) {
    return false;
  }
  std::vector<Result> pieces;
  for (int m = 0; m < c.count; ++m) {
    std::vector<Tensor> of_piece;
    for (const Tensor& seed : seeds) {
      of_piece.push_back(piece(seed, seed.microbatches(), m));
    }
    const auto attrs = c.sample->attrs_of_microbatch(c.sample->attrs_in(kDType).get(), m, c.count);
    pieces.push_back(run(c, inputs_of_piece(c, m), attrs.get(), of_piece));
  }
  for (std::size_t o = 0; o < whole.outputs.size(); ++o) {
    expect_output(whole.outputs[o], pieces, o, what + " output " + std::to_string(o));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect_gradient(c, i, whole.gradients[i], pieces, what + " gradient " + std::to_string(i));
  }
  return true;
}

/// The inputs that lie along the label, as bits; 0 where one does not divide.
std::uint32_t inputs_along(const Cutting& c) {
  const std::vector<Tensor> inputs = make_inputs(*c.sample, kDType);
  std::uint32_t along = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int dim = inputs[i].defined() ? c.dim_of(i) : -1;
    if (dim >= 0 && (inputs[i].size(dim) == 0 || inputs[i].size(dim) % c.count != 0)) {
      return 0;
    }
    along |= dim >= 0 ? 1U << i : 0U;
  }
  return along;
}

/// True when samples may lie along the label: some input holds it.
bool holds_samples(const ShardRule& rule, std::int8_t label) {
  return std::ranges::any_of(rule.inputs,
                             [&](const DimLabels& input) { return input.find(label) >= 0; });
}

std::set<std::int8_t> labels_of(const OpCaseData& c, const ShardRule& rule) {
  std::set<std::int8_t> labels;
  for (const DimLabels& input : rule.inputs) {
    for (int d = 0; d < input.size; ++d) {
      const bool checked = attributes_hold(*c.op, input[d]);
      if (input[d] != DimLabels::kWhole && checked && holds_samples(rule, input[d])) {
        labels.insert(input[d]);
      }
    }
  }
  return labels;
}

}  // namespace

void check_microbatches(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample, kDType);
    const bool holds_some = std::ranges::any_of(
        inputs, [](const Tensor& x) { return x.defined() && x.microbatches(); });
    if (holds_some) {
      continue;
    }
    const ShardRule rule = shard_rule_of(*c.op, inputs, sample.attrs_in(kDType).get());
    for (const std::int8_t label : labels_of(c, rule)) {
      for (const int count : {2, 4}) {
        const Cutting cutting{&c, &sample, rule, label, count};
        const std::uint32_t along = inputs_along(cutting);
        for (std::uint32_t marked = 1; marked <= along; ++marked) {
          if ((marked & ~along) == 0) {
            static_cast<void>(
                compare(cutting, marked, cutting.name() + " marked " + std::to_string(marked)));
          }
        }
      }
    }
  }
}

}  // namespace tessera::test
