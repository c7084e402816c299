#include <tessera/dist/parallel/launch_order.h>

#include <algorithm>

namespace tessera::dist {

LaunchOrder::LaunchOrder(std::vector<ReducedParameter>& parameters,
                         const std::vector<Bucket>& buckets, const GradientMemory& gradients,
                         ReductionStrategy& strategy, bool spans_hosts)
    : parameters_(parameters),
      buckets_(buckets),
      gradients_(gradients),
      strategy_(strategy),
      spans_hosts_(spans_hosts) {}

/// Another turn than with its bucket only where a rank holds one block: the parts of several do not
/// lie side by side.
LaunchOrder::Turn LaunchOrder::turn_of(const ReducedParameter& parameter) const {
  constexpr int kFew = 3;  // losses that take turns use a parameter now and then
  if (has_several_blocks()) {
    return Turn::with_bucket;
  }
  if (!parameter.trained) {
    return Turn::never;
  }
  // The first bucket is early enough; and inside a host the cores that compute would do the work.
  if (parameter.early_for >= kFew && parameter.bucket > 0 && spans_hosts_) {
    return Turn::first;
  }
  return parameter.without_dense >= kFew ? Turn::last : Turn::with_bucket;
}

std::size_t LaunchOrder::position_of(const ReducedParameter& parameter) const {
  return turn_of(parameter) == Turn::first ? 0 : parameter.bucket + 1;
}

void LaunchOrder::begin() {
  pending_.assign(buckets_.size() + 1, 0);
  for (const ReducedParameter& parameter : parameters_) {
    pending_[position_of(parameter)] += parameter.trained ? 1 : 0;
  }
  next_ = 0;
  launched_.clear();
}

void LaunchOrder::complete(ReducedParameter& parameter) {
  parameter.complete = true;
  --pending_[position_of(parameter)];
}

void LaunchOrder::launch_ready() {
  for (; next_ < pending_.size() && pending_[next_] == 0; ++next_) {
    launch_at(next_);
  }
}

void LaunchOrder::launch_at(std::size_t position) {
  if (position > 0) {
    for (const FlatRange& range : ranges_of(position - 1)) {
      launched_.push_back(strategy_.reduce(gradients_, range, buckets_[position - 1].label));
    }
    return;
  }
  for (const ReducedParameter& parameter : parameters_) {
    if (turn_of(parameter) == Turn::first) {
      launch_alone(parameter);
    }
  }
}

void LaunchOrder::launch_alone(const ReducedParameter& parameter) {
  const BucketEntry& entry = parameter.entry;
  launched_.push_back(strategy_.reduce(gradients_, {entry.offset, entry.offset + entry.count},
                                       parameter.name + " (dense)"));
}

/// What a bucket holds, but for those whose turn is another.
std::vector<FlatRange> LaunchOrder::ranges_of(std::size_t bucket) const {
  std::vector<FlatRange> ranges;
  std::int64_t end = buckets_[bucket].offset + buckets_[bucket].count;
  const auto first = std::ranges::lower_bound(parameters_, bucket, {}, &ReducedParameter::bucket);
  auto parameter = std::ranges::upper_bound(parameters_, bucket, {}, &ReducedParameter::bucket);
  while (parameter != first) {
    --parameter;
    const std::int64_t begin = parameter->entry.offset;
    const bool along = turn_of(*parameter) == Turn::with_bucket;
    if (along && !ranges.empty() && ranges.back().first == end) {
      ranges.back().first = begin;
    } else if (along) {
      ranges.push_back({begin, end});
    }
    end = begin;
  }
  return ranges;
}

void LaunchOrder::launch_left_out(const UsedParameters& table) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (turn_of(parameters_[i]) == Turn::last && table.any(i, UsedParameters::dense)) {
      launch_alone(parameters_[i]);
    }
  }
}

void LaunchOrder::learn(const UsedParameters& table, int ranks) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    ReducedParameter& parameter = parameters_[i];
    const bool early = table.count(i, UsedParameters::early) == ranks;
    const bool without = parameter.trained && !table.any(i, UsedParameters::dense);
    parameter.early_for = early ? parameter.early_for + 1 : 0;
    parameter.without_dense = without ? parameter.without_dense + 1 : 0;
  }
}

}  // namespace tessera::dist
