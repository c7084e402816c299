#include <tessera/dist/reduce/running_mean.h>

#include <utility>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/support/microbatch_sum.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

void RunningMean::add(const Tensor& value) {
  const Pass& pass = Context::current().pass;
  const auto grain = static_cast<std::size_t>(pass.grain);
  if (sums_.empty()) {
    sums_.resize(grain);
    counts_.resize(grain);
  }
  check(sums_.size() == grain, "RunningMean: the grain changed; got ", grain, ", expected ",
        sums_.size());
  const std::vector<double> given = value.to_vector<double>();
  const auto parts = static_cast<std::size_t>(pass.count);
  check(given.size() == 1 || given.size() == parts,
        "RunningMean: needs one number a microbatch; got ", given.size(), ", expected 1 or ",
        parts);
  const LossCounts* carried = counts_of(value);
  std::vector<double> counts =
      carried != nullptr ? read_counts("RunningMean", *carried) : std::vector<double>{1};
  counts.resize(parts, counts[0]);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto at = static_cast<std::size_t>(pass.first) + i;
    sums_[at] += counts[i] * given[given.size() == 1 ? 0 : i];
    counts_[at] += counts[i];
  }
}

double RunningMean::take(Communicator& comm) {
  std::vector<double> sums = std::exchange(sums_, {});
  std::vector<double> counts = std::exchange(counts_, {});
  check(!sums.empty(), "RunningMean: nothing was added");
  // Every position has one rank's numbers and zeros: adding them is exact in any order.
  all_reduce(comm, std::span(sums), ReduceOp::sum, "running mean").wait();
  all_reduce(comm, std::span(counts), ReduceOp::sum, "counts of a running mean").wait();
  tree_sum(sums, std::ssize(sums), 1);
  tree_sum(counts, std::ssize(counts), 1);
  return counts[0] == 0 ? 0 : sums[0] / counts[0];
}

}  // namespace tessera::dist
