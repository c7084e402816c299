#include <tessera/core/dispatch/cut_stage.h>

#include <algorithm>
#include <vector>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/modes.h>
#include <tessera/core/autograd/views.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {
namespace {

/// True when an elementwise op can treat the dim of pieces as one more dim of its operands. What
/// all pieces share is a number then: a kernel may round otherwise where an operand is repeated.
bool broadcasts_over_pieces(std::span<const TensorRef> inputs) {
  int stacked_ndim = -1;
  for (const Tensor& x : inputs) {
    if (x.defined() && x.cut().stacked) {
      if (stacked_ndim >= 0 && x.ndim() != stacked_ndim) {
        return false;
      }
      stacked_ndim = x.ndim();
    }
  }
  for (const Tensor& x : inputs) {
    const bool fits =
        !x.defined() || x.cut().stacked || (!x.cut() && x.ndim() < stacked_ndim && x.numel() == 1);
    if (!fits) {
      return false;
    }
  }
  return true;
}

std::int32_t common_parts(const char* op, std::span<const TensorRef> inputs) {
  std::int32_t parts = 0;
  for (const Tensor& x : inputs) {
    if (x.defined() && x.cut()) {
      check(parts == 0 || parts == x.cut().parts, op,
            ": inputs hold different numbers of microbatches; got ", parts, " and ", x.cut().parts,
            ", expected one number; what a loop keeps from one pass to another is kept for each "
            "Context::current().pass.first");
      parts = x.cut().parts;
    }
  }
  return parts;
}

bool holds_samples(const Tensor& x) {
  return x.defined() && x.cut().sample_dim() >= 0;
}

/// The label of the dims that hold samples; `rule` is that of one microbatch where some inputs are
/// stacked.
std::int8_t cut_label(const OpDef& op, const ShardRule& rule, std::span<const TensorRef> inputs) {
  std::int8_t label = DimLabels::kWhole;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!holds_samples(inputs[i])) {
      continue;
    }
    const std::int8_t found = rule.inputs[i][inputs[i]->cut().sample_dim()];
    if (found == DimLabels::kWhole) {
      fail_on_microbatches(op.info.name, "mixes samples");
    }
    if (label != DimLabels::kWhole && found != label) {
      fail_on_microbatches(op.info.name, "meets samples along two different dims");
    }
    label = found;
  }
  return label;
}

/// Of an elementwise op whose inputs have as many dims: the dim of one microbatch that holds
/// samples.
std::int8_t common_sample_dim(const OpDef& op, std::span<const TensorRef> inputs) {
  std::int8_t dim = -1;
  for (const Tensor& x : inputs) {
    if (holds_samples(x)) {
      if (dim >= 0 && dim != x.cut().sample_dim()) {
        fail_on_microbatches(op.info.name, "meets samples along two different dims");
      }
      dim = x.cut().sample_dim();
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

/// Per output: the dim with `label`, or -1.
InlineVector<std::int8_t, 3> dims_with(std::int8_t label, const ShardRule& rule) {
  InlineVector<std::int8_t, 3> dims;
  for (const DimLabels& output : rule.outputs) {
    dims.push_back(static_cast<std::int8_t>(output.find(label)));
  }
  return dims;
}

/// Per input: the dim with `label` of one that is not cut, as long as the samples of the pass; -1
/// for others. Empty when there is none.
InlineVector<std::int8_t, 4> unmarked_dims(const ShardRule& rule, std::int8_t label,
                                           std::span<const TensorRef> inputs) {
  std::int64_t samples = 0;
  for (const Tensor& x : inputs) {
    samples = x.defined() && x.cut() ? x.shape()[x.cut().dim] : samples;
  }
  InlineVector<std::int8_t, 4> dims;
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    const int dim = x.defined() && !x.cut() ? rule.inputs[i].find(label) : -1;
    const bool per_sample = dim >= 0 && x.shape()[dim] == samples && samples > 1;
    dims.push_back(static_cast<std::int8_t>(per_sample ? dim : -1));
    any |= per_sample;
  }
  return any ? dims : InlineVector<std::int8_t, 4>();
}

/// Stale views are recorded anew in the order in which the op takes them, as without microbatches:
/// it is the order in which gradients are added.
void settle_views(std::span<const TensorRef> inputs) {
  for (const Tensor& x : inputs) {
    if (Modes::current().record && x.defined()) {
      settle_view(x);
    }
  }
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

CutPlan plan_cut(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs) {
  CutPlan plan;
  plan.parts = common_parts(op.info.name, inputs);
  for (const Tensor& x : inputs) {
    plan.stacked_inputs |= x.defined() && x.cut().stacked;
  }
  if (plan.stacked_inputs) {
    plan.loop = !op.info.elementwise || !broadcasts_over_pieces(inputs);
    plan.samples = plan.loop ? std::int8_t{-1} : common_sample_dim(op, inputs);
    return plan;
  }
  const ShardRule rule = rule_of(op, inputs, attrs);
  const std::int8_t label = cut_label(op, rule, inputs);
  plan.unmarked = unmarked_dims(rule, label, inputs);
  plan.output_dims = dims_with(label, rule);
  const bool sums = std::ranges::any_of(plan.output_dims, [](std::int8_t dim) { return dim < 0; });
  const bool in_runs =
      std::ranges::all_of(inputs, [](const Tensor& x) { return !x.defined() || lie_in_runs(x); });
  // Of one microbatch as well, what is no sum over samples: the gradient may mix them inside it.
  const bool apart = plan.parts > 1 || rule.reduction == ShardRule::Reduction::none;
  plan.loop = sums && apart && !(op.info.cuts_sums && in_runs);
  if (sums && plan.parts > 1 && !plan.loop) {
    plan.sum_parts = plan.parts;
    plan.stack = Modes::current().batch_sum == BatchSum::stack;
  }
  return plan;
}

void CutPlan::set_cuts(Infer& infer) const {
  const Cut pieces{.parts = parts, .dim = 0, .stacked = true, .samples = samples};
  const std::span<OutputSpec> specs = infer.outputs();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (stacked_inputs) {
      specs[i].cut = pieces;
    } else if (output_dims[i] >= 0) {
      if (specs[i].shape[output_dims[i]] % parts != 0) {  // a reshape that takes samples apart
        fail_on_microbatches(infer.op(), "mixes samples");
      }
      specs[i].cut = {.parts = parts, .dim = output_dims[i], .stacked = false};
    } else if (stack) {
      specs[i].shape.insert(0, parts);
      specs[i].cut = pieces;
    }
  }
}

std::vector<Tensor> marked_inputs(std::span<const TensorRef> inputs, const CutPlan& plan) {
  settle_views(inputs);
  std::vector<Tensor> marked;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    const int dim = plan.unmarked[i];
    marked.push_back(dim < 0 ? x : as_microbatches(x, plan.parts, dim));
  }
  return marked;
}

namespace {

/// One for each microbatch; empty where all take the same. What all take and has a gradient is
/// repeated, so that the gradients of the microbatches stay apart; one is not, as in a pass that
/// does not know that it is one.
Outputs slices_of(const Tensor& x, std::int32_t parts) {
  if (x.defined() && x.cut()) {
    return unbind_microbatches(x);
  }
  const bool has_gradient = x.defined() && x.requires_grad() && Modes::current().record;
  return has_gradient && parts > 1 ? unbind_microbatches(repeat_microbatches(x, parts)) : Outputs{};
}

/// `joined` from what a view op gives for each microbatch of `shown`, as a view of `shown` itself;
/// `first` shows the first microbatch. What is written to one is read through the other.
Tensor view_of_all(const Tensor& shown, const Tensor& first, const Tensor& joined) {
  const TensorImpl& from = joined.get();
  auto view = make_ref<TensorImpl>(first.get().storage, from.shape, from.dtype, from.device);
  view->strides = first.strides();
  view->strides.insert(0, shown.strides()[0]);
  view->offset = first.get().offset;
  view->cut = from.cut;
  view->inference = from.inference;
  link_view(*view, shown.impl());
  if (from.autograd != nullptr) {
    view->autograd = std::make_unique<AutogradMeta>(*from.autograd);
    const AutogradMeta* base = view->base ? view->base->autograd.get() : nullptr;
    view->autograd->epoch = base != nullptr ? base->epoch : 0;
  }
  return Tensor(std::move(view));
}

/// `joined`, in the memory of `destination` where that is defined.
Tensor written_to(const OpDef& op, Tensor destination, Tensor joined) {
  if (!destination.defined()) {
    return joined;
  }
  if (destination.cut() != joined.cut()) {
    fail_on_other_borders(op.info.name);
  }
  return destination.copy_(joined);
}

/// `inputs`, with copies of those that a recorded call is about to overwrite.
std::vector<Tensor> kept_inputs(std::span<const TensorRef> inputs, const Outputs& destinations) {
  const auto overwritten = [&](const Tensor& x) {
    return std::ranges::any_of(destinations, [&](const Tensor& to) {
      return to.defined() && x.defined() && to.shares_storage(x);
    });
  };
  std::vector<Tensor> kept;
  for (const Tensor& x : inputs) {
    kept.push_back(Modes::current().record && overwritten(x) ? snapshot(x) : x);
  }
  return kept;
}

/// Note [Second gradients of one microbatch]. A recorded gradient that reads what the op saved adds
/// to the gradient of that. Of one microbatch of several it adds it there, where the microbatches
/// are apart, and only their join meets the other uses: sums are taken in another order than in a
/// pass of one microbatch. The last bits would depend on how many share a pass, so on ranks, and
/// backward refuses it.
void mark_second_gradient(const OpDef& op, const Outputs& results) {
  for (const Tensor& y : results) {
    const AutogradMeta* meta = y.get().autograd.get();
    if (meta != nullptr && meta->producer) {
      meta->producer->of_one_microbatch = op.info.saved_inputs != 0 || op.info.saved_outputs != 0;
    }
  }
}

/// The inputs of a call for each microbatch alone.
class Slices {
 public:
  Slices(std::span<const TensorRef> inputs, std::int32_t parts)
      : inputs_(inputs), of_inputs_(inputs.size()) {
    settle_views(inputs);
    // The last input first: gradients of a tensor that comes twice are added in the op's order.
    for (std::size_t i = inputs.size(); i-- > 0;) {
      of_inputs_[i] = slices_of(inputs[i], parts);
    }
  }

  [[nodiscard]] std::vector<TensorRef> operator[](std::int32_t m) const {
    std::vector<TensorRef> piece;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      piece.push_back(of_inputs_[i].empty()
                          ? inputs_[i]
                          : TensorRef(of_inputs_[i][static_cast<std::size_t>(m)]));
    }
    return piece;
  }

 private:
  std::span<const TensorRef> inputs_;
  std::vector<Outputs> of_inputs_;  ///< of each input, one a microbatch
};

/// What `op` gives for each microbatch alone.
std::vector<Outputs> results_by_microbatch(const OpDef& op, const Slices& slices, const void* attrs,
                                           std::int32_t parts) {
  std::vector<Outputs> results;
  for (std::int32_t m = 0; m < parts; ++m) {
    call(op, slices[m], attrs, results.emplace_back());
    if (parts > 1) {
      mark_second_gradient(op, results.back());
    }
  }
  return results;
}

/// Per output of a call with stacked inputs: the dim of one microbatch that holds its samples, or
/// -1. Throws when the op mixes samples: what came of `x - mean(x, {0}, true)` may no more be
/// compared with other samples than x, of which a microbatch is but a part.
InlineVector<std::int8_t, 3> stacked_sample_dims(const OpDef& op, std::span<const TensorRef> inputs,
                                                 const std::vector<TensorRef>& first,
                                                 const void* attrs) {
  if (std::ranges::none_of(inputs, [](const Tensor& x) { return holds_samples(x); })) {
    return {};
  }
  const ShardRule rule = rule_of(op, first, attrs);
  return dims_with(cut_label(op, rule, inputs), rule);
}

/// The output of the whole call from what each microbatch gave, of which dim `dim` holds samples.
Tensor joined_output(const OpDef& op, std::span<const TensorRef> inputs,
                     std::span<const TensorRef> pieces, int dim, const Tensor& destination,
                     const CutPlan& plan) {
  if (plan.stacked_inputs) {  // it stays so: the gradient of a leaf is added up by the leaf
    Tensor joined = join_microbatches(pieces, -1, dim);
    return op.info.view ? view_of_all(inputs[0], pieces[0], joined)
                        : written_to(op, destination, std::move(joined));
  }
  if (dim < 0 && plan.parts == 1) {
    return written_to(op, destination, pieces[0]);
  }
  Tensor joined = join_microbatches(pieces, dim);
  return dim < 0 && Modes::current().batch_sum == BatchSum::tree
             ? sum_microbatches(joined, destination)
             : written_to(op, destination, std::move(joined));
}

}  // namespace

void call_by_microbatch(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
                        Outputs& outputs, const CutPlan& plan) {
  const Outputs destinations = outputs;
  const std::vector<Tensor> kept = kept_inputs(inputs, destinations);
  const std::vector<TensorRef> read(kept.begin(), kept.end());
  const Slices slices(read, plan.parts);
  const auto dims =
      plan.stacked_inputs ? stacked_sample_dims(op, inputs, slices[0], attrs) : plan.output_dims;
  const std::vector<Outputs> results = results_by_microbatch(op, slices, attrs, plan.parts);
  outputs.clear();
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    std::vector<TensorRef> pieces;
    for (const Outputs& result : results) {
      pieces.emplace_back(result[i]);
    }
    const int dim = i < dims.size() ? dims[i] : -1;
    const Tensor destination = i < destinations.size() ? destinations[i] : Tensor();
    outputs.push_back(joined_output(op, inputs, pieces, dim, destination, plan));
  }
}

}  // namespace tessera
