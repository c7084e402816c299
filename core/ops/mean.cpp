#include <tessera/core/ops/mean.h>

#include <tessera/core/ops/div.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

void Mean::infer(Infer& c, const Attrs& attrs) {
  check_differentiable("mean", "x", c.input().dtype());
  infer_reduction(c, attrs, c.input().dtype());
}

void Mean::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs, []<Continuous T>(std::span<const T> values) {
    T sum = 0;
    for (const T value : values) {
      sum += value;
    }
    return sum / static_cast<double>(values.size());
  });
}

void Mean::vjp(Vjp& v, const Attrs& attrs) {
  const auto count = static_cast<double>(elements_per_output(v.input_meta(), v.output_meta()));
  v.set(0, expand_reduced(v.gradient() / Number(count).tensor(), attrs, v.input_meta()));
}

Tensor mean(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Mean>({x}, {dims, keepdim});
}

const Register<Mean> register_mean;

}  // namespace tessera
