#include <tessera/dist/reduce/global_mean.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/tree.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

/// What each microbatch of the pass weighs: 1 outside of loaders' passes.
std::vector<double> weights_of(const Tensor& value, const Pass& pass) {
  const auto microbatch_count = static_cast<std::size_t>(pass.count);
  const LossCounts* carried = counts_of(value);
  if (carried == nullptr) {
    const std::int64_t samples = pass.samples > 0 ? pass.samples : pass.count;
    return std::vector<double>(
        microbatch_count, static_cast<double>(samples) / static_cast<double>(microbatch_count));
  }
  std::vector<double> counts = read_counts("GlobalMean", *carried);
  counts.resize(microbatch_count, counts[0]);
  return counts;
}

}  // namespace

void GlobalMean::add(const Tensor& value) {
  const Context& context = Context::current();
  const Pass& pass = context.pass;
  const auto grain = static_cast<std::size_t>(pass.grain);
  if (sums_.empty()) {
    sums_ = weights_ = added_ = std::vector<double>(grain);
  }
  check(sums_.size() == grain, "GlobalMean: the grain changed; got ", grain, ", expected ",
        sums_.size());
  check(context.pass_mark == nullptr || latest_.lock() != context.pass_mark,
        "GlobalMean: a second value of one pass; each number needs one of its own");
  latest_ = context.pass_mark;
  check(!value.microbatches().per_microbatch || value.microbatches().over == OverPass::mean,
        "GlobalMean: got numbers once a microbatch that are no means over samples (a sum, a ratio "
        "of sums or the root of a mean, say), expected means, or weighted_mean()");
  const std::vector<double> given = value.to_vector<double>();
  const auto microbatch_count = static_cast<std::size_t>(pass.count);
  check(given.size() == 1 || given.size() == microbatch_count,
        "GlobalMean: needs one number a microbatch; got ", given.size(), ", expected 1 or ",
        microbatch_count);
  const std::vector<double> weights = weights_of(value, pass);
  for (std::size_t i = 0; i < microbatch_count; ++i) {
    const auto at = static_cast<std::size_t>(pass.first) + i;
    sums_[at] += weights[i] * given[given.size() == 1 ? 0 : i];
    weights_[at] += weights[i];
    added_[at] += 1;
  }
}

double GlobalMean::take(Communicator& comm) {
  check(!sums_.empty(), "GlobalMean: nothing was added");
  latest_.reset();
  std::vector<double> sums = std::exchange(sums_, {});
  const std::size_t grain = sums.size();
  for (const auto& part : {std::exchange(weights_, {}), std::exchange(added_, {})}) {
    sums.insert(sums.end(), part.begin(), part.end());
  }
  // Every position has one rank's numbers and zeros: adding them is exact in any order.
  all_reduce(comm, std::span(sums), ReduceOp::sum, "mean over the global batch").wait();
  const auto weights_at = sums.begin() + static_cast<std::ptrdiff_t>(grain);
  std::vector<double> weights(weights_at, weights_at + static_cast<std::ptrdiff_t>(grain));
  const auto added = weights_at + static_cast<std::ptrdiff_t>(grain);
  const auto fewest = std::min_element(added, sums.end());
  const auto most = std::max_element(added, sums.end());
  check(*fewest == *most, "GlobalMean: microbatch ", fewest - added, " has ", *fewest,
        " values, and microbatch ", most - added, " has ", *most,
        "; add one in every pass, and make the GlobalMean outside of the loop");
  sums.resize(grain);
  tree_sum(sums, std::ssize(sums), 1);
  tree_sum(weights, std::ssize(weights), 1);
  return weights[0] == 0 ? 0 : sums[0] / weights[0];
}

}  // namespace tessera::dist
