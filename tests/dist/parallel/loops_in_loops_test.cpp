// Loops over loaders that lie in the passes of others, take turns with them, or end in another
// order than they began: the bits of one process with one pass, or an error.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <tessera/core/ops/sub.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

using Rows = data::DataLoader<data::TensorDataset<1>>;

Rows rows(std::int64_t samples, std::int64_t at_once) {
  return Rows(data::TensorDataset{randn({samples, kWidth})},
              {.batch_size = 16, .workers = 0, .grain = kGrain, .at_once = at_once});
}

Rows evaluated(std::int64_t at_once) {
  return Rows(data::TensorDataset{ones({16, kWidth})},
              {.batch_size = 16, .grain = kGrain, .at_once = at_once, .counts_steps = false});
}

/// A program of two loaders, `train` of a pair.
template <class Train>
auto with_a_pair(const Train& train) {
  return [train](std::int64_t at_once, const auto& wrap) {
    set_seed(7);
    Pair pair;
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    [[maybe_unused]] const auto of_b = wrap(*pair.b);
    train(pair, at_once);
    return values_of_pair(pair);
  };
}

TEST(LoopsInLoops, a_loader_that_moves_on_behind_a_backward_is_refused) {
  const auto train = with_a_pair([](Pair& p, std::int64_t at_once) {
    Rows first = rows(64, at_once);
    Rows second = rows(64, at_once);
    std::unique_ptr<Rows::Iterator> other;
    for (auto& [x] : first) {
      square(p.a(x)).backward();
      p.of_a.step();
      if (other == nullptr) {
        other = std::make_unique<Rows::Iterator>(second);
      } else {
        ++*other;
      }
      square(p.b(std::get<0>(**other))).backward();
      p.of_b.step();
    }
  });
  expect_same_bits_or_refusal(train, kGrain, {2, 3, 4}, "moved on behind a backward");
}

TEST(LoopsInLoops, loaders_that_move_on_together_may_be_as_long_as_they_like) {
  const auto train = with_a_pair([](Pair& p, std::int64_t at_once) {
    Rows first = rows(64, at_once);
    Rows second = rows(32, at_once);
    Rows::Iterator one(first);
    auto other = std::make_unique<Rows::Iterator>(second);
    while (one != Rows::end()) {
      const auto& [x] = *one;
      (square(p.a(x)) + square(p.a(std::get<0>(**other)) - 1.0)).backward();
      p.of_a.step();
      if (++one == Rows::end()) {
        break;
      }
      if (++*other == Rows::end()) {
        other = std::make_unique<Rows::Iterator>(second);  // before the old one is gone
      }
    }
  });
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
}

TEST(LoopsInLoops, evaluations_in_a_pass_may_run_backward) {
  const auto train = with_a_pair([](Pair& p, std::int64_t at_once) {
    Rows loader = rows(64, at_once);
    p.b->requires_grad_(false);
    const auto attack = [&] {
      Rows inner = evaluated(at_once);
      for (auto& [u] : inner) {
        const Tensor input = u.detach().set_requires_grad(true);
        square(p.b->second(p.b->first(input))).backward();
      }
    };
    for (auto& [x] : loader) {
      attack();
      square(p.a(x) - x).backward();
      if (p.of_a.step().ended) {
        attack();
      }
    }
  });
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
}

TEST(LoopsInLoops, evaluations_in_a_pass_may_not_add_to_parameters) {
  const auto train = with_a_pair([](Pair& p, std::int64_t at_once) {
    Rows loader = rows(64, at_once);
    for (auto& [x] : loader) {
      Rows inner = evaluated(at_once);
      for (auto& [u] : inner) {
        square(p.a->first(u)).backward();
      }
      square(p.a(x) - x).backward();
      p.of_a.step();
    }
  });
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "once in each of the step's passes");
}

TEST(LoopsInLoops, evaluations_behind_one_models_step_may_not_drop_anothers_passes) {
  const auto train = with_a_pair([](Pair& p, std::int64_t at_once) {
    Rows loader = rows(64, at_once);
    for (auto& [x] : loader) {
      square(p.a(x) - x).backward();
      if (p.of_a.step().ended) {
        Rows inner = evaluated(at_once);
        for (auto& [u] : inner) {
          square(p.b->first(u)).backward();
        }
        p.b->zero_grad();
      }
      square(p.b(x) - x).backward();
      p.of_b.step();
    }
  });
  expect_same_bits_or_refusal(train, kGrain, {2, 4}, "would drop what earlier passes");
}

/// Whoever catches the refusal, of an evaluation in another one, say, loses nothing.
TEST(LoopsInLoops, evaluations_that_were_refused_drop_nothing) {
  for (const bool inner : {false, true}) {
    const auto train = with_a_pair([=](Pair& p, std::int64_t at_once) {
      const auto evaluate = [&] {
        for (auto& [u] : evaluated(0)) {
          try {
            square(p.b->first(u)).backward();
          } catch (const Unsupported&) {
          }
        }
        p.b->zero_grad();
      };
      Rows loader = rows(64, at_once);
      for (auto& [x] : loader) {
        square(p.a(x) - x).backward();
        if (p.of_a.step().ended && inner) {
          for ([[maybe_unused]] auto& [u] : evaluated(0)) {
            evaluate();
          }
        } else if (Context::current().pass.last) {
          evaluate();
        }
        square(p.b(x) - x).backward();
        p.of_b.step();
      }
    });
    expect_same_bits_on_ranks(train, kGrain, {2, 4});
  }
}

/// Of several passes, behind the model's own step.
TEST(LoopsInLoops, evaluations_behind_a_step_may_run_several_backwards) {
  const auto train = with_a_pair([](Pair& p, std::int64_t at_once) {
    Rows loader = rows(64, at_once);
    for (auto& [x] : loader) {
      square(p.a(x) - x).backward();
      if (p.of_a.step().ended) {
        Rows inner = evaluated(1);
        for (auto& [u] : inner) {
          square(p.a->first(u)).backward();
        }
        p.a->zero_grad();
      }
    }
  });
  expect_same_bits_on_ranks(train, kGrain, {2, 4});
}

TEST(LoopsInLoops, a_loop_that_ends_behind_the_one_around_it_leaves_no_pass) {
  set_seed(7);
  Pair pair;
  Rows outer = rows(32, 1);
  Rows inner = evaluated(1);
  std::unique_ptr<Rows::Iterator> other;
  for (auto& [x] : outer) {
    square(pair.a(x)).backward();
    pair.of_a.step();
    if (other == nullptr) {
      other = std::make_unique<Rows::Iterator>(inner);
    }
  }
  EXPECT_EQ(Context::current().pass, Pass{});
  other.reset();
  EXPECT_EQ(Context::current().pass, Pass{});
  square(pair.a(ones({2, kWidth}))).backward();
  EXPECT_TRUE(pair.of_a.step().ended);
}

TEST(LoopsInLoops, one_loader_walks_once_at_a_time) {
  Rows loader = rows(32, 0);
  const std::string error = testing_support::error_of([&] {
    const Rows::Iterator first(loader);
    const Rows::Iterator second(loader);
  });
  EXPECT_NE(error.find("a loop over it is under way"), std::string::npos) << error;
}

}  // namespace
}  // namespace tessera::dist
