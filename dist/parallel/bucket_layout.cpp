#include <tessera/dist/parallel/bucket_layout.h>

#include <algorithm>

#include <tessera/core/base/error.h>

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

std::size_t flat_bytes(const std::vector<Bucket>& buckets) {
  const std::int64_t count = buckets.empty() ? 0 : buckets.back().offset + buckets.back().count;
  return static_cast<std::size_t>(count) * sizeof(float);
}

}  // namespace tessera::dist
