#include <tessera/core/autograd/backward_counts.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <tessera/core/autograd/accumulation.h>
#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/autograd/seed.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/loop.h>
#include <tessera/core/base/tree.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// The roots' counts as one loss's.
PassCounts counts_of_roots(std::span<const Tensor> roots, std::span<const Tensor> seeds) {
  Ref<const LossCounts> found;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (const LossCounts* counts = counts_of(roots[i]);
        counts != nullptr && is_weighed(roots[i], seeds[i])) {
      found = combine_counts(found, Ref<const LossCounts>(counts));
    }
  }
  for (std::size_t i = 0; found && i < roots.size(); ++i) {
    if (counts_of(roots[i]) == nullptr && is_weighed(roots[i], seeds[i]) &&
        is_plain_mean(roots[i])) {
      found = beside(found, "a mean over all samples");
    }
  }
  for (std::size_t i = 0; found && i < roots.size(); ++i) {
    check<Unsupported>(
        is_weighed(roots[i], seeds[i]) || Context::current().pass.grain == 1,
        "backward: a gradient is given beside ", found->loss,
        ", whose gradients are multiplied once more by what counts in the step; call "
        "backward on each, on the first with {.keep_graph = true} where they share a "
        "forward");
  }
  return found ? PassCounts{found->loss, read_counts("backward", *found), found->elements}
               : PassCounts{};
}

/// The samples of one microbatch, which are as many in all of a step.
double samples_of_microbatch() {
  const Pass& pass = Context::current().pass;
  return pass.samples == 0 ? 1
                           : static_cast<double>(pass.samples) / static_cast<double>(pass.count);
}

/// Gives `counts` the n of the run, which is that of all ranks where the sinks sum over some.
/// Returns one of these sinks, null for none.
std::shared_ptr<GradientSink> tell_sinks(std::span<const LeafRun> leaves, PassCounts& counts) {
  std::map<std::uint64_t, std::shared_ptr<GradientSink>> sinks;
  for (const LeafRun& run : leaves) {
    if (const auto* sink = dynamic_cast<CountedSink*>(run.leaf().sink.get()); sink != nullptr) {
      sinks.try_emplace(sink->sum_number(), run.leaf().sink);
    }
  }
  ElementsOfRun& run = *Context::current().elements;
  const double samples = samples_of_microbatch();
  counts.elements = run.keep_first(current_loss_key(), counts.elements / samples) * samples;
  for (const auto& [number, sink] : sinks) {
    counts.elements = dynamic_cast<CountedSink&>(*sink).take_counts(counts);
    run.keep(current_loss_key(), counts.elements / samples);
  }
  return sinks.empty() ? nullptr : sinks.begin()->second;
}

Tensor times(Tensor dense, double factor) {
  return is_exclusive(dense) && !grad_enabled() ? mul_(dense, factor) : dense * factor;
}

}  // namespace

GradientScale scale_of(std::vector<double> counts, double elements) {
  const auto grain = static_cast<double>(counts.size());
  for (double& count : counts) {
    count = count == kPlainLoss ? elements : count;
  }
  tree_sum(counts, std::ssize(counts), 1);
  const bool nothing = counts[0] == 0;
  if (nothing && Context::current().rank == 0) {
    log_once("nothing counted", LogLevel::warning,
             "backward: no element of the global batch counts in the loss (ignored targets, zero "
             "weights); gradients are 0 and the step is skipped");
  }
  return {nothing || grain == 1 ? 1 : elements * grain / counts[0], nothing};
}

void BackwardCounts::begin(std::span<const Tensor> roots, std::span<const Tensor> seeds,
                           std::span<const LeafRun> leaves) {
  PassCounts counts = counts_of_roots(roots, seeds);
  const Pass& pass = Context::current().pass;
  const bool alone = pass.grain == 1;  // behind a loop what it left is a batch of its own
  const std::size_t microbatch_count =
      alone ? counts.values.size() : static_cast<std::size_t>(pass.count);
  const std::size_t grain = alone ? microbatch_count : static_cast<std::size_t>(pass.grain);
  if (counts.values.size() == 1) {  // one loss for all of the pass
    counts.values.resize(microbatch_count, counts.values[0]);
  }
  if (counts.values.empty() || counts.values.size() != microbatch_count) {
    return;
  }
  told_ = tell_sinks(leaves, counts);
  if (grain == 1) {
    scale_ = scale_of(counts.values, counts.elements);
    return;
  }
  const bool whole = pass.count == pass.grain;
  const bool open = !whole && std::ranges::any_of(leaves, [](const LeafRun& run) {
    return run.leaf().sink == nullptr;  // of a model that is data parallel in part, some are
  });
  const double elements = open ? count_in_accumulation(counts) : counts.elements;
  for (const double count : counts.values) {
    weights_.push_back(count / elements / static_cast<double>(grain));
  }
  scale_ = whole ? scale_of(counts.values, elements) : GradientScale{};
}

std::optional<GradientScale> BackwardCounts::scale_of_step() const {
  auto* sink = dynamic_cast<CountedSink*>(told_.get());
  return sink != nullptr ? std::optional(sink->scale_of_step()) : std::nullopt;
}

GradChange add_scaled_to_grad(LeafNode& leaf, Contribution total, GradientScale scale) {
  const bool hooked = leaf.hooks != nullptr && !leaf.hooks->empty();
  if (total.rows.defined() && (hooked || scale.factor != 1)) {
    total.dense = add_sparse(total.dense, std::exchange(total.rows, {}), leaf.meta);
  }
  if (scale.factor != 1) {
    total.dense = times(std::move(total.dense), scale.factor);
  }
  total.dense = leaf.run_hooks(std::move(total.dense));
  return leaf.add_to_grad(std::move(total), scale.nothing);
}

LossKey current_loss_key() {
  const Loop* loop = Context::current().loop.get();
  return {loop != nullptr ? loop->source : 0, backward_in_pass()};
}

bool counted_nothing(const Tensor& parameter) {
  const LeafNode* leaf = known_leaf_of(parameter);
  return leaf != nullptr && leaf->counted_nothing();
}

}  // namespace tessera
