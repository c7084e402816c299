// Autograd: ops on tensors that want gradients are recorded, and backward plays the record back.
#include <array>
#include <cmath>
#include <cstdio>

#include <tessera/tessera.h>

using tessera::Tensor;

/// y = a x + b, fitted by hand to points on 3 x - 2.
void fit_a_line() {
  const Tensor x = tessera::arange(-1, 1, 0.1, {.dtype = tessera::DType::f64});
  const Tensor y = 3 * x - 2;
  Tensor a = tessera::scalar(0, {.dtype = tessera::DType::f64, .requires_grad = true});
  Tensor b = tessera::scalar(0, {.dtype = tessera::DType::f64, .requires_grad = true});
  for (int step = 0; step < 200; ++step) {
    const Tensor error = a * x + b - y;
    const Tensor loss = tessera::mean(error * error);
    loss.backward();
    const tessera::NoGradGuard unrecorded;
    for (Tensor* parameter : {&a, &b}) {
      parameter->copy_(*parameter - 0.3 * parameter->grad());
      parameter->set_grad({});
    }
  }
  std::printf("line: %.3f x %+.3f\n", a.item(), b.item());
}

/// Gradients are recorded too when asked: sin, its slope, and the slope of that.
void higher_orders() {
  const Tensor x = tessera::scalar(1, {.dtype = tessera::DType::f64, .requires_grad = true});
  std::array<Tensor, 1> y{tessera::sin(x)};
  const std::array<Tensor, 1> inputs{x};
  for (const double expected : {std::sin(1.0), std::cos(1.0), -std::sin(1.0)}) {
    std::printf("derivative: %+.6f, by hand %+.6f\n", y[0].item(), expected);
    y[0] = tessera::grad(y, inputs, {}, {.create_graph = true})[0];
  }
}

/// Memory for time: what a checkpointed function computes on the way is computed again in backward.
void checkpointed() {
  const Tensor x = tessera::full({4}, 0.5, {.requires_grad = true});
  const auto deep = [](const Tensor& input) {
    Tensor y = input;
    for (int i = 0; i < 50; ++i) {
      y = tessera::sin(y) + input;
    }
    return y;
  };
  tessera::sum(deep(x)).backward();
  const Tensor kept = x.grad();
  x.set_grad({});
  tessera::sum(tessera::checkpoint(deep, x)).backward();
  const bool equal = x.grad().to_vector<float>() == kept.to_vector<float>();
  std::printf("recomputed gradients are %s\n", equal ? "the same bits" : "different");
}

int main() {
  fit_a_line();
  higher_orders();
  checkpointed();
}
