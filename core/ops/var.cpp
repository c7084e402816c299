#include <tessera/core/ops/var.h>

#include <algorithm>
#include <complex>

#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

void Var::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check_differentiable("var", "x", dtype);
  infer_reduction(c, attrs.reduce, real_of(dtype));
}

void Var::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs.reduce, [&]<Continuous T>(std::span<const T> values) {
    T sum = 0;
    for (const T value : values) {
      sum += value;
    }
    const T mean = sum / static_cast<double>(values.size());
    double squares = 0;
    for (const T value : values) {
      squares += std::norm(value - mean);
    }
    return squares / std::max(0.0, static_cast<double>(values.size()) - attrs.correction);
  });
}

void Var::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor x = v.input();
  const TensorMeta& meta = v.input_meta();
  const double freedom =
      static_cast<double>(elements_per_output(meta, v.output_meta())) - attrs.correction;
  const Tensor centered =
      x - expand_reduced(mean(x, attrs.reduce.dims, true), {attrs.reduce.dims, true}, meta);
  const Tensor weight = v.gradient() * (2 / std::max(0.0, freedom));
  v.set(0, centered * expand_reduced(weight, attrs.reduce, meta));
}

ShardRule Var::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs.reduce, ShardRule::Partial::none);
}

Tensor var(const Tensor& x, const Dims& dims, bool keepdim, double correction) {
  return call<Var>({x}, {{dims, keepdim}, correction});
}

const Register<Var> register_var;

}  // namespace tessera
