#include <tessera/core/ops/logsumexp.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {

namespace {

/// e^(x - y), but not from y: where x is large, that has lost the digits of the logarithm. 0 where
/// all is -inf. The shift by the largest changes nothing, so it needs no gradient.
Tensor softmax_over(const Tensor& x, const Dims& dims, const TensorMeta& meta) {
  if (x.numel() == 0) {
    return x;  // max over nothing is an error
  }
  const Tensor top = max(x, dims, true).detach();
  const Tensor terms = exp(x - expand_like(where(eq(top, -INFINITY), 0, top), meta));
  const Tensor total = sum(terms, dims, true);
  return terms / expand_like(where(eq(total, 0), 1, total), meta);
}

}  // namespace

void Logsumexp::infer(Infer& c, const Attrs& attrs) {
  check_real("logsumexp", "x", c.input().dtype());
  infer_reduction(c, attrs, is_floating(c.input().dtype()) ? c.input().dtype() : DType::f32);
}

void Logsumexp::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs, []<Real T>(std::span<const T> values) {
    double largest = -INFINITY;
    for (const T value : values) {
      largest = std::max(largest, static_cast<double>(value));
    }
    const double shift = std::isfinite(largest) ? largest : 0;
    double sum = 0;
    for (const T value : values) {
      sum += std::exp(static_cast<double>(value) - shift);
    }
    return shift + std::log(sum);
  });
}

void Logsumexp::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor share = softmax_over(v.input(), attrs.dims, v.input_meta());
  v.set(0, share * expand_reduced(v.gradient(), attrs, v.input_meta()));
}

Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Logsumexp>({x}, {dims, keepdim});
}

const Register<Logsumexp> register_logsumexp;

}  // namespace tessera
