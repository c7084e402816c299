// Training loops of a small classifier, of which a test says what the body does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/base/elements_of_run.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/nn/optim/sgd.h>

#include "loops_of_a_pair.h"

namespace tessera::dist {

inline constexpr std::int64_t kOneBatch = 16;
inline constexpr std::int64_t kAllRows = 56;  // the last batch is half of one
inline constexpr std::int64_t kKinds = 3;

/// A classifier that follows the means of its inputs, and adds a number that others may set.
struct Classifier : nn::Module {
  nn::Child<nn::Linear> layer{this, "layer", kWidth, kKinds};
  nn::Buffer seen{this, "seen", zeros({kWidth})};
  nn::Buffer heat{this, "heat", zeros({kWidth})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    seen.assign(seen.value() * 0.5 + mean(x, {0}) * 0.5);
    return layer(x + heat.value());
  }
};

/// What the body of a loop works with.
struct Classifying {
  nn::Ptr<Classifier> model = nn::make<Classifier>();
  optim::SGD optimizer{model->parameters(), {.lr = 0.1}};
  std::int64_t count = 0;  ///< of the program's own
};

using BodyOfLoop = std::function<void(Classifying&, const Tensor& x, const Tensor& y)>;
using PrepareModel = std::function<void(Classifying&)>;

inline Values values_of_training(const Classifying& t) {
  Values values = values_of(*t.model);
  values.push_back(t.model->seen.value().to_vector<float>());
  values.push_back(t.model->heat.value().to_vector<float>());
  return values;
}

inline Tensor rows_of_all() {
  set_seed(7);
  return randn({kAllRows, kWidth}) + 0.5;
}

inline Tensor kinds_of(const Tensor& x) {
  return cast(x.detach() > 0.8, DType::i64);
}

template <class Wrap>
Values train_once(const BodyOfLoop& body, std::int64_t at_once, const Wrap& wrap,
                  const PrepareModel& prepare = {}) {
  const auto run = std::make_shared<Context>(Context::current());
  run->elements = std::make_shared<ElementsOfRun>();  // as in a process of its own
  const ContextScope scope(run);
  const Tensor x = rows_of_all();
  const Tensor y = cast(mean(x, {1}) > 0.5, DType::i64);
  Classifying t;
  data::DataLoader loader(
      data::TensorDataset{x, y},
      {.batch_size = kOneBatch, .workers = 0, .grain = kGrain, .at_once = at_once});
  [[maybe_unused]] const auto handle = wrap(*t.model);
  if (prepare) {
    prepare(t);
  }
  for (auto& [rows, classes] : loader) {
    body(t, rows, classes);
  }
  return values_of_training(t);
}

inline auto training_with(const BodyOfLoop& body, const PrepareModel& prepare = {}) {
  return [=](std::int64_t at_once, const auto& wrap) {
    return train_once(body, at_once, wrap, prepare);
  };
}

inline const auto kByItself = [](nn::Module&) { return 0; };

inline void classify_once(Classifying& t, const Tensor& x, const Tensor& y) {
  cross_entropy(t.model(x), y).backward();
  t.optimizer.step();
}

}  // namespace tessera::dist
