#include <tessera/dist/reduce/global_mean.h>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/base/context.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

void GlobalMean::add(const Tensor& value) {
  const Pass& pass = Context::current().pass;
  values_.resize(static_cast<std::size_t>(pass.grain));
  counts_.resize(static_cast<std::size_t>(pass.grain));
  const std::vector<double> given = value.to_vector<double>();
  const auto count = static_cast<std::size_t>(pass.count);
  check(given.size() == 1 || given.size() == count,
        "GlobalMean: needs one number a microbatch; got ", given.size(), ", expected 1 or ", count);
  const LossCounts* carried = counts_of(value);
  const std::vector<double> counts =
      carried != nullptr ? read_counts("GlobalMean", *carried) : std::vector<double>{1};
  for (std::size_t i = 0; i < count; ++i) {
    values_[static_cast<std::size_t>(pass.first) + i] = given[given.size() == 1 ? 0 : i];
    counts_[static_cast<std::size_t>(pass.first) + i] = counts[counts.size() == 1 ? 0 : i];
  }
}

double GlobalMean::take(Communicator& comm) {
  const std::size_t grain = values_.size();
  check(grain > 0, "GlobalMean: nothing was added");
  std::vector<double> all = std::exchange(values_, {});
  const std::vector<double> own_counts = std::exchange(counts_, {});
  all.insert(all.end(), own_counts.begin(), own_counts.end());
  // Every position has one rank's value and zeros: adding them is exact in any order.
  all_reduce(comm, std::span(all), ReduceOp::sum, "mean over the global batch").wait();
  const auto counts = all.begin() + static_cast<std::ptrdiff_t>(grain);
  return mean_by_counts({all.begin(), counts}, {counts, all.end()});
}

}  // namespace tessera::dist
