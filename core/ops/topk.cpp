#include <tessera/core/ops/topk.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/scatter_add.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/extremes.h>
#include <tessera/core/ops/support/rows_along.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

namespace {

/// Positions of one line, sorted.
template <Real T>
std::vector<std::int64_t> best_first(const TensorImpl& x, std::int64_t start, std::int64_t step,
                                     std::int64_t length, bool largest) {
  std::vector<T> keys;
  for (std::int64_t i = 0; i < length; ++i) {
    keys.push_back(load_as<T>(x, start + i * step));
  }
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return sorts_before(keys[static_cast<std::size_t>(a)], keys[static_cast<std::size_t>(b)],
                        largest);
  });
  return order;
}

}  // namespace

void Topk::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  check_has_dims("topk", x.shape());
  check_real("topk", "x", x.dtype());
  Shape shape = x.shape();
  std::int64_t& size = shape[normalize_dim("topk", attrs.dim, shape.size())];
  check(attrs.k >= 0 && attrs.k <= size, "topk: k out of range; got ", attrs.k, ", expected [0, ",
        size, "]");
  size = attrs.k;
  c.add_output(shape, x.dtype());
  c.add_output(shape, DType::i64);
}

void Topk::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  TensorImpl& values = k.output(0);
  TensorImpl& positions = k.output(1);
  const int dim = normalize_dim("topk", attrs.dim, x.shape.size());
  Shape lines = x.shape;
  const std::int64_t length = std::exchange(lines[dim], 1);
  StridedCounter<3> at(lines, {x.strides, values.strides, positions.strides});
  for (std::int64_t n = numel_of(lines); n > 0; --n, at.next()) {
    const auto sorted = is_floating(x.dtype) ? best_first<double> : best_first<std::int64_t>;
    const auto order = sorted(x, at.offsets[0], x.strides[dim], length, attrs.largest);
    for (std::int64_t i = 0; i < attrs.k; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      visit_dtype(x.dtype, [&]<class T>() {
        values.data<T>()[at.offsets[1] + i * values.strides[dim]] =
            x.data<T>()[at.offsets[0] + from * x.strides[dim]];
      });
      positions.data<std::int64_t>()[at.offsets[2] + i * positions.strides[dim]] = from;
    }
  }
}

void Topk::vjp(Vjp& v, const Attrs& attrs) {
  const TensorMeta& meta = v.input_meta();
  const Tensor none = zeros(meta.shape, {.dtype = meta.dtype, .device = meta.device});
  v.set(0, scatter_add(none, attrs.dim, v.output(1).detach(), v.gradient()));
}

ShardRule Topk::shard(const Infer& c, const Attrs& attrs) {
  ShardRule rule = rule_along(c, normalize_dim("topk", attrs.dim, c.input().ndim()));
  rule.outputs.push_back(rule.outputs[0]);
  return rule;
}

TopkResult topk(const Tensor& x, std::int64_t k, int dim, bool largest) {
  Outputs outputs = call_all<Topk>({x}, {k, dim, largest});
  return {std::move(outputs[0]), std::move(outputs[1])};
}

const Register<Topk> register_topk;

}  // namespace tessera
