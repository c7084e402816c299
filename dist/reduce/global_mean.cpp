#include <tessera/dist/reduce/global_mean.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/support/microbatch_sum.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

void GlobalMean::add(const Tensor& value) {
  const Pass& pass = Context::current().pass;
  values_.resize(static_cast<std::size_t>(pass.grain));
  const std::vector<double> given = value.to_vector<double>();
  const auto count = static_cast<std::size_t>(pass.count);
  check(given.size() == 1 || given.size() == count,
        "GlobalMean: needs one number a microbatch; got ", given.size(), ", expected 1 or ", count);
  for (std::size_t i = 0; i < count; ++i) {
    values_[static_cast<std::size_t>(pass.first) + i] = given[given.size() == 1 ? 0 : i];
  }
}

double GlobalMean::take(Communicator& comm) {
  std::vector<double> values = std::exchange(values_, {});
  check(!values.empty(), "GlobalMean: nothing was added");
  // Every position has one rank's value and zeros: adding them is exact in any order.
  all_reduce(comm, std::span(values), ReduceOp::sum, "mean over the global batch").wait();
  const auto count = static_cast<std::int64_t>(values.size());
  tree_sum(values, count, 1);
  return values[0] / static_cast<double>(count);
}

}  // namespace tessera::dist
