// Ops that treat the elements along one dim together, as softmax does.
#pragma once

#include <vector>

#include <tessera/core/dispatch/op.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {

/// `inputs` inputs and one output of one shape and of floating dtypes; the output has the dtype of
/// input 0.
void infer_along(Infer& c, int inputs, int dim);
/// Every dim but `dim` can be cut.
[[nodiscard]] ShardRule rule_along(const Infer& c, int dim);

/// What these ops share; an op of so many inputs inherits it and adds the rest.
template <int kInputs>
struct AlongDim {
  using Attrs = DimAttrs;  ///< dim in [0, ndim)
  static void infer(Infer& c, const Attrs& attrs) { infer_along(c, kInputs, attrs.dim); }
  static ShardRule shard(const Infer& c, const Attrs& attrs) { return rule_along(c, attrs.dim); }
};

/// Calls f(a, b) for all lines along `dim`: `a` holds a line of input 0 and receives that of the
/// output, `b` holds that of input 1 if there is one.
template <class F>
void map_along(Kernel& k, int dim, const F& f) {
  const Shape& shape = k.output().shape;
  std::int64_t inner = 1;
  for (int d = dim + 1; d < shape.size(); ++d) {
    inner *= shape[d];
  }
  std::vector<double> a = dense_values<double>(k.input(0));
  const std::vector<double> b =
      k.input_count() > 1 ? dense_values<double>(k.input(1)) : std::vector<double>();
  const std::int64_t size = shape[dim];
  std::vector<double> line_a(static_cast<std::size_t>(size));
  std::vector<double> line_b(b.empty() ? 0 : line_a.size());
  const std::int64_t lines = size == 0 ? 0 : k.output().numel() / size;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t first = line / inner * size * inner + line % inner;
    const auto at = [&](std::size_t i) {
      return static_cast<std::size_t>(first + static_cast<std::int64_t>(i) * inner);
    };
    for (std::size_t i = 0; i < line_a.size(); ++i) {
      line_a[i] = a[at(i)];
      if (!b.empty()) {
        line_b[i] = b[at(i)];
      }
    }
    f(line_a, line_b);
    for (std::size_t i = 0; i < line_a.size(); ++i) {
      a[at(i)] = line_a[i];
    }
  }
  store_values(k.output(), a);
}

/// The largest number of a line, and log(sum(exp(line - top))). Their sum has lost the digits of
/// the latter where numbers are large: subtract them one after the other. A line whose largest
/// number is infinite, or which holds a nan, has a log_sum of nan.
struct LineSum {
  double top, log_sum;
};
[[nodiscard]] LineSum line_sum(const std::vector<double>& line);

}  // namespace tessera
