#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/factors.h>
#include <tessera/core/ops/support/row_sums.h>

namespace tessera {
namespace {

std::int64_t rows_of(const TensorImpl& x) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < x.shape.size(); ++d) {
    rows *= x.shape[d];
  }
  return rows;
}

}  // namespace

void LinearBackwardWeight::infer(Infer& c, const Attrs& attrs) {
  const Shape& gradient = c.input(0).shape();
  const Shape& x = c.input(1).shape();
  check_factors(c, attrs.dtype);
  bool fits = gradient.size() == x.size() && !x.empty();
  for (int d = 0; fits && d + 1 < x.size(); ++d) {
    fits = gradient[d] == x[d];
  }
  check(fits, "linear_backward_weight: wrong shape of gradient; got ", gradient,
        ", expected the dims of x ", x, " but for the last");
  c.add_output({gradient.back(), x.back()}, attrs.result);
}

void LinearBackwardWeight::reference(Kernel& k, const Attrs& attrs) {
  const std::int64_t out = k.input(0).shape.back();
  const std::int64_t in = k.input(1).shape.back();
  const std::vector<std::int32_t> microbatches =
      microbatch_of_rows(k.input(0), k.microbatch_count());
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> gradient = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> x = dense_values<C>(k.input(1), attrs.dtype);
    std::vector<C> sums(static_cast<std::size_t>(k.microbatch_count() * out * in), C(0));
    for (std::int64_t row = 0; row < rows_of(k.input(0)); ++row) {
      C* to = sums.data() + microbatches[static_cast<std::size_t>(row)] * out * in;
      for (std::int64_t j = 0; j < out; ++j) {
        for (std::int64_t i = 0; i < in; ++i) {
          *to++ += gradient[static_cast<std::size_t>(row * out + j)] *
                   x[static_cast<std::size_t>(row * in + i)];
        }
      }
    }
    store_microbatch_sums(k, k.output(), std::move(sums));
  });
}

void LinearBackwardWeight::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const Tensor result = call<Linear>({conj(v.input(1)), v.gradient()}, {attrs.dtype});
    v.set(0, cast(result, v.input_meta(0).dtype));
  }
  if (v.needs(1)) {
    v.set(1, call<LinearBackwardInput>({conj(v.input(0)), v.gradient()},
                                       {attrs.dtype, v.input_meta(1).dtype}));
  }
}

ShardRule LinearBackwardWeight::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input(0).ndim();
  const std::int8_t labels[2] = {kMaxDims, kMaxDims + 1};
  ShardRule rule{.partial = ShardRule::Partial::sum};
  DimLabels& result = rule.outputs.emplace_back(2);
  for (int i = 0; i < 2; ++i) {
    DimLabels& rows = rule.inputs.emplace_back(DimLabels::numbered(ndim));
    result[i] = rows[ndim - 1] = labels[i];
  }
  return rule;
}

void LinearBackwardBias::infer(Infer& c, const Attrs& attrs) {
  check_layout(c.input().ndim() >= 1, "linear_backward_bias", "gradient", c.input().shape(),
               "(..., out)");
  c.add_output({c.input().shape().back()}, attrs.result);
}

void LinearBackwardBias::reference(Kernel& k, const Attrs& attrs) {
  const std::int64_t out = k.input().shape.back();
  const std::vector<std::int32_t> microbatches =
      microbatch_of_rows(k.input(), k.microbatch_count());
  with_computing_type(attrs.result, [&]<class C>() {
    const std::vector<C> gradient = dense_values<C>(k.input());
    std::vector<C> sums(static_cast<std::size_t>(k.microbatch_count() * out), C(0));
    std::size_t next = 0;
    for (const std::int32_t microbatch : microbatches) {
      for (std::int64_t j = 0; j < out; ++j) {
        sums[static_cast<std::size_t>(microbatch * out + j)] += gradient[next++];
      }
    }
    store_microbatch_sums(k, k.output(), std::move(sums));
  });
}

void LinearBackwardBias::vjp(Vjp& v, const Attrs&) {
  v.set(0, cast(expand_like(v.gradient(), v.input_meta()), v.input_meta().dtype));
}

ShardRule LinearBackwardBias::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input().ndim();
  ShardRule rule{.partial = ShardRule::Partial::sum};
  rule.inputs.push_back(DimLabels::numbered(ndim));
  rule.outputs.emplace_back(1)[0] = static_cast<std::int8_t>(ndim - 1);
  return rule;
}

Tensor linear_backward_weight(const Tensor& gradient, const Tensor& x, DType dtype, DType result,
                              const Tensor& destination) {
  return call_into<LinearBackwardWeight>(destination, {gradient, x}, {dtype, result});
}

const Register<LinearBackwardWeight> register_linear_grad_weight;
const Register<LinearBackwardBias> register_linear_grad_bias;

}  // namespace tessera
