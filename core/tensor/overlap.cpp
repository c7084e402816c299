#include <tessera/core/tensor/overlap.h>

#include <algorithm>
#include <functional>

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

bool repeats_elements(const TensorImpl& x) {
  for (int d = 0; d < x.shape.size() && x.numel() > 0; ++d) {
    if (x.strides[d] == 0 && x.shape[d] > 1) {
      return true;
    }
  }
  return false;
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
