#include <tessera/core/autograd/seed.h>

#include <numeric>
#include <vector>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera {
namespace {

Tensor constant_for(const Tensor& root, double value, const MicrobatchLayout& layout = {}) {
  Tensor constant = full(root.shape(), value, {.dtype = root.dtype(), .device = root.device()});
  constant.get().set_microbatches(layout);
  return constant;
}

/// 1/G a microbatch. A root that exists once stands for all of the pass. Behind a loop what it left
/// is a batch of its own.
double share_of_step(bool per_microbatch, std::int32_t microbatch_count) {
  const Pass& pass = Context::current().pass;
  const double microbatches = per_microbatch ? 1 : static_cast<double>(pass.count);
  return microbatches /
         static_cast<double>(per_microbatch && pass.grain == 1 ? microbatch_count : pass.grain);
}

Tensor weighted(const Tensor& root, std::span<const double> weights, bool per_microbatch) {
  if (per_microbatch && std::ssize(weights) == root.numel()) {
    return on_device(cast(from_values(weights, root.shape()), root.dtype()), root.device());
  }
  return constant_for(root, std::accumulate(weights.begin(), weights.end(), 0.0));
}

/// `seed` in the dtype of `root`, where that loses no more than a rounding.
Tensor typed_as(const Tensor& root, const Tensor& seed) {
  const bool fits = seed.dtype() == root.dtype() || is_floating(seed.dtype()) ||
                    (is_complex(seed.dtype()) && is_complex(root.dtype()));
  check(fits, "backward: the gradient has the wrong dtype; got ", seed.dtype(), ", expected ",
        root.dtype());
  return cast(seed, root.dtype());
}

/// `seed` with the borders of `root`; one of a microbatch's shape is each one's.
Tensor laid_as(const Tensor& root, const Tensor& seed) {
  if (root.microbatches().per_microbatch && !seed.microbatches() &&
      seed.shape() == unstacked_shape(root)) {
    return repeat_microbatches(seed, root.microbatches().count);
  }
  check(seed.shape() == root.shape(), "backward: the gradient has the wrong shape; got ",
        seed.shape(), ", expected ", root.shape());
  check(seed.device() == root.device(), "backward: the gradient lies elsewhere; got ",
        seed.device(), ", expected ", root.device());
  if (seed.microbatches() == root.microbatches()) {
    return seed;
  }
  Tensor given = seed.detach();
  given.get().set_microbatches(root.microbatches());
  return given;
}

bool is_behind_loop(const Tensor& root) {
  return root.microbatches().per_microbatch && root.microbatches().count > 1 &&
         Context::current().pass.grain == 1;
}

/// Behind its loop a batch is one of its own, and a loss which is none of it has no gradient.
void check_is_of_batch(const Tensor& root) {
  const OverPass over = root.microbatches().over;
  check<Unsupported>(
      !is_behind_loop(root) || over == OverPass::mean || over == OverPass::sum,
      "backward: the loss of a batch that is used behind its loop exists once for each of ",
      root.microbatches().count,
      " microbatches and is no mean or sum over samples, so that it is not the batch's; call "
      "backward inside the loop, which trains the mean of theirs, or take LoaderOptions::grain = "
      "1");
}

/// Trained is the mean of the microbatches' losses. A sum over samples, or what is not linear in
/// means over them, is another number for the batch in one piece.
void say_no_mean(const Tensor& root) {
  const Context& context = Context::current();
  const MicrobatchLayout& layout = root.microbatches();
  const std::int64_t grain = context.pass.grain;
  const bool trains = layout.per_microbatch && grain > 1 && context.pass.training;
  if (!trains || layout.over == OverPass::mean || context.rank != 0) {
    return;
  }
  if (layout.over == OverPass::sum) {
    log_once("loss is a sum", LogLevel::warning,
             "backward: the loss is a sum over samples; trained is the mean of the step's ", grain,
             " microbatches' sums, whose gradient is 1/", grain,
             " of the batch's in one piece: take means, mean() or Reduction::mean");
  } else {
    log_once(
        "loss is no mean", LogLevel::warning,
        "backward: the loss is no mean over samples, but the root of one or a ratio of sums, "
        "say; trained is the mean of the step's ",
        grain,
        " microbatches' losses, where LoaderOptions::grain = 1 trains that of the batch in one "
        "piece");
  }
}

/// `given`, the gradient of a root without borders. Every pass adds its own, so that one of what
/// exists once a step, as what was made of parameters does, counts by the pass's share.
Tensor share_of_given(const Tensor& root, const Tensor& given) {
  const Pass& pass = Context::current().pass;
  if (root.microbatches() || pass.samples == 0 || pass.grain == 1) {
    return given;
  }
  const bool once = !may_be_made_of_samples(root);
  check<Unsupported>(
      once || pass.count == 1,
      "backward: a gradient is given for a tensor that knows no samples, and one that it was made "
      "of "
      "has a size of ",
      pass.samples,
      ", as many as the pass has: each of the step's passes would add it once more; make it a term "
      "of the loss, `sum(g * x)`, or take LoaderOptions::grain = 1");
  return once ? given * (static_cast<double>(pass.count) / static_cast<double>(pass.grain)) : given;
}

}  // namespace

bool is_weighed(const Tensor& root, const Tensor& seed) {
  return !seed.defined() || unstacked_ndim(root) == 0;
}

Tensor seed_for(const Tensor& root, const Tensor& seed, SeedScale scale,
                std::span<const double> weights) {
  if (seed.defined()) {
    const Tensor given = laid_as(root, typed_as(root, seed));
    if (scale == SeedScale::one) {
      return given;
    }
    return is_weighed(root, seed) ? given * cast(seed_for(root, {}, scale, weights), given.dtype())
                                  : share_of_given(root, given);
  }
  const bool per_microbatch =
      root.microbatches().per_microbatch && root.numel() == root.microbatches().count;
  check(root.numel() == 1 || per_microbatch,
        "backward: needs a gradient for a tensor of several elements; got shape ", root.shape());
  const Pass& pass = Context::current().pass;
  check(!per_microbatch || pass.samples == 0 || root.microbatches().count == pass.count,
        "backward: the loss is not of the pass that runs; got one of ", root.microbatches().count,
        " microbatches, expected ", pass.count,
        ": loaders in one step need one LoaderOptions::grain, and what a loop keeps from one pass "
        "to another is kept for each Context::current().pass.first");
  if (scale != SeedScale::one) {
    check_is_of_batch(root);
    say_no_mean(root);
    if (is_behind_loop(root) && root.microbatches().over == OverPass::sum) {
      return seed_of_item(root);
    }
  }
  Tensor gradient =
      scale == SeedScale::one ? constant_for(root, 1)
      : weights.empty()
          ? constant_for(root, share_of_step(per_microbatch, root.microbatches().count))
          : weighted(root, weights, per_microbatch);
  gradient.get().set_microbatches(root.microbatches());
  return gradient;
}

Tensor seed_of_item(const Tensor& loss) {
  if (!loss.microbatches().per_microbatch || loss.numel() != loss.microbatches().count) {
    return {};
  }
  check_is_of_batch(loss);
  const LossCounts* counts = counts_of(loss);
  std::vector<double> weights;
  if (counts != nullptr) {
    weights = read_counts("grad", *counts);
  }
  if (std::ssize(weights) != loss.numel()) {
    weights.assign(static_cast<std::size_t>(loss.numel()), 1);
  }
  if (loss.microbatches().over == OverPass::sum) {
    return constant_for(loss, 1, loss.microbatches());
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) {
    weight = total > 0 ? weight / total : 0;
  }
  Tensor seed = weighted(loss, weights, true);
  seed.get().set_microbatches(loss.microbatches());
  return seed;
}

std::vector<Tensor> roots_of_pass(std::span<const Tensor> roots, std::span<const Tensor> seeds) {
  std::vector<Tensor> all(roots.begin(), roots.end());
  const std::int64_t microbatch_count = Context::current().pass.count;
  const bool weighed =
      std::ranges::any_of(all, [](const Tensor& root) { return counts_of(root) != nullptr; });
  const ModeGuard<&Modes::record> recording(true);
  for (std::size_t i = 0; weighed && microbatch_count > 1 && i < all.size(); ++i) {
    if (all[i].requires_grad() && all[i].numel() == 1 && !all[i].microbatches() &&
        is_weighed(all[i], seeds[i]) && counts_of(all[i]) == nullptr) {
      all[i] = repeat_microbatches(all[i], static_cast<std::int32_t>(microbatch_count));
    }
  }
  return all;
}

}  // namespace tessera
