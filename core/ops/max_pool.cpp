#include <tessera/core/ops/max_pool.h>

#include <cmath>
#include <limits>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/gather.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/where.h>

namespace tessera {
namespace {

bool is_nan(double x) {
  return std::isnan(x);
}
bool is_nan(std::int64_t) {
  return false;
}

template <class C>
C least() {
  using Limits = std::numeric_limits<C>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

/// Calls f(index) for the indices in the plane of x that the window at `o` holds, in order.
template <class F>
void for_each_in_window(const PoolGeometry& g, const Dims& o, const F& f) {
  const Shape window{g.kernel[0], g.kernel[1], g.kernel[2]};
  StridedCounter<1> tap(window, {contiguous_strides(window)});
  for (std::int64_t i = numel_of(window); i > 0; --i, tap.next()) {
    std::int64_t index = 0;
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const auto s = static_cast<std::size_t>(d);
      const std::int64_t at = o[d] * g.stride[s] + tap.index()[d] * g.dilation[s] - g.padding[s];
      inside = inside && at >= 0 && at < g.in[s];
      index = index * g.in[s] + at;
    }
    if (inside) {
      f(index);
    }
  }
}

}  // namespace

void MaxPool::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check_real_number("max_pool", "x", dtype);
  const PoolGeometry g = pool_geometry("max_pool", c.input().shape(), attrs);
  c.add_output(g.y_shape(), dtype);
  c.add_output(g.y_shape(), DType::i64);
}

void MaxPool::reference(Kernel& k, const Attrs& attrs) {
  const PoolGeometry g = pool_geometry("max_pool", k.input().shape, attrs);
  const Shape windows{g.out[0], g.out[1], g.out[2]};
  const auto run = [&]<class C>() {
    const std::vector<C> x = dense_values<C>(k.input());
    std::vector<C> values;
    std::vector<std::int64_t> indices;
    for (std::int64_t plane = 0; plane < g.planes(); ++plane) {
      const C* from = x.data() + plane * g.in_size();
      StridedCounter<1> o(windows, {contiguous_strides(windows)});
      for (std::int64_t i = g.out_size(); i > 0; --i, o.next()) {
        C most = least<C>();
        std::int64_t where = -1;
        for_each_in_window(g, o.index(), [&](std::int64_t index) {
          if (where < 0 || from[index] > most || is_nan(from[index])) {
            most = from[index];
            where = index;
          }
        });
        values.push_back(most);
        indices.push_back(where);
      }
    }
    store_values(k.output(0), values);
    store_values(k.output(1), indices);
  };
  if (is_floating(k.input().dtype)) {
    run.operator()<double>();
  } else {
    run.operator()<std::int64_t>();
  }
}

void MaxPool::vjp(Vjp& v, const Attrs&) {
  v.set(0, call<MaxPoolBackward>({v.gradient(0), v.output(1)},
                                 {spatial_sizes(v.input_meta(0).shape)}));
}

ShardRule MaxPool::shard(const Infer& c, const Attrs&) {
  return plane_rule(c.input().ndim(), 1, 2);
}

void MaxPoolBackward::infer(Infer& c, const Attrs& attrs) {
  const Shape& shape = c.input(0).shape();
  const int ndim = spatial_dims(c.op(), shape);
  check_shape(c.op(), "indices", c.input(1).shape(), shape);
  check_i64(c.op(), "indices", c.input(1).dtype());
  check(attrs.size.size() == ndim, c.op(), ": wrong number of sizes; got ", attrs.size,
        ", expected ", ndim);
  const Spatial size = spatial_numbers(c.op(), "size", attrs.size, ndim, 1, 1);
  c.add_output(with_spatial(shape[0], shape[1], size, ndim), c.input(0).dtype());
  check_countable(c.op(), c.outputs()[0].shape);
}

void MaxPoolBackward::reference(Kernel& k, const Attrs&) {
  const std::int64_t planes = k.output().shape[0] * k.output().shape[1];
  const std::int64_t in = k.output().numel() / planes;
  const std::int64_t out = k.input(0).numel() / planes;
  const auto indices = dense_values<std::int64_t>(k.input(1));
  with_computing_type(k.output().dtype, [&]<class C>() {
    const std::vector<C> gradient = dense_values<C>(k.input(0));
    std::vector<C> sums(static_cast<std::size_t>(k.output().numel()), C(0));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      check(indices[i] >= -1 && indices[i] < in, "max_pool_backward: index out of range; got ",
            indices[i], ", expected one in [0, ", in, "), or -1 for none");
      const std::int64_t plane = static_cast<std::int64_t>(i) / out;
      if (indices[i] >= 0) {
        sums[static_cast<std::size_t>(plane * in + indices[i])] += gradient[i];
      }
    }
    store_values(k.output(), sums);
  });
}

void MaxPoolBackward::vjp(Vjp& v, const Attrs&) {
  const Tensor indices = flatten(v.input(1), 2);
  const Tensor none = indices < 0;  // of windows in the padding
  const Tensor picked = gather(flatten(v.gradient(), 2), 2, where(none, 0, indices));
  v.set(0, reshape(where(none, 0, picked), v.input_meta(0).shape));
}

ShardRule MaxPoolBackward::shard(const Infer& c, const Attrs&) {
  return plane_rule(c.input(0).ndim(), 2, 1);
}

Tensor max_pool(const Tensor& x, const PoolOptions& options) {
  return call_all<MaxPool>({x}, options)[0];
}

MaxPooled max_pool_with_indices(const Tensor& x, const PoolOptions& options) {
  const Outputs outputs = call_all<MaxPool>({x}, options);
  return {outputs[0], outputs[1]};
}

const Register<MaxPool> register_max_pool;
const Register<MaxPoolBackward> register_max_pool_gradient;

}  // namespace tessera
