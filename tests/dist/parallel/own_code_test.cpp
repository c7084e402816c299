// The program's own code inside a step: hooks on gradients, packed tensors, noise and what a loop
// keeps from pass to pass. The bits of one process on any number of ranks, or an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/random_like.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/modes.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

using testing_support::error_of;

/// What a hook may do with statistics over the samples, which are a microbatch's.
const std::map<std::string, GradientHook> kOfMicrobatches = {
    {"scales by the norm", [](const Tensor& g) { return g / (sqrt(sum(g * g)) + 1e-3); }},
    {"centres", [](const Tensor& g) { return g - mean(g, {0}); }},
    {"scales by the largest", [](const Tensor& g) { return g / (max(g * g) + 1e-3); }},
    {"adds noise", [](const Tensor& g) { return g + 0.01 * randn_like(g); }},
    {"drops", [](const Tensor& g) { return dropout(g, 0.5); }}};

nn::Grads each(const GradientHook& hook, const nn::Grads& gradients) {
  nn::Grads results;
  for (const Tensor& g : gradients) {
    results.push_back(g.defined() ? hook(g) : Tensor());
  }
  return results;
}

TEST(OwnCode, hooks_of_modules_see_microbatches) {
  for (const auto& [name, hook] : kOfMicrobatches) {
    SCOPED_TRACE(name);
    const auto train = [&hook = hook](std::int64_t at_once, const auto& wrap) {
      set_seed(7);
      Pair pair;
      auto loader = loader_of(at_once);
      const ScopedHandle full = pair.a->second->register_full_backward_hook(
          [&](const nn::Module&, const nn::Grads& input, const nn::Grads&) {
            return std::optional(each(hook, input));
          });
      const ScopedHandle before = pair.a->second->register_full_backward_pre_hook(
          [&](const nn::Module&, const nn::Grads& output) {
            return std::optional(each(hook, output));
          });
      [[maybe_unused]] const auto of_a = wrap(*pair.a);
      for (auto& [x, classes] : loader) {
        square(pair.a(x)).backward();
        pair.of_a.step();
      }
      return values_of_pair(pair);
    };
    expect_same_bits_on_ranks(train, kGrain, {2, 4});
  }
}

TEST(OwnCode, hooks_of_activations_see_microbatches) {
  for (const auto& [name, hook] : kOfMicrobatches) {
    SCOPED_TRACE(name);
    const Body body = [&hook = hook](Pair& p, const Tensor& x, const Tensor&) {
      const Tensor hidden = tanh(p.a->first(x));
      register_gradient_hook(hidden, hook);
      square(p.a->second(hidden)).backward();
      p.of_a.step();
    };
    expect_same_bits_on_ranks(loop(body), kGrain, {2, 4});
  }
}

TEST(OwnCode, hooks_that_return_what_is_no_gradient_are_told_its_shape) {
  const Body body = [](Pair& p, const Tensor& x, const Tensor&) {
    const Tensor hidden = tanh(p.a->first(x));
    register_gradient_hook(hidden, [](const Tensor& g) { return sum(g); });
    square(p.a->second(hidden)).backward();
    p.of_a.step();
  };
  for (const std::int64_t at_once : {0, 1, 2}) {
    try {
      loop(body)(at_once, [](nn::Module&) { return 0; });
      ADD_FAILURE() << "no error";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("gradient hook: wrong shape; got ("));
    }
  }
}

/// Gives back what was packed, less its mean over the samples.
struct Centred final : PackedTensor {
  explicit Centred(Tensor x) : packed(std::move(x)) {}
  Tensor unpack() override {
    const NoGradGuard no_grad;
    return packed - 0.1 * sum(packed * packed);
  }
  Tensor packed;
};
struct Centring final : SavedTensorHooks {
  std::unique_ptr<PackedTensor> pack(const Tensor& x) override {
    return x.shape().size() == 2 && x.is_leaf() && !x.requires_grad()
               ? std::make_unique<Centred>(x.detach())
               : nullptr;
  }
};

TEST(OwnCode, what_unpacks_a_tensor_sees_microbatches) {
  const Body body = [](Pair& p, const Tensor& x, const Tensor&) {
    Centring hooks;
    Tensor y;
    {
      const SavedTensorHooksScope scope(hooks);
      y = p.a->second(tanh(p.a->first(x)));
    }
    square(y).backward();
    p.of_a.step();
  };
  expect_same_bits_or_refusal(loop(body), kGrain, {2, 4}, "microbatch", 1);
}

/// Noise that belongs to the step: on gradients, on weights, on what all microbatches share.
const std::map<std::string, Body> kNoiseOfSteps = {
    {"on gradients",
     [](Pair& p, const Tensor& x, const Tensor&) {
       square(p.a(dropout(x, 0.2))).backward();
       if (Context::current().pass.last) {
         const StepDraws draws;
         for (const nn::Parameter& parameter : p.a->parameters()) {
           const Tensor gradient = parameter.value().grad();
           parameter.value().set_grad(gradient + 0.01 * randn_like(gradient));
         }
       }
       p.of_a.step();
     }},
    {"on weights behind the step",
     [](Pair& p, const Tensor& x, const Tensor&) {
       square(p.a(x)).backward();
       if (p.of_a.step().ended) {
         const NoGradGuard no_grad;
         const StepDraws draws;
         for (const nn::Parameter& parameter : p.a->parameters()) {
           const Tensor value = parameter.value();
           value.copy_(value + 0.01 * randn_like(value) + 0.01 * randn(value.shape()));
         }
       }
     }},
    {"in the forward, equal for all microbatches",
     [](Pair& p, const Tensor& x, const Tensor&) {
       Tensor noise, kept;
       {
         const StepDraws draws;
         noise = randn({kWidth});
         kept = dropout(x, 0.3) + randn_like(x) + 0.1 * multinomial(softmax(x, 1), kWidth);
       }
       square(p.a(kept + noise + randn_like(x))).backward();
       p.of_a.step();
     }},
    {"rows chosen behind the step", [](Pair& p, const Tensor& x, const Tensor&) {
       square(p.a(x)).backward();
       if (p.of_a.step().ended) {
         const NoGradGuard no_grad;
         const StepDraws draws;
         const Tensor bias = p.a->first->bias.value();
         bias.copy_(bias + 0.01 * multinomial(softmax(bias, 0), 6));
       }
     }}};

TEST(OwnCode, noise_of_a_step_has_the_bits_of_one_process) {
  for (const auto& [name, body] : kNoiseOfSteps) {
    SCOPED_TRACE(name);
    expect_same_bits_on_ranks(loop(body), kGrain, {2, 3, 4});
  }
}

TEST(OwnCode, draws_of_a_step_go_on_and_are_no_others) {
  set_seed(3);
  const Tensor like = zeros({64});
  std::vector<std::vector<float>> drawn;
  for (int i = 0; i < 2; ++i) {
    drawn.push_back(randn_like(like).to_vector<float>());
    const StepDraws draws;
    drawn.push_back(randn_like(like).to_vector<float>());
    drawn.push_back(randn({64}).to_vector<float>());
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(drawn[i], drawn[j]) << i << " and " << j;
    }
  }
}

/// Draws what it gives.
struct Noise : data::Dataset<Tensor> {
  [[nodiscard]] std::int64_t size() const override { return 8; }
  [[nodiscard]] Tensor get(std::int64_t /*index*/) const override { return randn({4}); }
};

TEST(OwnCode, data_sets_draw_by_sample_whatever_the_loop_draws) {
  const auto batches = [](bool of_step, int workers) {
    set_seed(3);
    std::vector<std::vector<float>> values;
    data::DataLoader loader(Noise{}, {.batch_size = 4, .workers = workers});
    const StepDraws draws(of_step);
    for (auto& x : loader) {
      values.push_back(x.to_vector<float>());
    }
    return values;
  };
  const auto expected = batches(false, 0);
  EXPECT_NE(expected[0], expected[1]);
  for (const int workers : {0, 2}) {
    EXPECT_EQ(batches(true, workers), expected) << workers;
  }
}

TEST(OwnCode, what_is_computed_once_more_draws_what_it_drew) {
  const auto gradient = [](bool kept, bool forward, bool backward) {
    set_seed(3);
    const Tensor x = randn({8, 16});
    const Tensor leaf = x.detach().set_requires_grad(true);
    const auto function = [](const Tensor& t) { return dropout(t * t, 0.5) * t; };
    Tensor y;
    {
      const StepDraws draws(forward);
      y = kept ? function(leaf) : checkpoint(function, leaf);
    }
    const StepDraws draws(backward);
    sum(y).backward();
    return leaf.grad().to_vector<float>();
  };
  for (const bool forward : {false, true}) {
    for (const bool backward : {false, true}) {
      EXPECT_EQ(gradient(false, forward, backward), gradient(true, forward, backward));
    }
    EXPECT_NE(gradient(false, forward, false), gradient(false, !forward, false));
  }
}

TEST(OwnCode, refuses_draws_in_hooks_on_gradients_of_parameters) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto loader = loader_of(at_once);
    const ScopedHandle handle = register_gradient_hook(
        pair.a->first->weight.value(), [](const Tensor& g) { return g + 0.01 * randn_like(g); });
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    for (auto& [x, classes] : loader) {
      square(pair.a(x)).backward();
      pair.of_a.step();
    }
  };
  const auto on_two = [&](std::int64_t at_once, const auto& wrap) {
    train(at_once, wrap);
    return 0;
  };
  for (const std::int64_t at_once : {0, 1, 2}) {
    EXPECT_THAT(error_of<Unsupported>([&] { train(at_once, [](nn::Module&) { return 0; }); }),
                testing::HasSubstr("drawn in a hook on a parameter's gradient"));
    EXPECT_THAT(error_of<Unsupported>([&] { train_on_ranks(on_two, kGrain, 2, at_once); }),
                testing::HasSubstr("drawn in a hook on a parameter's gradient"));
  }
}

TEST(OwnCode, gradients_that_ranks_set_apart_are_noticed) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto loader = loader_of(at_once);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    for (auto& [x, classes] : loader) {
      square(pair.a(x)).backward();
      if (Context::current().pass.last) {
        const Tensor weight = pair.a->first->weight.value();
        weight.set_grad(weight.grad() + double(Context::current().rank));
      }
      pair.of_a.step();
    }
    return 0;
  };
  try {
    train_on_ranks(train, kGrain, 2, 0);
    ADD_FAILURE() << "no error";
  } catch (const Disagreement& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 0 has first.weight = "));
    EXPECT_THAT(error.what(), testing::HasSubstr("a gradient by set_grad, value hash "));
  }
}

TEST(OwnCode, state_that_is_kept_for_each_pass_has_the_bits_of_one_process) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    std::map<std::int64_t, Tensor> states;  // by the pass's first microbatch
    return loop([&](Pair& p, const Tensor& x, const Tensor&) {
      Tensor& state = states[Context::current().pass.first];
      const Tensor y = p.a(state.defined() ? x + 0.5 * state : x);
      state = y.detach();
      square(y).backward();
      p.of_a.step();
    })(at_once, wrap);
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 4});
}

}  // namespace
}  // namespace tessera::dist
