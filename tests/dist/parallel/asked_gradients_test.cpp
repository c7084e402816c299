// `grad` of a data parallel model: it is this rank's, and no part of what ranks sum.
#include <gtest/gtest.h>

#include <array>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "support/sizes.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::Values;
using testing_support::values_of;

struct Normed : nn::Module {
  nn::Child<nn::Linear> first{this, "first", 5, 6};
  nn::Child<nn::LayerNorm> norm{this, "norm", 6};
  nn::Child<nn::Linear> second{this, "second", 6, 3};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor y = second(norm(tanh(first(x))));
    return mean(y * y);
  }
};

/// Of all parameters.
Values asked(const Normed& model, const Tensor& loss) {
  std::vector<Tensor> parameters;
  for (const nn::Parameter& parameter : model.parameters()) {
    parameters.push_back(parameter.value());
  }
  Values values;
  for (const Tensor& gradient : grad(std::array{loss}, parameters, {}, {.keep_graph = true})) {
    values.push_back(gradient.to_vector<float>());
  }
  return values;
}

/// The weights after two steps; compares what `grad` gives in the first with a model's alone.
Values train_asking(std::int64_t at_once, const auto& wrap) {
  set_seed(3);
  const auto model = nn::make<Normed>();
  const auto plain = nn::clone(model);
  data::DataLoader loader(
      data::TensorDataset{randn({16, 5})},
      {.batch_size = 8, .workers = 0, .grain = kSmallGrain, .at_once = at_once});
  [[maybe_unused]] const auto reducer = wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  bool first_step = true;
  for (auto& [x] : loader) {
    const Tensor loss = model(x);
    if (first_step) {
      EXPECT_EQ(asked(*model, loss), asked(*plain, plain(x)));
    }
    loss.backward();
    first_step = first_step && !optimizer.step().ended;
  }
  return values_of(*model);
}

TEST(AskedGradients, are_those_of_a_model_alone_and_leave_the_step_as_it_is) {
  const auto loop = [](std::int64_t at_once, const auto& wrap) {
    return train_asking(at_once, wrap);
  };
  expect_same_bits_on_ranks(loop, kSmallGrain, {1, 2, 3, 4});
}

}  // namespace
}  // namespace tessera::dist
