#include <tessera/core/tensor/overlap.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <tessera/core/tensor/elements.h>

namespace tessera {
namespace {

/// Bytes of the storage from the first element to the last.
std::pair<std::int64_t, std::int64_t> bytes_of(const TensorImpl& x) {
  std::int64_t last = x.offset;
  for (int d = 0; d < x.shape.size(); ++d) {
    last += (x.shape[d] - 1) * x.strides[d];
  }
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  return {x.offset * size, (last + 1) * size};
}

const Storage* storage_of(const Tensor& x) {
  return x.get().storage.get();
}

}  // namespace

Overlap overlap_of(const Tensor& a, const Tensor& b) {
  const TensorImpl& x = a.get();
  const TensorImpl& y = b.get();
  if (!x.storage || x.storage != y.storage || x.numel() == 0 || y.numel() == 0) {
    return Overlap::none;
  }
  if (x.shape == y.shape && x.strides == y.strides && x.offset == y.offset && x.dtype == y.dtype) {
    return Overlap::same;
  }
  const auto [x_first, x_end] = bytes_of(x);
  const auto [y_first, y_end] = bytes_of(y);
  return x_end <= y_first || y_end <= x_first ? Overlap::none : Overlap::partial;
}

namespace {

/// Strides and sizes of the dims with several elements, the smallest stride first.
std::vector<std::pair<std::int64_t, std::int64_t>> steps_of(const TensorImpl& x) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (int d = 0; d < x.shape.size(); ++d) {
    if (x.shape[d] > 1) {
      steps.emplace_back(std::abs(x.strides[d]), x.shape[d]);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

/// Whether two elements have the same offset, by looking at all.
bool has_equal_offsets(const TensorImpl& x) {
  std::vector<std::int64_t> offsets;
  for_each_element(x, [&](std::int64_t offset) { offsets.push_back(offset); });
  std::ranges::sort(offsets);
  return std::ranges::adjacent_find(offsets) != offsets.end();
}

}  // namespace

bool repeats_elements(const TensorImpl& x) {
  if (x.numel() == 0 || x.contiguous()) {
    return false;
  }
  std::int64_t reach = 0;  // of the dims so far, from the first element to the last
  bool apart = true;
  for (const auto& [stride, size] : steps_of(x)) {
    if (stride == 0) {
      return true;
    }
    apart = apart && stride > reach;
    reach += stride * (size - 1);
  }
  return !apart && has_equal_offsets(x);
}

OverlapFinder::OverlapFinder(std::span<const Tensor> tensors) {
  for (const Tensor& x : tensors) {
    by_storage_.push_back({storage_of(x), &x});
  }
  std::ranges::sort(by_storage_, std::less<>(), &Written::storage);
}

Overlap OverlapFinder::worst_with(const Tensor& x) const {
  const auto sharing =
      std::ranges::equal_range(by_storage_, storage_of(x), std::less<>(), &Written::storage);
  Overlap worst = Overlap::none;
  for (const Written& other : sharing) {
    worst = std::max(worst, overlap_of(x, *other.tensor));
  }
  return worst;
}

}  // namespace tessera
