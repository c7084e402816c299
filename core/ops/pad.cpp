#include <tessera/core/ops/pad.h>

#include <algorithm>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/support/overflow.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {
namespace {

/// New elements between two neighbours of dim `d`.
std::int64_t gap(const Pad::Attrs& attrs, int d) {
  return attrs.between.empty() ? 0 : attrs.between[d];
}

bool all_natural(const Dims& sizes) {
  return std::ranges::none_of(sizes, [](std::int64_t size) { return size < 0; });
}

}  // namespace

void Pad::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input().shape();
  const int ndim = shape.size();
  const bool fits = attrs.before.size() == ndim && attrs.after.size() == ndim &&
                    (attrs.between.empty() || attrs.between.size() == ndim);
  check(fits && all_natural(attrs.before) && all_natural(attrs.after) && all_natural(attrs.between),
        "pad: wrong padding; got ", attrs.before, ", ", attrs.after, ", ", attrs.between,
        ", expected a number of at least 0 for each dim of ", shape);
  attrs.value.check_fits(c.input().dtype(), "pad");
  for (int d = 0; d < ndim; ++d) {
    const std::int64_t gaps = std::max<std::int64_t>(shape[d] - 1, 0);
    const bool counts = add_product(shape[d], attrs.before[d], 1) &&
                        add_product(shape[d], attrs.after[d], 1) &&
                        add_product(shape[d], gaps, gap(attrs, d));
    check(counts, "pad: padding too large; got ", attrs.before, ", ", attrs.after, ", ",
          attrs.between, ", expected sizes of less than 2^63");
  }
  c.add_output(shape, c.input().dtype());
}

void Pad::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  Strides to = y.strides;
  std::int64_t first = 0;
  for (int d = 0; d < to.size(); ++d) {
    first += attrs.before[d] * to[d];
    to[d] *= gap(attrs, d) + 1;
  }
  visit_dtype(y.dtype, [&]<class T>() {
    const T value = attrs.value.visit([](auto number) { return convert<T>(number); });
    for_each_element(y, [&](std::int64_t at) { y.data<T>()[at] = value; });
    StridedCounter<2> at(x.shape, {x.strides, to});
    for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
      y.data<T>()[first + at.offsets[1]] = x.data<T>()[at.offsets[0]];
    }
  });
}

void Pad::vjp(Vjp& v, const Attrs& attrs) {
  Tensor gradient = v.gradient();
  const int ndim = attrs.before.size();
  for (int d = 0; d < ndim; ++d) {
    const std::int64_t size = v.input_meta().shape[d];
    const std::int64_t step = gap(attrs, d) + 1;
    if (attrs.before[d] + attrs.after[d] > 0 || step > 1) {
      const std::int64_t start = attrs.before[d];
      const std::int64_t end = size > 0 ? start + (size - 1) * step + 1 : start;
      gradient = slice(gradient, d - ndim, start, end, step);
    }
  }
  v.set(0, gradient);
}

ShardRule Pad::shard(const Infer& c, const Attrs& attrs) {
  ShardRule rule;
  DimLabels& in = rule.inputs.emplace_back(c.input().ndim());
  DimLabels& out = rule.outputs.emplace_back(c.input().ndim());
  for (int d = 0; d < in.size; ++d) {
    if (attrs.before[d] + attrs.after[d] + gap(attrs, d) == 0) {
      in[d] = out[d] = static_cast<std::int8_t>(d);
    }
  }
  return rule;
}

Tensor pad(const Tensor& x, const Pad::Attrs& padding) {
  return call<Pad>({x}, padding);
}

const Register<Pad> register_pad;

}  // namespace tessera
