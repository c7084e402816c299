#include <tessera/core/dispatch/split_plan.h>

#include <algorithm>
#include <string>

#include <tessera/core/base/module_path.h>
#include <tessera/core/tensor/microbatch_shape.h>

namespace tessera {
namespace {

/// True when an elementwise op can treat the dim of pieces as one more dim of its operands. What
/// all pieces share is a number then: a kernel may round otherwise where an operand is repeated.
bool broadcasts_over_microbatches(std::span<const TensorRef> inputs) {
  int stacked_ndim = -1;
  for (const Tensor& x : inputs) {
    if (x.defined() && x.microbatches().per_microbatch) {
      if (stacked_ndim >= 0 && x.ndim() != stacked_ndim) {
        return false;
      }
      stacked_ndim = x.ndim();
    }
  }
  for (const Tensor& x : inputs) {
    const bool fits = !x.defined() || x.microbatches().per_microbatch ||
                      (!x.microbatches() && x.ndim() < stacked_ndim && x.numel() == 1);
    if (!fits) {
      return false;
    }
  }
  return true;
}

std::int32_t common_microbatch_count(const char* op, std::span<const TensorRef> inputs) {
  std::int32_t microbatch_count = 0;
  for (const Tensor& x : inputs) {
    if (x.defined() && x.microbatches()) {
      check(microbatch_count == 0 || microbatch_count == x.microbatches().count, op,
            ": inputs hold different numbers of microbatches; got ", microbatch_count, " and ",
            x.microbatches().count,
            ", expected one number; what a loop keeps from one pass to another is kept for each "
            "Context::current().pass.first");
      microbatch_count = x.microbatches().count;
    }
  }
  return microbatch_count;
}

bool holds_samples(const Tensor& x) {
  return x.defined() && x.microbatches().sample_dim() >= 0;
}

/// How `op` goes on where its inputs hold samples; `rule` is that of one microbatch where some are
/// stacked.
AxisUse follow_samples(const OpDef& op, const ShardRule& rule, std::span<const TensorRef> inputs) {
  InlineVector<std::int8_t, 6> dims;
  for (const Tensor& x : inputs) {
    dims.push_back(holds_samples(x) ? x.microbatches().sample_dim() : std::int8_t{-1});
  }
  AxisUse use = follow(rule, {dims.data(), dims.size()});
  if (use.conflict >= 0) {
    const auto i = static_cast<std::size_t>(use.conflict);
    const bool whole = rule.inputs[i][dims[i]] == DimLabels::kWhole;
    fail_on_microbatches(op.info.name,
                         whole ? "mixes samples" : "meets samples along two different dims");
  }
  return use;
}

/// The dim of one microbatch that holds samples, of an elementwise op whose inputs have as many
/// dims.
std::int8_t common_sample_dim(const OpDef& op, std::span<const TensorRef> inputs) {
  std::int8_t dim = -1;
  for (const Tensor& x : inputs) {
    if (holds_samples(x)) {
      if (dim >= 0 && dim != x.microbatches().sample_dim()) {
        fail_on_microbatches(op.info.name, "meets samples along two different dims");
      }
      dim = x.microbatches().sample_dim();
    }
  }
  return dim;
}

ShardRule rule_of(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs) {
  if (op.shard == nullptr) {
    fail_on_microbatches(op.info.name, "has no rule for microbatches");
  }
  Infer infer(op.info.name, inputs);
  op.infer(infer, attrs);
  return op.shard(infer, attrs);
}

/// Per input: the dim with `label` of one that is not cut, as long as the samples of the pass; -1
/// for others. Empty when there is none.
InlineVector<std::int8_t, 4> unmarked_dims(const ShardRule& rule, std::int8_t label,
                                           std::span<const TensorRef> inputs) {
  std::int64_t samples = 0;
  for (const Tensor& x : inputs) {
    samples = x.defined() && x.microbatches() ? x.shape()[x.microbatches().dim] : samples;
  }
  InlineVector<std::int8_t, 4> dims;
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    const int dim = x.defined() && !x.microbatches() ? rule.inputs[i].find(label) : -1;
    const bool per_sample = dim >= 0 && x.shape()[dim] == samples && samples > 1;
    dims.push_back(static_cast<std::int8_t>(per_sample ? dim : -1));
    any |= per_sample;
  }
  return any ? dims : InlineVector<std::int8_t, 4>();
}

}  // namespace

void fail_on_microbatches(const char* op, const char* why) {
  const std::string module = current_module_path();
  fail<Unsupported>(
      op, ": ", why, module.empty() ? "" : " in module ", module,
      "; several microbatches cannot run in one pass; in LoaderOptions, grain = 1 makes "
      "the batch one microbatch, and at_once = 1 runs them one by one, each without "
      "the samples of the others");
}

void fail_on_other_borders(const char* op) {
  fail_on_microbatches(op, "writes several microbatches into a tensor of other borders");
}

SplitPlan plan_split(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
                     const CallContext& context) {
  SplitPlan plan;
  plan.microbatch_count = common_microbatch_count(op.info.name, inputs);
  for (const Tensor& x : inputs) {
    plan.per_microbatch_inputs |= x.defined() && x.microbatches().per_microbatch;
  }
  if (plan.per_microbatch_inputs) {
    plan.loop = !op.info.elementwise || !broadcasts_over_microbatches(inputs);
    plan.samples = plan.loop ? std::int8_t{-1} : common_sample_dim(op, inputs);
    return plan;
  }
  const ShardRule rule = rule_of(op, inputs, attrs);
  const AxisUse use = follow_samples(op, rule, inputs);
  plan.unmarked = unmarked_dims(rule, use.label, inputs);
  plan.output_dims = use.output_dims;
  const bool in_runs =
      std::ranges::all_of(inputs, [](const Tensor& x) { return !x.defined() || lie_in_runs(x); });
  // Of one microbatch as well, what is no sum over samples: the gradient may mix them inside it.
  const bool apart = plan.microbatch_count > 1 || rule.partial == ShardRule::Partial::none;
  plan.loop = use.sums && apart && !(op.info.sums_microbatches && in_runs);
  if (use.sums && plan.microbatch_count > 1 && !plan.loop) {
    plan.summed_microbatches = plan.microbatch_count;
    plan.per_microbatch = context.batch_sum == BatchSum::per_microbatch;
  }
  return plan;
}

void SplitPlan::set_microbatches(Infer& infer) const {
  const MicrobatchLayout pieces{
      .count = microbatch_count, .dim = 0, .per_microbatch = true, .samples = samples};
  const std::span<OutputSpec> specs = infer.outputs();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (per_microbatch_inputs) {
      specs[i].microbatches = pieces;
    } else if (output_dims[i] >= 0) {
      if (specs[i].shape[output_dims[i]] % microbatch_count !=
          0) {  // a reshape that takes samples apart
        fail_on_microbatches(infer.op(), "mixes samples");
      }
      specs[i].microbatches = {
          .count = microbatch_count, .dim = output_dims[i], .per_microbatch = false};
    } else if (per_microbatch) {
      specs[i].shape.insert(0, microbatch_count);
      specs[i].microbatches = pieces;
    }
  }
}

InlineVector<std::int8_t, 3> sample_dims_per_microbatch(const OpDef& op,
                                                        std::span<const TensorRef> inputs,
                                                        std::span<const TensorRef> first,
                                                        const void* attrs) {
  if (std::ranges::none_of(inputs, [](const Tensor& x) { return holds_samples(x); })) {
    return {};
  }
  return follow_samples(op, rule_of(op, first, attrs), inputs).output_dims;
}

}  // namespace tessera
