#include <tessera/core/ops/logsumexp.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/isfinite.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {

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
  if (v.needs(0)) {
    const Tensor y = expand_reduced(v.output(), attrs, v.input_meta());
    const Tensor share = exp(v.input() - where(isfinite(y), y, 0));
    v.set(0, share * expand_reduced(v.gradient(), attrs, v.input_meta()));
  }
}

ShardRule Logsumexp::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs, ShardRule::Reduction::none);
}

Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Logsumexp>({x}, {dims, keepdim});
}

namespace {
const Register<Logsumexp> register_logsumexp;
}

}  // namespace tessera
