// Backwards on several threads that share nodes of the tape.
#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 100;

using Floats = std::vector<float>;

Tensor leaf_of(double value, const Shape& shape = {3}) {
  return full(shape, value).set_requires_grad(true);
}

/// Runs `work(thread)` on kThreads threads that begin together.
void together(const std::function<void(int)>& work) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (--waiting; waiting > 0;) {
        std::this_thread::yield();
      }
      work(t);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

Tensor gradient_of(const Tensor& y, const Tensor& x, const BackwardOptions& options = {}) {
  return grad(std::span(&y, 1), std::span(&x, 1), {}, options)[0];
}

/// How often a thread got another gradient than `expected(thread)` in three elements.
template <class Gradient, class Expected>
int wrong_gradients(const Gradient& gradient, const Expected& expected) {
  std::atomic<int> wrong{0};
  together([&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const auto value = static_cast<float>(expected(t));
      wrong += gradient(t).template to_vector<float>() != Floats{value, value, value} ? 1 : 0;
    }
  });
  return wrong;
}

TEST(Threads, get_their_own_gradients_through_shared_leaves) {
  const Tensor w = leaf_of(2);  // its leaf node is made by whichever thread is first
  const auto gradient = [&](int t) {
    const Tensor x = leaf_of(t);
    return gradient_of(sum_to((x * w + x) * (w * double(t + 1)), {}), x);
  };
  EXPECT_EQ(wrong_gradients(gradient, [](int t) { return 3 * 2 * (t + 1); }), 0);
}

TEST(Threads, share_what_a_checkpoint_computes_again) {
  const Tensor x = leaf_of(3);
  const Tensor y = sum_to(checkpoint([](const Tensor& t) { return t * t * t; }, x), {});
  const auto gradient = [&](int) { return gradient_of(y, x, {.keep_graph = true}); };
  EXPECT_EQ(wrong_gradients(gradient, [](int) { return 27; }), 0);
}

Tensor squares_of_some(const Tensor& x) {
  const Tensor h = dropout(x, 0.5);
  return h * h;
}

TEST(Threads, draw_again_what_they_drew_in_a_checkpoint) {
  std::atomic<int> wrong{0};
  together([&](int) {
    const ContextScope scope(std::make_shared<Context>());
    for (int i = 0; i < kRounds; ++i) {
      const Tensor x = leaf_of(1, {16});
      const Tensor y = checkpoint(squares_of_some, x);
      const Floats expected = (y * 2).to_vector<float>();
      wrong += gradient_of(sum_to(y, {}), x).to_vector<float>() != expected ? 1 : 0;
    }
  });
  EXPECT_EQ(wrong, 0);
}

/// Threads that share a context count its draws together: none is made twice.
TEST(Threads, that_compute_again_leave_the_draws_of_others_alone) {
  std::atomic<int> twice{0};
  together([&](int t) {
    std::set<std::uint64_t> keys;
    for (int i = 0; i < 20 * kRounds; ++i) {
      if (t == 0) {
        const Tensor x = leaf_of(1, {16});
        const Tensor y = checkpoint(squares_of_some, x);
        static_cast<void>(gradient_of(sum_to(y, {}), x));
      } else {
        twice += keys.insert(next_random_key()).second ? 0 : 1;
      }
    }
  });
  EXPECT_EQ(twice, 0);
}

TEST(Threads, get_their_own_gradients_through_a_shared_graph_that_is_kept) {
  const Tensor x = leaf_of(3);
  Tensor shared = x;
  for (int i = 0; i < 20; ++i) {
    shared = shared * 1.0;
  }
  const Tensor square = shared * shared;
  const auto gradient = [&](int t) {
    return gradient_of(sum_to(square * double(t + 1), {}), x, {.keep_graph = true});
  };
  EXPECT_EQ(wrong_gradients(gradient, [](int t) { return 6 * (t + 1); }), 0);
}

TEST(Threads, of_a_shared_graph_that_is_not_kept_all_but_one_throw) {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf_of(3);
    const Tensor square = x * x;
    std::atomic<int> right{0};
    std::atomic<int> thrown{0};
    together([&](int) {
      try {
        right += gradient_of(sum_to(square, {}), x).to_vector<float>() == Floats{6, 6, 6} ? 1 : 0;
      } catch (const InvalidArgument& error) {
        thrown += std::string(error.what()).find("keep_graph") != std::string::npos ? 1 : 0;
      }
    });
    EXPECT_EQ(right, 1);
    EXPECT_EQ(thrown, kThreads - 1);
  }
}

TEST(Threads, add_their_gradients_to_shared_leaves) {
  const Tensor w = leaf_of(2);
  const Tensor table = leaf_of(1, {3, 1});
  const Tensor ids = zeros({2}, {.dtype = DType::i64});
  together([&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      (sum_to(w * double(t + 1), {}) + sum_to(embedding(table, ids), {})).backward();
    }
  });
  const float all = kRounds * (1 + 2 + 3 + 4);
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{all, all, all}));
  EXPECT_EQ(table.grad().to_vector<float>(), (Floats{2.F * kThreads * kRounds, 0, 0}));
}

TEST(Threads, that_fail_leave_what_others_added) {
  const Tensor first = leaf_of(1);
  const Tensor w = leaf_of(2);
  std::atomic<int> thrown{0};
  together([&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const Tensor early = first * 1.0;
      register_gradient_hook(early, [&](const Tensor&) -> Tensor {
        check<RuntimeError>(t % 2 == 0, "the hook fails");
        return {};
      });
      try {
        sum_to(early + w, {}).backward();  // reaches w before the hook
      } catch (const RuntimeError&) {
        ++thrown;
      }
    }
  });
  EXPECT_EQ(thrown, kThreads / 2 * kRounds);
  const float added = w.grad().to_vector<float>()[0];
  EXPECT_GE(added, kThreads / 2 * kRounds);  // of those that did not throw nothing is lost
  EXPECT_EQ(first.grad().to_vector<float>()[0], kThreads / 2 * kRounds);
}

TEST(Threads, keep_the_passes_of_their_own_steps_apart) {
  const Tensor w = leaf_of(1);
  together([&](int t) {
    const ContextScope context{std::make_shared<Context>()};
    for (int i = 0; i < kRounds; ++i) {
      for (std::int64_t pass = 0; pass < 2; ++pass) {
        Context::current().pass = {.grain = 2,
                                   .first = pass,
                                   .count = 1,
                                   .first_sample = pass,
                                   .samples = 1,
                                   .last = pass == 1};
        sum_to(w * double(2 * t + pass), {}).backward();
      }
      ++Context::current().step;
    }
  });
  const float mean = kRounds * (0.5F + 2.5F + 4.5F + 6.5F);
  EXPECT_EQ(w.grad().to_vector<float>(), (Floats{mean, mean, mean}));
}

TEST(Threads, find_inputs_behind_ops_that_another_thread_recorded) {
  const Tensor x = leaf_of(1);
  Tensor y = x;
  for (int i = 0; i < 100; ++i) {
    y = y * 1.0;  // so many that their numbers are larger than any of a new thread's
  }
  together([&](int t) {
    const Tensor mine = sum_to(y * double(t + 1), {});
    const Tensor gradient = gradient_of(mine, x, {.keep_graph = true});
    ASSERT_TRUE(gradient.defined());
    EXPECT_EQ(gradient.to_vector<float>()[0], t + 1);
  });
}

TEST(Threads, bring_a_view_that_all_read_up_to_date_once) {
  std::atomic<int> wrong{0};
  for (int round = 0; round < 20 * kRounds; ++round) {
    const Tensor p = leaf_of(2);
    const Tensor base = zeros({2, 3});
    const Tensor view = select(base, 0, 0);
    base.copy_(p);  // the view's place on the tape is an older one now
    together([&](int) {
      const Tensor y = sum_to(view * 3.0, {});
      const Tensor g = y.requires_grad() ? gradient_of(y, p, {.keep_graph = true}) : Tensor();
      wrong += g.defined() && g.to_vector<float>() == Floats{3, 3, 3} ? 0 : 1;
    });
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera
