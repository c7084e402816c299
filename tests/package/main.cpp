// Finds w in y = (w x)^3 by gradient descent through an op of this project's own.
#include <cmath>
#include <cstdio>
#include <string>

#include <tessera/tessera.h>

#include "cube.h"
#include "shared_state.h"

namespace {

using namespace tessera;

struct Problem {
  Tensor x = from_values({-1.0F, -0.5F, 0.25F, 0.75F, 1.0F, 1.25F}, {6, 1});
  Tensor y = outside::cube(x * tensor({0.5F, 0.75F, 1.0F}));

  [[nodiscard]] Tensor loss(const Tensor& w) const {
    const Tensor error = outside::cube(x * w) + -1.0 * y;
    return sum_to(error * error, {});
  }
};

/// The gradient of the loss at `w` along its first element, from the op and from differences.
bool gradient_is_right(const Problem& problem) {
  const double step = 1e-5;
  const auto at = [](double first) { return from_values({first, 0.5, 0.25}, {3}); };
  const Tensor w = at(0.3).set_requires_grad(true);
  problem.loss(w).backward();
  const double above = problem.loss(at(0.3 + step)).item();
  const double below = problem.loss(at(0.3 - step)).item();
  return std::abs(w.grad().to_vector<double>()[0] - (above - below) / (2 * step)) < 1e-6;
}

double train(const Problem& problem) {
  const Tensor w = full({3}, 0.4).set_requires_grad(true);
  double last = 0;
  for (int step = 0; step < 2000; ++step) {
    const Tensor loss = problem.loss(w);
    last = loss.item();
    loss.backward();
    const NoGradGuard guard;
    add_(w, -0.01 * w.grad());
    w.set_grad({});
  }
  return last;
}

/// What registers itself must have survived linking: the library's ops and this project's.
bool ops_are_there() {
  return find_op("add").reference != nullptr && find_op("outside_cube").vjp != nullptr;
}

}  // namespace

int main() {
  const Problem problem;
  const double loss = train(problem);
  const bool right = gradient_is_right(problem);
  std::printf("ops there: %d, gradient right: %d, loss after training: %g\n", ops_are_there(),
              right, loss);
  const std::string apart = outside::state_that_is_not_shared();
  std::printf("state that the library does not share: %s\n",
              apart.empty() ? "none" : apart.c_str());
  return ops_are_there() && right && loss < 1e-4 && apart.empty() ? 0 : 1;
}
