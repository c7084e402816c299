// What a rank would keep by its own samples alone is refused by name; what throws in a pass leaves
// nothing of a step behind.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "support/error_of.h"
#include "support/sizes.h"

namespace tessera::dist {
namespace {

struct SeesBatches : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kWidth, kWidth};
  nn::Buffer seen{this, "seen", zeros({})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    seen.assign(seen.value() + 1.0);
    return first(x);
  }
};

data::DataLoader<data::TensorDataset<1>> own_loader(std::int64_t at_once,
                                                    bool counts_steps = true) {
  set_seed(7);
  return data::DataLoader(data::TensorDataset{randn({32, kWidth})}, {.batch_size = 16,
                                                                     .workers = 0,
                                                                     .grain = kGrain,
                                                                     .at_once = at_once,
                                                                     .counts_steps = counts_steps});
}

template <class Train>
void expect_refused_on_ranks(const Train& train, const std::string& text) {
  for (const std::int64_t at_once : {0, 1}) {
    try {
      train_on_ranks(train, kGrain, 2, at_once);
      ADD_FAILURE() << "no error, " << at_once << " at once";
    } catch (const RuntimeError& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
}

TEST(OwnSamples, do_not_decide_buffers_of_a_model_that_nobody_keeps_equal) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    const auto student = nn::make<SeesBatches>(), teacher = nn::make<SeesBatches>();
    teacher->requires_grad_(false);
    auto loader = own_loader(at_once);
    [[maybe_unused]] const auto reducer = wrap(*student);
    optim::SGD optimizer(student->parameters(), {.lr = 0.1});
    for (auto& [x] : loader) {
      mean(student(x) * teacher(x)).backward();
      optimizer.step();
    }
    return Tensor(teacher->seen).template item<float>();
  };
  EXPECT_EQ(train(0, [](nn::Module&) { return 0; }), 2);
  expect_refused_on_ranks(train, "would assign seen by its own samples alone");
}

TEST(OwnSamples, do_not_decide_buffers_outside_of_steps) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    const auto model = nn::make<SeesBatches>();
    [[maybe_unused]] const auto reducer = wrap(*model);
    for (auto& [x] : own_loader(at_once, false)) {
      static_cast<void>(model(x));
    }
    return 0;
  };
  expect_refused_on_ranks(train, "\"seen\" is assigned outside of training steps");
}

/// Whatever the passes of a step are, an evaluation in each of them that forgets eval() is refused,
/// and one behind the step is not.
TEST(OwnSamples, do_not_decide_buffers_inside_of_a_step) {
  for (const bool behind : {false, true}) {
    const auto train = [&](std::int64_t at_once, const auto& wrap) {
      const auto model = nn::make<SeesBatches>();
      [[maybe_unused]] const auto reducer = wrap(*model);
      optim::SGD optimizer(model->parameters(), {.lr = 0.1});
      data::DataLoader test(
          data::TensorDataset{randn({7, kWidth})},
          {.batch_size = 7, .workers = 0, .rank = 0, .ranks = 1, .counts_steps = false});
      const auto evaluate = [&] {
        for (auto& [held_out] : test) {
          static_cast<void>(model(held_out));
        }
      };
      for (auto& [x] : own_loader(at_once)) {
        mean(model(x)).backward();
        if (!behind) {
          evaluate();
        }
        if (optimizer.step().ended && behind) {
          evaluate();
        }
      }
      return Tensor(model->seen).template item<float>();
    };
    const std::string text =
        "\"seen\" is assigned by an evaluation inside a pass of a training step";
    if (behind) {
      EXPECT_EQ(train_on_ranks(train, kGrain, 2, 0), 4);
      EXPECT_EQ(train_on_ranks(train, kGrain, 2, 1), 4);
    } else {
      expect_refused_on_ranks(train, text);
      EXPECT_NE(testing_support::error_of([&] {
                  return train(0, [](nn::Module&) { return 0; });
                }).find(text),
                std::string::npos);
    }
  }
}

/// A hook throws once, in the last pass of step 2; the caller catches that and tries again.
TEST(OwnSamples, are_not_all_of_a_step_whose_backward_threw) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    auto loader = own_loader(at_once);  // sets the seed
    const auto model = nn::make<SeesBatches>();
    [[maybe_unused]] const auto reducer = wrap(*model);
    optim::SGD optimizer(model->parameters(), {.lr = 0.1});
    bool thrown = false;
    const ScopedHandle hook =
        register_gradient_hook(model->first->weight.value(), [&](const Tensor& gradient) {
          if (Context::current().step == 2 && !std::exchange(thrown, true)) {
            throw std::runtime_error("of the hook");
          }
          return gradient;
        });
    for (auto& [x] : loader) {
      for (bool done = false; !done;) {
        try {
          const Tensor y = model(x);
          mean(y * y).backward();
          done = true;
        } catch (const std::runtime_error& error) {
          if (std::string(error.what()) != "of the hook") {
            throw;
          }
        }
      }
      optimizer.step();
    }
    return model->first->weight.value().template to_vector<float>();
  };
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "an earlier pass of step 2 threw in backward");
}

TEST(OwnSamples, of_a_backward_without_seeds_are_seeded_with_their_share) {
  const Tensor x = tensor<float>({1, 2}).set_requires_grad(true);
  const std::array roots{mean(x * x), mean(x)};
  backward(roots, {}, {});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1.5, 2.5}));
  EXPECT_THROW(backward(roots, std::vector<Tensor>(1), {}), InvalidArgument);
}

}  // namespace
}  // namespace tessera::dist
