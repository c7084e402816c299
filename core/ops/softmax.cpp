#include <tessera/core/ops/softmax.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

void Softmax::reference(Kernel& k, const Attrs& attrs) {
  map_along(k, attrs.dim, [](std::vector<double>& x, const std::vector<double>&) {
    const LineSum total = line_sum(x);
    for (double& value : x) {
      value = std::exp((value - total.top) - total.log_sum);
    }
  });
}

void Softmax::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, call<SoftmaxBackward>({v.gradient(), v.output()}, attrs));
}

void SoftmaxBackward::reference(Kernel& k, const Attrs& attrs) {
  map_along(k, attrs.dim, [](std::vector<double>& gradient, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += gradient[i] * y[i];
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      gradient[i] = y[i] * (gradient[i] - sum);
    }
  });
}

void SoftmaxBackward::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor up = v.gradient();
  const Tensor y = v.input(1);
  if (v.needs(0)) {  // the Jacobian is symmetric
    v.set(0, call<SoftmaxBackward>({up, y}, attrs));
  }
  if (v.needs(1)) {
    const Tensor g = v.input(0);
    Shape line = y.shape();
    line[attrs.dim] = 1;
    const Tensor centered = g + sum_to(g * y, line) * -1.0;
    v.set(1, up * centered + g * sum_to(up * y, line) * -1.0);
  }
}

Tensor softmax(const Tensor& x, int dim) {
  return call<Softmax>({x}, {normalize_dim("softmax", dim, unstacked_ndim(x))});
}

const Register<Softmax> register_softmax;
const Register<SoftmaxBackward> register_softmax_backward;

}  // namespace tessera
