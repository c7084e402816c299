// Pure training: the model is a value, a step makes the next one, and gradients are a tree of the
// same names. Beside it the ordinary loop, which comes to the same weights.
#include <algorithm>
#include <cstdio>

#include <tessera/tessera.h>

namespace nn = tessera::nn;
using tessera::Tensor;

constexpr double kRate = 0.1;
constexpr int kSteps = 500;

/// Batch norm keeps running statistics: state that a step changes besides the parameters.
struct Model : nn::Module {
  nn::Child<nn::Linear> hidden{this, "hidden", 2, 16};
  nn::Child<nn::BatchNorm1d> norm{this, "norm", 16};
  nn::Child<nn::Linear> out{this, "out", 16, 1};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return out(tessera::tanh(norm(hidden(x))));
  }
};

struct Data {
  Tensor x = tessera::rand({64, 2}) * 2 - 1;
  Tensor y = tessera::slice(x, 1, 0, 1) * tessera::slice(x, 1, 1, 2);  // the product of both
};

Tensor loss_of(const nn::Ptr<Model>& model, const Data& data) {
  return nn::mse_loss(model(data.x), data.y);
}

/// `model` itself is never changed: what the step leaves is `next`.
nn::Ptr<Model> train_purely(nn::Ptr<Model> model, const Data& data) {
  for (int step = 0; step < kSteps; ++step) {
    const auto objective = [&](const nn::Ptr<Model>& m) { return loss_of(m, data); };
    auto [loss, grads, next] = nn::value_and_grad(objective, model);
    nn::Variables params = next->variables();  // running statistics too, which have no gradient
    params = params - kRate * grads;
    next->load_state_dict(params.to_state_dict(), {.assign = true});
    if (step % 100 == 0) {
      std::printf("step %d  loss %.5f\n", step, loss.item());
    }
    model = next;
  }
  return model;
}

void train_in_place(const nn::Ptr<Model>& model, const Data& data) {
  tessera::optim::SGD optimizer(model->parameters(), {.lr = kRate});
  for (int step = 0; step < kSteps; ++step) {
    loss_of(model, data).backward();
    optimizer.step();
  }
}

int main() {
  tessera::set_seed(1);
  const Data data;
  const auto model = nn::make<Model>();
  const auto pure = train_purely(model, data);
  std::printf("final loss %.5f\n", loss_of(pure, data).item());

  const auto other = nn::clone(model);  // still the untrained one
  train_in_place(other, data);
  double difference = 0;
  for (const auto& [name, value] : pure->v().leaves()) {
    const Tensor gap = tessera::max(tessera::abs(value - other->v().at(name)));
    difference = std::max(difference, gap.item());
  }
  std::printf("largest difference from the ordinary loop: %g\n", difference);
}
