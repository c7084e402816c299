// Random numbers around training loops: behind them, behind an evaluation inside a step, and of
// models that a loop's body makes. The bits of one process on any number of ranks.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include <tessera/core/base/random_scope.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/random_like.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"

namespace tessera::dist {
namespace {

/// What a program does once, with a parameter.
using Once = std::function<void(const Tensor& bias)>;

const std::map<std::string, Once> kDrawing = {
    {"noise", [](const Tensor& b) { b.detach().copy_(b.detach() + 0.1 * randn_like(b)); }},
    {"dropout", [](const Tensor& b) { b.detach().copy_(dropout(b.detach(), 0.5)); }},
    {"a choice",
     [](const Tensor& b) {
       b.detach().copy_(b.detach() + 0.1 * multinomial(softmax(b.detach(), 0), 1));
     }},
    {"noise of the step",
     [](const Tensor& b) {
       const StepDraws scope;
       b.detach().copy_(b.detach() + 0.1 * randn({kWidth}));
     }},
};

/// An evaluation that draws, as of Monte Carlo dropout.
void evaluate(Pair& pair) {
  const NoGradGuard no_grad;
  data::DataLoader loader(data::TensorDataset{ones({8, kWidth}), zeros({8, 1})},
                          {.batch_size = 4, .grain = 4, .counts_steps = false});
  for (auto& [x, y] : loader) {
    static_cast<void>(dropout(pair.b->first(x), 0.5));
    const StepDraws scope;
    static_cast<void>(randn_like(y));
  }
}

TEST(DrawsBehindLoops, are_no_pass_s) {
  const Body body = [](Pair& p, const Tensor& x, const Tensor&) {
    square(p.a(dropout(x, 0.3))).backward();
    p.of_a.step();
    const StepDraws scope;
    static_cast<void>(randn({1}));
  };
  for (const auto& [name, once] : kDrawing) {
    SCOPED_TRACE(name);
    const auto train = loop(body, [&once = once](Pair& p) {
      once(p.a->second->bias.value());
      evaluate(p);
      once(p.a->second->bias.value());
    });
    expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  }
}

/// Two loaders go in step, the second moves on in the middle of the body.
std::vector<float> drawn_around_a_move(std::int64_t at_once, const auto& wrap) {
  set_seed(7);
  const auto model = nn::make<nn::Linear>(kWidth, kWidth);
  const data::LoaderOptions options{.batch_size = 16, .grain = kGrain, .at_once = at_once};
  using Rows = data::DataLoader<data::TensorDataset<1>>;
  Rows first(data::TensorDataset{randn({32, kWidth})}, options);
  Rows second(data::TensorDataset{randn({32, kWidth})}, options);
  [[maybe_unused]] const auto handle = wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  std::unique_ptr<Rows::Iterator> other;
  for (auto& [x] : first) {
    const Tensor before = randn_like(x);
    if (other) {
      ++*other;
    } else {
      other = std::make_unique<Rows::Iterator>(second);
    }
    const Tensor behind = randn_like(x);
    EXPECT_NE(before.to_vector<float>(), behind.to_vector<float>());
    square(model(x + before * behind)).backward();
    optimizer.step();
  }
  return model->weight.value().to_vector<float>();
}

TEST(DrawsInLoops, count_on_where_a_loader_beside_moves_on) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    return drawn_around_a_move(at_once, wrap);
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
}

TEST(DrawsInEvaluations, differ_by_batch_and_by_loop) {
  set_seed(7);
  data::DataLoader loader(data::TensorDataset{ones({16, kWidth})},
                          {.batch_size = 8, .grain = 4, .counts_steps = false});
  std::set<std::vector<float>> drawn;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (auto& [x] : loader) {
      drawn.insert(randn_like(x).to_vector<float>());
    }
  }
  EXPECT_EQ(drawn.size(), 6U);
}

TEST(DrawsBehindLoops, go_on_and_are_not_those_of_the_last_step) {
  set_seed(7);
  Pair pair;
  auto loader = loader_of(1);
  const Tensor like = zeros({kWidth});
  Values drawn;
  for (auto& [x, classes] : loader) {
    square(pair.a(x)).backward();
    if (pair.of_a.step().ended) {
      const StepDraws scope;
      drawn.push_back(testing_support::values(randn_like(like)));
    }
  }
  for (int i = 0; i < 2; ++i) {
    const StepDraws scope;
    drawn.push_back(testing_support::values(randn_like(like)));
    evaluate(pair);
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(drawn[i], drawn[j]) << i << " and " << j;
    }
  }
}

const std::map<std::string, Body> kInside = {
    {"an evaluation between two draws of a pass",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const Tensor once = dropout(x, 0.3);
       evaluate(p);
       square(p.a(dropout(once, 0.3))).backward();
       p.of_a.step();
     }},
    {"an evaluation behind the step and noise behind that",
     [](Pair& p, const Tensor& x, const Tensor&) {
       square(p.a(x)).backward();
       if (p.of_a.step().ended) {
         evaluate(p);
         const StepDraws scope;
         const Tensor bias = p.a->second->bias.value().detach();
         bias.copy_(bias + 0.1 * randn_like(bias));
       }
     }},
    {"a projection that is made anew in every step",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const auto projection = nn::make<nn::Linear>(kWidth, kWidth);
       const NoGradGuard fixed;
       const Tensor projected = projection(x);
       const ModeGuard<&Modes::record> on(true);
       square(p.a(projected)).backward();
       p.of_a.step();
     }},
};

TEST(DrawsInLoops, are_the_pass_s_around_an_evaluation_and_the_step_s_in_models) {
  for (const auto& [name, body] : kInside) {
    SCOPED_TRACE(name);
    expect_same_bits_on_ranks(loop(body), kGrain, {2, 3, 4});
  }
}

/// Models that are made behind a loop are the same, however many its body made.
TEST(DrawsInLoops, leave_models_made_later_as_they_are) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto loader = loader_of(at_once);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    for (auto& [x, classes] : loader) {
      static_cast<void>(nn::make<nn::Linear>(2, 2));
      square(pair.a(x)).backward();
      pair.of_a.step();
    }
    return values_of(*nn::make<nn::Linear>(3, 3));
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
}

}  // namespace
}  // namespace tessera::dist
