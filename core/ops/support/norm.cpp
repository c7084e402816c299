#include <tessera/core/ops/support/norm.h>

#include <cmath>

#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/row_sums.h>
#include <tessera/core/ops/support/saved_inputs.h>

namespace tessera {
namespace {

// Note [Norms of rows]. The statistics take two walks over a row: the mean, then squares of
// distances to it. One walk that sums squares would lose all digits where the mean is large beside
// the spread. With h = (x - mean) * inverse and a = gradient * weight, the gradient of a row of n
// elements is inverse * (a - sum(a) / n - h * sum(a * h) / n): the chain rule through mean and
// inverse (Ba et al., "Layer Normalization", 2016, section 5). The root mean square norm has no
// mean, and so no first sum. Gradients of weight and bias are sums over rows, so they are taken one
// a microbatch.

void check_parameter(const Infer& c, const Tensor& x, int i, const char* name) {
  const Shape expected{x.shape().back()};
  if (!c.has_input(i)) {
    return;
  }
  check_shape(c.op(), name, c.input(i).shape(), expected);
  check_floating(c.op(), name, c.input(i).dtype());
  check_not_narrowed(c.op(), name, c.input(i).dtype(), x.dtype());
}

void check_rows(const Infer& c, const Tensor& x) {
  check_layout(x.ndim() >= 1 && x.shape().back() > 0, c.op(), "x", x.shape(), "(..., width)");
  check_floating(c.op(), "x", x.dtype());
}

Shape with_last_dim(Shape shape, std::int64_t size) {
  shape[shape.size() - 1] = size;
  return shape;
}

/// Dims in front of the last one can be cut.
DimLabels labels_of(int ndim) {
  return DimLabels::numbered(ndim, ndim - 1);
}

struct Statistics {
  double mean = 0;
  double inverse = 0;
};

Statistics statistics_of(const double* row, std::int64_t width, double epsilon, bool centered) {
  Statistics s;
  for (std::int64_t i = 0; centered && i < width; ++i) {
    s.mean += row[i];
  }
  s.mean /= static_cast<double>(width);
  double squares = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    squares += (row[i] - s.mean) * (row[i] - s.mean);
  }
  s.inverse = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
  return s;
}

std::vector<double> parameter_or(const Kernel& k, int i, std::int64_t width, double value) {
  return k.has_input(i) ? dense_values<double>(k.input(i))
                        : std::vector<double>(static_cast<std::size_t>(width), value);
}

}  // namespace

DType norm_dtype(const Tensor& x) {
  return CallContext::current().compute_dtype(x.dtype());
}

void infer_norm(Infer& c, const NormAttrs& attrs, bool centered) {
  const Tensor& x = c.input(0);
  check_rows(c, x);
  check_at_least(c.op(), "epsilon", attrs.epsilon, 0);
  check_parameter(c, x, 1, "weight");
  check_parameter(c, x, 2, "bias");
  check(!c.has_input(2) || c.has_input(1), c.op(),
        ": a bias needs a weight; got the bias alone, expected both");
  const DType statistics = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  c.add_output(x.shape(), attrs.dtype);
  c.add_output(with_last_dim(x.shape(), 1), statistics);
  if (centered) {
    c.add_output(with_last_dim(x.shape(), 1), statistics);
  }
}

void reference_norm(Kernel& k, const NormAttrs& attrs, bool centered) {
  const std::int64_t width = k.input(0).shape.back();
  const std::vector<double> weight = parameter_or(k, 1, width, 1);
  const std::vector<double> bias = parameter_or(k, 2, width, 0);
  std::vector<double> values = dense_values<double>(k.input(0));
  std::vector<double> means;
  std::vector<double> inverses;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(width)) {
    const Statistics s = statistics_of(values.data() + row, width, attrs.epsilon, centered);
    for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
      values[row + i] = (values[row + i] - s.mean) * s.inverse * weight[i] + bias[i];
    }
    means.push_back(s.mean);
    inverses.push_back(s.inverse);
  }
  store_values(k.output(0), values);
  store_values(k.output(1), inverses);
  if (centered) {
    store_values(k.output(2), means);
  }
}

ShardRule norm_rule(const Infer& c) {
  const int ndim = c.input(0).ndim();
  ShardRule rule;
  rule.inputs.push_back(labels_of(ndim));
  for (int i = 1; i < c.input_count(); ++i) {
    rule.inputs.emplace_back(c.has_input(i) ? 1 : 0);
  }
  for (std::size_t i = 0; i < c.outputs().size(); ++i) {
    rule.outputs.push_back(labels_of(ndim));
  }
  return rule;
}

void infer_norm_backward(Infer& c, const NormBackwardAttrs& attrs, bool centered) {
  const Tensor& x = c.input(1);
  check_rows(c, x);
  check_saved(c, 0, x.shape());
  check_saved(c, 2, with_last_dim(x.shape(), 1));
  check_parameter(c, x, 3, "weight");
  if (centered) {
    check_saved(c, 4, with_last_dim(x.shape(), 1));
  }
  c.add_output(x.shape(), x.dtype());
  for (int i = 0; i < attrs.weight + attrs.bias; ++i) {
    c.add_output({x.shape().back()}, attrs.parameters);
  }
}

void reference_norm_backward(Kernel& k, const NormBackwardAttrs& attrs, bool centered) {
  const auto width = static_cast<std::size_t>(k.input(1).shape.back());
  const std::vector<double> gradient = dense_values<double>(k.input(0));
  const std::vector<double> x = dense_values<double>(k.input(1));
  const std::vector<double> inverse = dense_values<double>(k.input(2));
  const std::vector<double> weight = parameter_or(k, 3, static_cast<std::int64_t>(width), 1);
  const std::vector<double> mean =
      centered ? dense_values<double>(k.input(4)) : std::vector<double>(inverse.size(), 0);
  const std::vector<std::int32_t> microbatches =
      microbatch_of_rows(k.input(1), k.microbatch_count());
  const std::size_t wanted = static_cast<std::size_t>(k.microbatch_count()) * width;
  std::vector<double> to_weight(attrs.weight ? wanted : 0);
  std::vector<double> to_bias(attrs.bias ? wanted : 0);
  std::vector<double> to_x(x.size());
  for (std::size_t row = 0; row < inverse.size(); ++row) {
    const auto h = [&](std::size_t i) { return (x[row * width + i] - mean[row]) * inverse[row]; };
    double sum = 0;
    double along = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double a = gradient[row * width + i] * weight[i];
      sum += centered ? a : 0;
      along += a * h(i);
    }
    const auto n = static_cast<double>(width);
    const std::size_t offset = static_cast<std::size_t>(microbatches[row]) * width;
    for (std::size_t i = 0; i < width; ++i) {
      const double g = gradient[row * width + i];
      to_x[row * width + i] = inverse[row] * (g * weight[i] - sum / n - h(i) * along / n);
      if (attrs.weight) {
        to_weight[offset + i] += g * h(i);
      }
      if (attrs.bias) {
        to_bias[offset + i] += g;
      }
    }
  }
  store_values(k.output(0), to_x);
  if (attrs.weight) {
    store_microbatch_sums(k, k.output(1), std::move(to_weight));
  }
  if (attrs.bias) {
    store_microbatch_sums(k, k.output(1 + attrs.weight), std::move(to_bias));
  }
}

ShardRule norm_backward_rule(const Infer& c) {
  const int ndim = c.input(1).ndim();
  ShardRule rule{.partial = ShardRule::Partial::sum};
  for (int i = 0; i < c.input_count(); ++i) {
    rule.inputs.push_back(i == 3 ? DimLabels(c.has_input(3) ? 1 : 0)
                                 : labels_of(c.has_input(i) ? ndim : 0));
  }
  rule.outputs.push_back(labels_of(ndim));
  for (std::size_t i = 1; i < c.outputs().size(); ++i) {
    rule.outputs.emplace_back(1);
  }
  return rule;
}

}  // namespace tessera
