// Tensors as a data set.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/data/dataset.h>
#include <tessera/nn/data/rows.h>

namespace tessera::data {

/// N tensors with one row (along dim 0) a sample; a sample is the rows, a batch (samples, ...) of
/// each tensor: `for (auto& [x, y] : loader)`. Shares the tensors' memory where they are
/// contiguous.
template <std::size_t N>
class TensorDataset final : public Dataset<std::array<Tensor, N>> {
 public:
  using Sample = std::array<Tensor, N>;

  /// Throws InvalidArgument for numbers without dims, and for tensors of unequal first dims.
  template <std::same_as<Tensor>... T>
  explicit TensorDataset(const T&... tensors) : tensors_{contiguous(tensors.detach())...} {
    for (const Tensor& tensor : tensors_) {
      check(tensor.ndim() > 0, "tensor dataset: a tensor without dims has no samples");
      check(tensor.size(0) == size(), "tensor dataset: tensors of unequal first dims; got ",
            tensor.size(0), ", expected ", size(), " as the first tensor has");
    }
  }

  [[nodiscard]] std::int64_t size() const override { return tensors_[0].size(0); }
  [[nodiscard]] Sample get(std::int64_t index) const override {
    check_index("tensor dataset", index, size());
    return each([index](const Tensor& rows) { return row_of(rows, index); });
  }
  [[nodiscard]] Sample get_batch(std::span<const std::int64_t> indices) const {
    return each([indices](const Tensor& rows) { return gather_rows(rows, indices); });
  }
  [[nodiscard]] const std::array<Tensor, N>& tensors() const { return tensors_; }

 private:
  [[nodiscard]] Sample each(const auto& f) const {
    return std::apply([&](const auto&... rows) { return Sample{f(rows)...}; }, tensors_);
  }

  std::array<Tensor, N> tensors_;
};

template <std::same_as<Tensor>... T>
explicit TensorDataset(const T&...) -> TensorDataset<sizeof...(T)>;

}  // namespace tessera::data
