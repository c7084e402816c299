#include <tessera/dist/parallel/bucket_layout.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/nn/ownership.h>

namespace tessera::dist {
namespace {

constexpr std::int64_t kAlignment = 16;  // elements: one cache line of f32

void close(Bucket& bucket, std::size_t index) {
  const std::string& first = bucket.entries.front().slot->name;
  const std::string& last = bucket.entries.back().slot->name;
  bucket.label = tessera::detail::concat("bucket ", index, " (", first,
                                         first == last ? "" : " to " + last, ")");
}

std::size_t limit_of(const std::vector<nn::Parameter>& parameters, const BucketOptions& options) {
  if (options.bytes > 0) {
    return options.bytes;
  }
  std::size_t all = 0;
  for (const nn::Parameter& parameter : parameters) {
    all += static_cast<std::size_t>(numel_of(parameter.slot()->shape)) * sizeof(float);
  }
  return std::clamp(all / 32, std::size_t{512} << 10, std::size_t{25} << 20);
}

/// The place nearby where a border within `entry` may lie.
std::int64_t move_border(std::int64_t border, const BucketEntry& entry) {
  const std::int64_t before = border - entry.offset;
  if (entry.whole) {
    return entry.offset + (2 * before < entry.count ? 0 : entry.count);
  }
  return border - before % nn::kNormBlock;
}

}  // namespace

std::vector<Bucket> make_buckets(const std::vector<nn::Parameter>& parameters,
                                 const BucketOptions& options) {
  std::vector<Bucket> buckets;
  std::int64_t offset = 0;
  bool open = false;
  const std::size_t bytes = limit_of(parameters, options);
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    const nn::SlotPtr& slot = parameter->slot();
    check<Unsupported>(slot->dtype == DType::f32, "data_parallel: ", slot->name,
                       " must be f32 in memory; got ", slot->dtype,
                       " (compute in another dtype with AutocastScope)");
    if (!open) {
      buckets.push_back({.offset = offset});
      open = true;
    }
    Bucket& bucket = buckets.back();
    const std::int64_t count = numel_of(slot->shape);
    bucket.entries.push_back({.slot = slot.get(), .offset = offset, .count = count, .alive = slot});
    offset += (count + kAlignment - 1) / kAlignment * kAlignment;
    bucket.count = offset - bucket.offset;
    const std::size_t limit = buckets.size() == 1 ? std::min(options.first_bytes, bytes) : bytes;
    if (static_cast<std::size_t>(bucket.count) * sizeof(float) >= limit) {
      close(bucket, buckets.size() - 1);
      open = false;
    }
  }
  if (open) {
    close(buckets.back(), buckets.size() - 1);
  }
  return buckets;
}

std::int64_t flat_count(const std::vector<Bucket>& buckets) {
  return buckets.empty() ? 0 : buckets.back().offset + buckets.back().count;
}

std::int64_t gradient_offset(const Bucket& bucket, const BucketEntry& entry, std::size_t block,
                             int most) {
  return bucket.offset * most + static_cast<std::int64_t>(block) * bucket.count + entry.offset -
         bucket.offset;
}

std::vector<std::int64_t> deal_out(const std::vector<Bucket>& buckets, int ranks) {
  const std::int64_t total = flat_count(buckets);
  std::vector<std::int64_t> borders;
  for (int r = 0; r <= ranks; ++r) {
    borders.push_back(total / ranks * r + total % ranks * r / ranks);
  }
  for (const Bucket& bucket : buckets) {
    for (const BucketEntry& entry : bucket.entries) {
      for (std::int64_t& border : borders) {
        if (border > entry.offset && border < entry.offset + entry.count) {
          border = move_border(border, entry);
        }
      }
    }
  }
  return borders;
}

}  // namespace tessera::dist
