// Two losses in a pass, for one of which a part of the model is frozen: the bits of one process.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <tessera/core/ops/sub.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"

namespace tessera::dist {
namespace {

/// Adversaries in one module, which is what is data parallel.
struct Adversaries : nn::Module {
  nn::Child<nn::Linear> judge{this, "judge", kWidth, kWidth};
  nn::Child<nn::Linear> maker{this, "maker", kWidth, kWidth};
};

using FreezingBody = std::function<void(Adversaries&, const Tensor& x)>;

void backward_of_judge(Adversaries& m, const Tensor& x) {
  square(m.judge(x) - 1.0).backward();
}
void backward_of_maker(Adversaries& m, const Tensor& x) {
  square(m.judge(m.maker(x)) + 1.0).backward();
}

const std::map<std::string, FreezingBody> kFreezingBodies = {
    {"frozen for the first",
     [](Adversaries& m, const Tensor& x) {
       m.judge->requires_grad_(false);
       backward_of_maker(m, x);
       m.judge->requires_grad_(true);
       backward_of_judge(m, x);
     }},
    {"frozen for the second",
     [](Adversaries& m, const Tensor& x) {
       backward_of_judge(m, x);
       m.judge->requires_grad_(false);
       backward_of_maker(m, x);
       m.judge->requires_grad_(true);
     }},
    {"frozen between forward and backward",
     [](Adversaries& m, const Tensor& x) {
       const Tensor loss = square(m.judge(m.maker(x)) + 1.0);
       m.judge->requires_grad_(false);
       loss.backward();
       m.judge->requires_grad_(true);
       backward_of_judge(m, x);
     }},
    {"each half in turn",
     [](Adversaries& m, const Tensor& x) {
       m.judge->requires_grad_(false);
       backward_of_maker(m, x);
       m.judge->requires_grad_(true);
       m.maker->requires_grad_(false);
       backward_of_maker(m, x);
       m.maker->requires_grad_(true);
     }},
};

Values train_adversaries(const FreezingBody& body, std::int64_t at_once, const auto& wrap) {
  set_seed(7);
  const auto model = nn::make<Adversaries>();
  optim::AdamW of_judge(model->judge->parameters(), {.lr = 0.01});
  optim::AdamW of_maker(model->maker->parameters(), {.lr = 0.01});
  auto loader = loader_of(at_once);
  [[maybe_unused]] const auto handle = wrap(*model);
  for (auto& [x, classes] : loader) {
    body(*model, x);
    of_maker.step();
    of_judge.step();
  }
  return values_of(*model);
}

TEST(FrozenParts, of_one_backward_have_the_bits_of_one_process) {
  for (const auto& [name, body] : kFreezingBodies) {
    SCOPED_TRACE(name);
    const auto train = [&body = body](std::int64_t at_once, const auto& wrap) {
      return train_adversaries(body, at_once, wrap);
    };
    expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  }
}

TEST(FrozenParts, are_not_trained_by_what_was_computed_before) {
  set_seed(7);
  const auto model = nn::make<Adversaries>();
  const Tensor x = randn({4, kWidth});
  const Tensor loss = square(model->judge(model->maker(x)));
  model->judge->requires_grad_(false);
  loss.backward();
  EXPECT_FALSE(model->judge->weight.grad().defined());
  EXPECT_TRUE(model->maker->weight.grad().defined());
  model->judge->requires_grad_(true);
  backward_of_judge(*model, x);
  EXPECT_TRUE(model->judge->weight.grad().defined());
}

TEST(FrozenParts, in_some_passes_of_a_step_are_refused) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    return train_adversaries(
        [](Adversaries& m, const Tensor& x) {
          m.judge->requires_grad_(Context::current().pass.first == 0);
          backward_of_maker(m, x);
        },
        at_once, wrap);
  };
  try {
    train_on_ranks(train, kGrain, 2, 1);
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("changed between two passes"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera::dist
