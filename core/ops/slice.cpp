#include <tessera/core/ops/slice.h>

#include <algorithm>
#include <utility>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

namespace {

/// First position and the one behind the last, both in [0, size].
std::pair<std::int64_t, std::int64_t> range_of(const Slice::Attrs& attrs, std::int64_t size) {
  const auto position = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t start = position(attrs.start);
  return {start, std::max(start, position(attrs.end))};
}

/// Along a dim of `size`: a larger step chooses as little, and could overflow.
std::int64_t step_of(const Slice::Attrs& attrs, std::int64_t size) {
  return std::min(attrs.step, std::max<std::int64_t>(size, 1));
}

/// The padding that puts the slice's elements back to where they came from.
Pad::Attrs spread(const Slice::Attrs& attrs, const Shape& from, const Shape& sliced) {
  const Dims none = Dims::filled(from.size(), 0);
  Pad::Attrs padding{.before = none, .after = none, .between = none};
  const int dim = normalize_dim("slice", attrs.dim, from.size());
  const std::int64_t covered = sliced[dim] > 0 ? (sliced[dim] - 1) * attrs.step + 1 : 0;
  padding.before[dim] = range_of(attrs, from[dim]).first;
  padding.between[dim] = sliced[dim] > 1 ? attrs.step - 1 : 0;  // one element has no gap
  padding.after[dim] = from[dim] - padding.before[dim] - covered;
  return padding;
}

}  // namespace

void Slice::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input().shape();
  const int dim = normalize_dim("slice", attrs.dim, shape.size());
  check_has_dims("slice", shape);
  check_at_least("slice", "step", attrs.step, 1);
  const auto [start, end] = range_of(attrs, shape[dim]);
  const std::int64_t step = step_of(attrs, shape[dim]);
  shape[dim] = (end - start + step - 1) / step;
  c.add_output(shape, c.input().dtype());
}

void Slice::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  const int dim = normalize_dim("slice", attrs.dim, in.shape.size());
  out.strides[dim] *= step_of(attrs, in.shape[dim]);
  out.offset += range_of(attrs, in.shape[dim]).first * in.strides[dim];
}

void Slice::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, pad(v.gradient(), spread(attrs, v.input_meta().shape, v.output_meta().shape)));
}

ShardRule Slice::shard(const Infer& c, const Attrs& attrs) {
  DimLabels labels = DimLabels::numbered(c.input().ndim());
  const int dim = normalize_dim("slice", attrs.dim, labels.size);
  if (c.outputs()[0].shape[dim] != c.input().shape()[dim]) {
    labels[dim] = DimLabels::kWhole;
  }
  return {.inputs = {labels}, .outputs = {labels}};
}

Tensor slice(const Tensor& x, int dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  return call<Slice>({x}, {dim, start, end, step});
}

const Register<Slice> register_slice;

}  // namespace tessera
