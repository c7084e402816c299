#include <tessera/nn/data/rows.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/data/sample_error.h>

namespace tessera::data {
namespace {

std::byte* bytes_of(const Tensor& x) {
  return static_cast<std::byte*>(x.raw_data());
}

/// `first` rows, then the shape of one.
Shape with_rows(std::int64_t first, std::span<const std::int64_t> row) {
  Shape shape{first};
  for (const std::int64_t size : row) {
    shape.push_back(size);
  }
  return shape;
}

std::span<const std::int64_t> as_span(const Shape& shape) {
  return {shape.begin(), static_cast<std::size_t>(shape.size())};
}

void check_same_kind(const Tensor& sample, const Tensor& first, std::int64_t index) {
  if (sample.shape() != first.shape() || sample.dtype() != first.dtype()) {
    throw SamplesDiffer(
        tessera::detail::concat("collate: samples of a batch differ; got ", sample.dtype(), " ",
                                sample.shape(), " as number ", index, " and ", first.dtype(), " ",
                                first.shape(), " as number 0, expected one dtype and shape"),
        index);
  }
}

}  // namespace

Tensor row_of(const Tensor& rows, std::int64_t index) {
  return select(rows, 0, index).detach();
}

Tensor gather_rows(const Tensor& rows, std::span<const std::int64_t> indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  Tensor batch = empty(with_rows(count, as_span(rows.shape()).subspan(1)), {.dtype = rows.dtype()});
  const std::size_t row = batch.nbytes() / std::max<std::size_t>(indices.size(), 1);
  std::byte* to = bytes_of(batch);
  for (const std::int64_t index : indices) {
    std::memcpy(to, bytes_of(rows) + static_cast<std::size_t>(index) * row, row);
    to += row;
  }
  return batch;
}

Tensor stack_samples(std::span<const Tensor> samples) {
  check(!samples.empty(), "collate: a batch of no samples");
  const Tensor& first = samples.front();
  Tensor batch = empty(with_rows(static_cast<std::int64_t>(samples.size()), as_span(first.shape())),
                       {.dtype = first.dtype()});
  std::byte* to = bytes_of(batch);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    check_same_kind(samples[i], first, static_cast<std::int64_t>(i));
    const Tensor dense = contiguous(samples[i]);
    std::memcpy(to, bytes_of(dense), dense.nbytes());
    to += dense.nbytes();
  }
  return batch;
}

std::uint64_t hash_tensor(const Tensor& tensor) {
  auto hash = static_cast<std::uint64_t>(tensor.dtype());
  for (const std::int64_t size : tensor.shape()) {
    hash = mix(hash, static_cast<std::uint64_t>(size));
  }
  return hash_elements(tensor, hash);
}

}  // namespace tessera::data
