// Which collectives a backward launches, and when.
#include <algorithm>

#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {

/// Only where a rank holds one block: the parts of several do not lie side by side.
GradientReducer::Turn GradientReducer::turn_of(const Place& place) const {
  constexpr int kFew = 3;  // losses that take turns use a parameter now and then
  if (!place.trained) {
    return tree_->max_blocks() > 1 ? Turn::with_bucket : Turn::never;
  }
  if (tree_->max_blocks() > 1) {
    return Turn::with_bucket;
  }
  // The first bucket is early enough; and inside a host the cores that compute would do the work.
  if (place.early >= kFew && place.bucket > 0 && spans_hosts()) {
    return Turn::first;
  }
  return place.without_dense >= kFew ? Turn::last : Turn::with_bucket;
}

std::size_t GradientReducer::stage_of(const Place& place) const {
  return turn_of(place) == Turn::first ? 0 : place.bucket + 1;
}

void GradientReducer::launch_ready() {
  for (; next_stage_ < pending_.size() && pending_[next_stage_] == 0; ++next_stage_) {
    if (next_stage_ == 0) {
      launch_first();
    } else {
      launch_bucket(next_stage_ - 1);
    }
  }
}

void GradientReducer::launch_first() {
  for (const Place& place : places_) {
    if (turn_of(place) == Turn::first) {
      launch_alone(place);
    }
  }
}

void GradientReducer::launch_bucket(std::size_t bucket) {
  for (const FlatRange& range : ranges_to_reduce(bucket)) {
    launch(range, buckets_[bucket].label);
  }
}

void GradientReducer::launch_alone(const Place& place) {
  const BucketEntry& entry = place.entry;
  launch({entry.offset, entry.offset + entry.count}, place.name + " (dense)");
}

/// What a bucket holds, but for those whose turn is another.
std::vector<GradientReducer::FlatRange> GradientReducer::ranges_to_reduce(
    std::size_t bucket) const {
  std::vector<FlatRange> ranges;
  std::int64_t end = buckets_[bucket].offset + buckets_[bucket].count;
  const auto first = std::ranges::lower_bound(places_, bucket, {}, &Place::bucket);
  auto place = std::ranges::upper_bound(places_, bucket, {}, &Place::bucket);
  while (place != first) {
    --place;
    const std::int64_t begin = place->entry.offset;
    const bool along = turn_of(*place) == Turn::with_bucket;
    if (along && !ranges.empty() && ranges.back().first == end) {
      ranges.back().first = begin;
    } else if (along) {
      ranges.push_back({begin, end});
    }
    end = begin;
  }
  return ranges;
}

void GradientReducer::launch(FlatRange range, const std::string& label) {
  auto* data = reinterpret_cast<float*>(gradients_.data) +
               range.first * static_cast<std::int64_t>(tree_->max_blocks());
  Collective c = collective_of<float>(CollectiveKind::all_reduce, data, data,
                                      static_cast<std::size_t>(range.last - range.first), label);
  c.tree = tree_;
  c.send = c.receive =
      Operand(data, c.count * sizeof(float) * static_cast<std::size_t>(tree_->max_blocks()),
              gradients_.owner);
  works_.push_back(lanes_[works_.size() % lanes_.size()]->launch(std::move(c)));
}

}  // namespace tessera::dist
