#include <tessera/nn/layers/padding_mode.h>

#include <algorithm>

#include <tessera/core/ops/index_select.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/support/overflow.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::nn {
namespace {

/// The most new positions that a dim of `size` allows at an end; no limit is -1.
std::int64_t limit_of(PaddingMode mode, std::int64_t size) {
  if (size == 0) {
    return 0;
  }
  return mode == PaddingMode::reflect ? size - 1 : mode == PaddingMode::circular ? size : -1;
}

/// The position of [0, size) that stands at `i`.
std::int64_t source_of(PaddingMode mode, std::int64_t i, std::int64_t size) {
  switch (mode) {
    case PaddingMode::reflect:
      return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
    case PaddingMode::circular:
      return (i + size) % size;
    default:
      return std::clamp<std::int64_t>(i, 0, size - 1);
  }
}

Tensor pad_dim(PaddingMode mode, const Tensor& x, int dim, std::int64_t before,
               std::int64_t after) {
  const std::int64_t size = unstacked_shape(x)[dim];
  const std::int64_t limit = limit_of(mode, size);
  check(limit < 0 || std::max(before, after) <= limit, "padding: too much for ", to_string(mode),
        "; got ", before, " and ", after, " for a dim of ", size);
  std::int64_t count = size;
  check(add_product(count, before, 1) && add_product(count, after, 1), "padding: too much; got ",
        before, " and ", after, " for a dim of ", size, ", expected fewer than 2^63 in all");
  const Tensor sources = empty({std::max<std::int64_t>(count, 0)}, {.dtype = DType::i64});
  auto* source = sources.data<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    source[i] = source_of(mode, i - before, size);
  }
  return index_select(x, dim, on_device(sources, x.device()));
}

}  // namespace

std::string_view to_string(PaddingMode mode) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"zeros", "reflect", "replicate", "circular"};
  return kNames[static_cast<std::size_t>(mode)];
}

Tensor pad_by(PaddingMode mode, const Tensor& x, const Dims& before, const Dims& after) {
  const int ndim = unstacked_ndim(x);
  const int first = ndim - before.size();
  if (mode == PaddingMode::zeros) {
    Pad::Attrs padding{.before = Dims::filled(ndim, 0), .after = Dims::filled(ndim, 0)};
    for (int d = 0; d < before.size(); ++d) {
      padding.before[first + d] = before[d], padding.after[first + d] = after[d];
    }
    return pad(x, padding);
  }
  Tensor padded = x;
  for (int d = 0; d < before.size(); ++d) {
    if (before[d] > 0 || after[d] > 0) {
      padded = pad_dim(mode, padded, first + d, before[d], after[d]);
    }
  }
  return padded;
}

}  // namespace tessera::nn
