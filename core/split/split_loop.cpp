#include <tessera/core/split/split_loop.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/views.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/loss_counts.h>

namespace tessera {
namespace {

/// Stale views are recorded anew in the order in which the op takes them, as without microbatches:
/// it is the order in which gradients are added.
void settle_views(std::span<const TensorRef> inputs, const CallContext& context) {
  for (const Tensor& x : inputs) {
    if (context.record && x.defined()) {
      settle_view(x);
    }
  }
}

/// One for each microbatch; empty where all take the same. What all take and has a gradient is
/// repeated, so that the gradients of the microbatches stay apart; one is not, as in a pass that
/// does not know that it is one.
Outputs slices_of(const Tensor& x, std::int32_t microbatch_count, const CallContext& context) {
  if (x.defined() && x.microbatches()) {
    return unbind_microbatches(x);
  }
  const bool has_gradient = x.defined() && x.requires_grad() && context.record;
  return has_gradient && microbatch_count > 1
             ? unbind_microbatches(repeat_microbatches(x, microbatch_count))
             : Outputs{};
}

/// `joined` from what a view op gives for each microbatch of `shown`, as a view of `shown` itself;
/// `first` shows the first microbatch. What is written to one is read through the other.
Tensor view_of_all(const Tensor& shown, const Tensor& first, const Tensor& joined) {
  const TensorImpl& from = joined.get();
  auto view = make_ref<TensorImpl>(first.get().storage, from.shape, from.dtype, from.device);
  view->strides = first.strides();
  view->strides.insert(0, shown.strides()[0]);
  view->offset = first.get().offset;
  view->set_microbatches(from.microbatches());
  view->inference = from.inference;
  link_view(*view, shown.impl());
  view->set_counts(from.counts());
  if (from.autograd != nullptr) {
    copy_place(from, *view);
    view->epoch = view->base ? view->base->epoch.load() : 0;
  }
  return Tensor(std::move(view));
}

/// `joined`, in the memory of `destination` where that is defined.
Tensor written_to(const OpDef& op, Tensor destination, Tensor joined) {
  if (!destination.defined()) {
    return joined;
  }
  if (destination.microbatches() != joined.microbatches()) {
    fail_on_other_borders(op.info.name);
  }
  return destination.copy_(joined);
}

/// `inputs`, with copies of those that a recorded call is about to overwrite.
std::vector<Tensor> kept_inputs(const Call& call, const CallContext& context) {
  const auto overwritten = [&](const Tensor& x) {
    return std::ranges::any_of(call.outputs, [&](const Tensor& to) {
      return to.defined() && x.defined() && to.shares_storage(x);
    });
  };
  std::vector<Tensor> kept;
  for (const Tensor& x : call.inputs) {
    kept.push_back(context.record && overwritten(x) ? snapshot(x) : x);
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
  Slices(std::span<const TensorRef> inputs, std::int32_t microbatch_count,
         const CallContext& context)
      : inputs_(inputs), of_inputs_(inputs.size()) {
    settle_views(inputs, context);
    // The last input first: gradients of a tensor that comes twice are added in the op's order.
    for (std::size_t i = inputs.size(); i-- > 0;) {
      of_inputs_[i] = slices_of(inputs[i], microbatch_count, context);
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
                                           std::int32_t microbatch_count) {
  std::vector<Outputs> results;
  for (std::int32_t m = 0; m < microbatch_count; ++m) {
    tessera::call(op, slices[m], attrs, results.emplace_back());
    if (microbatch_count > 1) {
      mark_second_gradient(op, results.back());
    }
  }
  return results;
}

/// The output of the whole call from what each microbatch gave, of which dim `dim` holds samples.
Tensor joined_output(const Call& call, std::span<const TensorRef> pieces, int dim,
                     const Tensor& destination, const SplitPlan& plan, const CallContext& context) {
  const OpDef& op = call.op;
  if (plan.per_microbatch_inputs) {  // it stays so: the gradient of a leaf is added up by the leaf
    Tensor joined = join_microbatches(pieces, -1, dim);
    return op.info.view ? view_of_all(call.inputs[0], pieces[0], joined)
                        : written_to(op, destination, std::move(joined));
  }
  if (dim < 0 && plan.microbatch_count == 1) {
    return written_to(op, destination, pieces[0]);
  }
  Tensor joined = join_microbatches(pieces, dim);
  return dim < 0 && context.batch_sum == BatchSum::tree
             ? sum_microbatches(joined, destination)
             : written_to(op, destination, std::move(joined));
}

}  // namespace

std::vector<Tensor> marked_inputs(std::span<const TensorRef> inputs, const SplitPlan& plan,
                                  const CallContext& context) {
  settle_views(inputs, context);
  std::vector<Tensor> marked;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    const int dim = plan.unmarked[i];
    marked.push_back(dim < 0 ? x : as_microbatches(x, plan.microbatch_count, dim));
  }
  return marked;
}

void call_by_microbatch(Call& call, const SplitPlan& plan, const CallContext& context) {
  const Outputs destinations = call.outputs;
  const std::vector<Tensor> kept = kept_inputs(call, context);
  const std::vector<TensorRef> read(kept.begin(), kept.end());
  const Slices slices(read, plan.microbatch_count, context);
  const auto dims = plan.per_microbatch_inputs
                        ? sample_dims_per_microbatch(call.op, call.inputs, slices[0], call.attrs)
                        : plan.output_dims;
  const std::vector<Outputs> results =
      results_by_microbatch(call.op, slices, call.attrs, plan.microbatch_count);
  call.outputs.clear();
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    std::vector<TensorRef> pieces;
    for (const Outputs& result : results) {
      pieces.emplace_back(result[i]);
    }
    const int dim = i < dims.size() ? dims[i] : -1;
    const Tensor destination = i < destinations.size() ? destinations[i] : Tensor();
    call.outputs.push_back(joined_output(call, pieces, dim, destination, plan, context));
  }
}

}  // namespace tessera
