#include <tessera/core/ops/linear.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/factors.h>

namespace tessera {
namespace {

constexpr std::int8_t kOut = kMaxDims;
constexpr std::int8_t kIn = kMaxDims + 1;

/// Labels of (..., width): the rows' dims are numbered, the last one is `width`.
DimLabels row_labels(int ndim, std::int8_t width) {
  DimLabels labels = DimLabels::numbered(ndim);
  labels[ndim - 1] = width;
  return labels;
}

DimLabels weight_labels(std::int8_t in) {
  DimLabels labels(2);
  labels[0] = kOut;
  labels[1] = in;
  return labels;
}

/// x (..., width) times a matrix with `matching` rows or columns.
void check_product(const Infer& c, std::int64_t matching, const char* name) {
  const Shape& x = c.input(0).shape();
  check(!x.empty() && x.back() == matching, c.op(), ": wrong shape of ", name, "; got ", x,
        ", expected (..., ", matching, ") for weight ", c.input(1).shape());
}

}  // namespace

void Linear::infer(Infer& c, const Attrs& attrs) {
  const Shape& weight = c.input(1).shape();
  check_factors(c, attrs.dtype);
  check_layout(weight.size() == 2, "linear", "weight", weight, "(out, in)");
  check_product(c, weight[1], "x");
  if (c.has_input(2)) {
    check_shape("linear", "bias", c.input(2).shape(), {weight[0]});
    check_not_narrowed("linear", "bias", c.input(2).dtype(), c.input(0).dtype());
  }
  Shape shape = c.input(0).shape();
  shape[shape.size() - 1] = weight[0];
  c.add_output(shape, attrs.dtype);
}

void Linear::reference(Kernel& k, const Attrs& attrs) {
  const std::int64_t out = k.input(1).shape[0];
  const std::int64_t in = k.input(1).shape[1];
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> x = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> weight = dense_values<C>(k.input(1), attrs.dtype);
    const std::vector<C> bias = k.has_input(2) ? dense_values<C>(k.input(2)) : std::vector<C>();
    std::vector<C> y;
    for (std::int64_t row = 0; row < k.output().numel() / std::max<std::int64_t>(out, 1); ++row) {
      for (std::int64_t j = 0; j < out; ++j) {
        C sum(0);
        for (std::int64_t i = 0; i < in; ++i) {
          sum += x[static_cast<std::size_t>(row * in + i)] *
                 weight[static_cast<std::size_t>(j * in + i)];
        }
        y.push_back(bias.empty() ? sum : sum + bias[static_cast<std::size_t>(j)]);
      }
    }
    store_values(k.output(), y);
  });
}

void Linear::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor gradient = v.gradient();
  if (v.needs(0)) {
    v.set(0, call<LinearBackwardInput>({gradient, conj(v.input(1))},
                                       {attrs.dtype, v.input_meta(0).dtype}));
  }
  if (v.needs(1)) {
    v.set_batch_sum<LinearBackwardWeight>(1, {gradient, conj(v.input(0))},
                                          {attrs.dtype, v.input_meta(1).dtype});
  }
  if (v.has_input(2) && v.needs(2)) {
    v.set(2, call_into<LinearBackwardBias>(v.destination(2), {gradient}, {v.input_meta(2).dtype}));
  }
}

ShardRule Linear::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input(0).ndim();
  // Partial sums would each add the bias, so with one the inner dim stays whole.
  const std::int8_t in = c.has_input(2) ? DimLabels::kWhole : kIn;
  ShardRule rule{.partial = ShardRule::Partial::sum};
  rule.inputs.push_back(row_labels(ndim, in));
  rule.inputs.push_back(weight_labels(in));
  DimLabels& bias = rule.inputs.emplace_back(c.has_input(2) ? 1 : 0);
  bias[0] = kOut;
  rule.outputs.push_back(row_labels(ndim, kOut));
  return rule;
}

void LinearBackwardInput::infer(Infer& c, const Attrs& attrs) {
  const Shape& weight = c.input(1).shape();
  check_factors(c, attrs.dtype);
  check_layout(weight.size() == 2, "linear_backward_input", "weight", weight, "(out, in)");
  check_product(c, weight[0], "gradient");
  Shape shape = c.input(0).shape();
  shape[shape.size() - 1] = weight[1];
  c.add_output(shape, attrs.result);
}

void LinearBackwardInput::reference(Kernel& k, const Attrs& attrs) {
  const std::int64_t out = k.input(1).shape[0];
  const std::int64_t in = k.input(1).shape[1];
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> gradient = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> weight = dense_values<C>(k.input(1), attrs.dtype);
    std::vector<C> result(static_cast<std::size_t>(k.output().numel()), C(0));
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(result.size()); ++at) {
      const std::int64_t row = at / in;
      const std::int64_t i = at % in;
      for (std::int64_t j = 0; j < out; ++j) {
        result[static_cast<std::size_t>(at)] += gradient[static_cast<std::size_t>(row * out + j)] *
                                                weight[static_cast<std::size_t>(j * in + i)];
      }
    }
    store_values(k.output(), result);
  });
}

void LinearBackwardInput::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const Tensor result = call<Linear>({v.gradient(), conj(v.input(1))}, {attrs.dtype});
    v.set(0, cast(result, v.input_meta(0).dtype));
  }
  if (v.needs(1)) {
    v.set(1, linear_backward_weight(conj(v.input(0)), v.gradient(), attrs.dtype,
                                    v.input_meta(1).dtype, v.destination(1)));
  }
}

ShardRule LinearBackwardInput::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input(0).ndim();
  ShardRule rule{.partial = ShardRule::Partial::sum};
  rule.inputs.push_back(row_labels(ndim, kOut));
  rule.inputs.push_back(weight_labels(kIn));
  rule.outputs.push_back(row_labels(ndim, kIn));
  return rule;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return call<Linear>({x, weight, bias}, {product_dtype("linear", {{"x", x}, {"weight", weight}})});
}

const Register<Linear> register_linear;
const Register<LinearBackwardInput> register_linear_grad_input;

}  // namespace tessera
