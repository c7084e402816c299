// Loops in which it could show how many passes a step has: the bits of one pass on any number of
// ranks, or an error that says what to write.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/layers/embedding.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"

namespace tessera::dist {
namespace {

using Bodies = std::map<std::string, Body>;

const Bodies kAlike = {
    {"a step of one model before the other's forward",
     [](Pair& p, const Tensor& x, const Tensor&) {
       square(p.a(x)).backward();
       p.of_a.step();
       square(p.b(x)).backward();
       p.of_b.step();
     }},
    {"buffers of a model that no optimizer steps",
     [](Pair& p, const Tensor& x, const Tensor&) {
       {
         const NoGradGuard no_grad;
         static_cast<void>(p.b(x));
       }
       square(p.a(x)).backward();
       p.of_a.step();
     }},
    {"many losses with counts",
     [](Pair& p, const Tensor& x, const Tensor& classes) {
       for (int i = 1; i < 8; ++i) {
         cross_entropy(p.a(x * double(i)), classes).backward();
       }
       p.of_a.step();
     }},
    {"a penalty as a root beside a loss with counts",
     [](Pair& p, const Tensor& x, const Tensor& classes) {
       const Tensor weight = p.a->first->weight.value();
       const std::array roots{cross_entropy(p.a(x), classes), 0.01 * sum(weight * weight)};
       backward(roots, std::vector<Tensor>(2), {});
       p.of_a.step();
     }},
    {"gradients of two steps, dropped behind the optimizer's",
     [](Pair& p, const Tensor& x, const Tensor&) {
       square(p.a(x)).backward();
       if (Context::current().step % 2 == 0) {
         p.of_a.step();
         p.of_a.zero_grad();
         p.a->zero_grad();
       }
     }},
    {"gradients of several steps, dropped in one, frozen in one",
     [](Pair& p, const Tensor& x, const Tensor&) {
       p.b->first->requires_grad_(Context::current().step != 2);
       square(p.a(x)).backward();
       square(p.b(x)).backward();
       if (Context::current().step == 2) {
         p.of_a.zero_grad();
       }
       if (Context::current().step == 4) {
         p.of_a.step();
         p.of_b.step();
       }
     }},
    {"both frozen in turn",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const bool even = Context::current().step % 2 == 0;
       p.a->first->requires_grad_(even);
       p.b->second->requires_grad_(!even);
       square(p.b(x)).backward();
       square(p.a(x)).backward();
       p.of_a.step();
       p.of_b.step();
     }},
    {"one frozen in turn, of two in one loss",
     [](Pair& p, const Tensor& x, const Tensor&) {
       p.a->first->requires_grad_(Context::current().step % 3 != 0);
       square(p.b(x)).backward();
       square(p.a(p.b(x))).backward();
       p.of_a.step();
       p.of_b.step();
     }},
};

TEST(Layouts, have_the_bits_of_one_process) {
  for (const auto& [name, body] : kAlike) {
    SCOPED_TRACE(name);
    expect_same_bits_on_ranks(loop(body), kGrain, {2, 3, 4});
  }
}

TEST(Layouts, run_hooks_on_the_gradient_of_the_whole_step) {
  const std::map<std::string, GradientHook> hooks = {
      {"clamps", [](const Tensor& g) { return clamp(g, -1e-3, 1e-3); }},
      {"multiplies", [](const Tensor& g) { return g * 3.0; }}};
  for (const auto& [name, hook] : hooks) {
    SCOPED_TRACE(name);
    const auto train = [&hook = hook](std::int64_t at_once, const auto& wrap) {
      set_seed(7);
      Pair pair;
      auto loader = loader_of(at_once);
      const ScopedHandle before = register_gradient_hook(pair.a->first->weight.value(), hook);
      [[maybe_unused]] const auto of_a = wrap(*pair.a);
      const ScopedHandle after = register_gradient_hook(pair.a->second->bias.value(), hook);
      for (auto& [x, classes] : loader) {
        square(pair.a(x)).backward();
        cross_entropy(pair.a(x), classes).backward();
        if (Context::current().step == 1) {
          continue;
        }
        pair.of_a.zero_grad();
        square(pair.a(x)).backward();
        pair.of_a.step();
      }
      return values_of_pair(pair);
    };
    expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  }
}

/// With what the error says in steps of several passes.
const std::map<std::string, std::pair<std::string, Body>> kRefused = {
    {"a buffer after its step",
     {"\"running\" is used after optimizer.step()",
      [](Pair& p, const Tensor& x, const Tensor&) {
        square(p.a(x)).backward();
        p.of_a.step();
        square(p.b(x) + p.a->running.value()).backward();
        p.of_b.step();
      }}},
    {"a forward on both sides of another model's step",
     {"\"running\" is used after optimizer.step()",
      [](Pair& p, const Tensor& x, const Tensor&) {
        const Tensor y = p.b(x);
        square(p.a(x)).backward();
        p.of_a.step();
        square(y + p.b(x)).backward();
        p.of_b.step();
      }}},
    {"a learning rate after its step",
     {"changed between two passes of a training step",
      [](Pair& p, const Tensor& x, const Tensor&) {
        square(p.a(x)).backward();
        p.of_a.step();
        p.of_a.set_lr(0.01 / static_cast<double>(p.of_a.steps() + Context::current().step));
      }}},
    {"clipping after its step",
     {"changed between two passes of a training step",
      [](Pair& p, const Tensor& x, const Tensor&) {
        square(p.a(x)).backward();
        p.of_a.step();
        p.of_a.clip_grad_norm(0.1 / static_cast<double>(Context::current().step));
      }}},
};

TEST(Layouts, refuse_what_would_show_their_passes) {
  for (const auto& [name, refused] : kRefused) {
    SCOPED_TRACE(name);
    expect_same_bits_or_refusal(loop(refused.second), kGrain, {2, 4}, refused.first);
  }
}

TEST(Layouts, refuse_a_weight_that_is_used_twice_once_on_what_exists_once_a_microbatch) {
  const auto train = loop([](Pair& p, const Tensor& x, const Tensor&) {
    const Tensor y = p.a->second(p.a->first(x));
    const Tensor z = p.a->second(p.a->first(y - mean(y, {0})));
    square(z).backward();
    p.of_a.step();
  });
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "used more than once", 1);
}

TEST(Layouts, refuse_rows_of_ids_that_exist_once_a_microbatch) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    const auto table = nn::make<nn::Embedding>(2, kWidth);
    auto loader = loader_of(at_once);
    [[maybe_unused]] const auto reducer = wrap(*table);
    optim::AdamW optimizer(table->parameters());
    for (auto& [x, classes] : loader) {
      square(table(cast(mean(x, {0}) > 0, DType::i64))).backward();
      optimizer.step();
    }
    return table->weight.value().template to_vector<float>();
  };
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "takes ids that exist once a microbatch", 1);
}

TEST(Layouts, refuse_to_go_on_in_the_middle_of_a_step) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto loader = loader_of(at_once);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    bool thrown = false;
    for (int round = 0; round < 2; ++round) {
      try {
        for (auto& [x, classes] : loader) {
          const Tensor loss = square(pair.a(x));
          if (Context::current().step == 2 && !std::exchange(thrown, true)) {
            throw std::runtime_error("of the caller");
          }
          loss.backward();
          pair.of_a.step();
        }
      } catch (const std::runtime_error& error) {
        if (std::string(error.what()) != "of the caller") {
          throw;
        }
      }
    }
    return values_of_pair(pair);
  };
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "was left in pass 0 of");
}

TEST(Layouts, begin_a_batch_anew_where_its_step_was_left) {
  const auto train = [](bool leave) {
    return [leave](std::int64_t at_once, const auto& wrap) {
      set_seed(7);
      Pair pair;
      auto loader = loader_of(at_once);
      [[maybe_unused]] const auto of_a = wrap(*pair.a);
      bool left = !leave;
      for (int epoch = 0; epoch < 2;) {
        const data::LoaderState state = loader.state();
        try {
          for (auto& [x, classes] : loader) {
            if (Context::current().pass.last && !std::exchange(left, true)) {
              break;
            }
            square(pair.a(x)).backward();
            pair.of_a.step();
          }
          ++epoch;
        } catch (const RuntimeError& error) {
          EXPECT_NE(std::string(error.what()).find("of a training step, which stays undone"),
                    std::string::npos)
              << error.what();
          loader.load_state(state);
        }
      }
      return values_of_pair(pair);
    };
  };
  const auto expected = train(false)(0, [](nn::Module&) { return 0; });
  for (const int ranks : {1, 2, 4}) {
    EXPECT_EQ(train_on_ranks(train(true), kGrain, ranks, 1), expected) << ranks << " ranks";
  }
}

TEST(Layouts, refuse_loaders_that_take_turns) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto first = loader_of(at_once), second = loader_of(at_once);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    [[maybe_unused]] const auto of_b = wrap(*pair.b);
    auto i = first.begin();
    auto j = second.begin();
    while (i != first.end() && j != second.end()) {
      square(pair.a(std::get<0>(*i))).backward();
      pair.of_a.step();
      ++i;
      if (i != first.end()) {
        square(pair.b(std::get<0>(*j))).backward();
        pair.of_b.step();
        ++j;
      }
    }
    return values_of_pair(pair);
  };
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "the pass under way is another loader's");
}

TEST(Layouts, scale_the_gradient_of_an_input_by_what_counts_on_all_ranks) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    auto loader = loader_of(at_once);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    for (auto& [x, classes] : loader) {
      Tensor samples = x.detach();
      samples.set_requires_grad(true);
      cross_entropy(pair.a(samples), classes).backward();
      pair.of_a.zero_grad();
      const Tensor worse = x + 100.0 * samples.grad();
      cross_entropy(pair.a(worse), classes).backward();
      pair.of_a.step();
    }
    return values_of_pair(pair);
  };
  const auto expected = train(0, [](nn::Module&) { return 0; });
  for (const int ranks : {2, 4}) {
    EXPECT_EQ(train_on_ranks(train, kGrain, ranks, 0), expected) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace tessera::dist
