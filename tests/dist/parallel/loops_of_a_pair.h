// Training loops of two small networks, of which a test says what the body does.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/make.h>
#include <tessera/nn/optim/adamw.h>

#include "support/sizes.h"
#include "support/values_of.h"

namespace tessera::dist {

using testing_support::Values;
using testing_support::values_of;

/// A network that keeps a running mean.
struct Net : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kWidth, 6};
  nn::Child<nn::Linear> second{this, "second", 6, kWidth};
  nn::Buffer running{this, "running", zeros({kWidth})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor y = second(tanh(first(x)));
    running.assign(running.value() * 0.9 + mean(y.detach(), {0}) * 0.1);
    return y + running.value();
  }
};

/// Two networks of a kind, each with an optimizer.
template <class N>
struct PairOf {
  nn::Ptr<N> a = nn::make<N>();
  nn::Ptr<N> b = nn::make<N>();
  optim::AdamW of_a{a->parameters(), {.lr = 0.01}};
  optim::AdamW of_b{b->parameters(), {.lr = 0.01}};
};
using Pair = PairOf<Net>;

inline Tensor square(const Tensor& x) {
  return mean(x * x);
}

/// What the loop's body does with a batch.
using Body = std::function<void(Pair&, const Tensor& x, const Tensor& classes)>;

inline Values values_of_pair(const Pair& pair) {
  Values values;
  for (const auto& model : {pair.a, pair.b}) {
    for (const nn::Parameter& parameter : model->parameters()) {
      values.push_back(parameter.value().to_vector<float>());
    }
    values.push_back(Tensor(model->running).to_vector<float>());
  }
  return values;
}

inline data::DataLoader<data::TensorDataset<2>> loader_of(std::int64_t at_once) {
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    classes.push_back(i % 3 == 0 ? -100 : i % kWidth);
  }
  return data::DataLoader(
      data::TensorDataset{randn({kSamples, kWidth}),
                          from_values<std::int64_t>(classes, {kSamples})},
      {.batch_size = 16, .shuffle = true, .workers = 0, .grain = kGrain, .at_once = at_once});
}

/// A training loop of two epochs, and what the program does behind each.
inline auto loop(
    const Body& body, const std::function<void(Pair&)>& behind = [](Pair&) {}) {
  return [body, behind](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto loader = loader_of(at_once);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    [[maybe_unused]] const auto of_b = wrap(*pair.b);
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto& [x, classes] : loader) {
        body(pair, x, classes);
      }
      behind(pair);
    }
    return values_of_pair(pair);
  };
}

}  // namespace tessera::dist
