#include <tessera/core/ops/log_softmax.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

void LogSoftmax::reference(Kernel& k, const Attrs& attrs) {
  map_along(k, attrs.dim, [](std::vector<double>& x, const std::vector<double>&) {
    const LineSum total = line_sum(x);
    for (double& value : x) {
      value = (value - total.top) - total.log_sum;
    }
  });
}

void LogSoftmax::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, call<LogSoftmaxBackward>({v.gradient(), v.output()}, attrs));
}

void LogSoftmaxBackward::reference(Kernel& k, const Attrs& attrs) {
  map_along(k, attrs.dim, [](std::vector<double>& gradient, const std::vector<double>& y) {
    double sum = 0;
    for (const double g : gradient) {
      sum += g;
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      gradient[i] -= std::exp(y[i]) * sum;
    }
  });
}

void LogSoftmaxBackward::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor up = v.gradient();
  const Tensor p = exp(v.input(1));
  Shape line = up.shape();
  line[attrs.dim] = 1;
  v.set(0, [&] { return up + sum_to(up * p, line) * -1.0; });
  v.set(1, [&] { return up * p * sum_to(v.input(0), line) * -1.0; });
}

Tensor log_softmax(const Tensor& x, int dim) {
  return call<LogSoftmax>({x}, {normalize_dim("log_softmax", dim, unstacked_ndim(x))});
}

const Register<LogSoftmax> register_log_softmax;
const Register<LogSoftmaxBackward> register_log_softmax_backward;

}  // namespace tessera
