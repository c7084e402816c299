// One built module called from several threads at once: what the thread sanitizer looks at.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/multihead_attention.h>

#include "models.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::values;

constexpr int kThreads = 4;
constexpr int kCalls = 8;

/// Layers with state, hooks and random numbers.
struct Model : Module {
  Child<Conv2d> conv{this, "conv", 3, 4, 3};
  Child<BatchNorm2d> norm{this, "norm", 4};
  Child<Dropout> dropout{this, "dropout", 0.5};
  Child<Scale> scale{this, "scale", 4};
  Tensor forward(const Tensor& x) const { return scale(dropout(relu(norm(conv(x))))); }
};

/// Layers over sequences of tokens, and a Sequential.
struct Reader : Module {
  Child<Embedding> embedding{this, "embedding", 11, 8};
  Child<LSTM> lstm{this, "lstm", 8, 8};
  Child<MultiheadAttention> attention{this, "attention", 8, 2};
  Child<Sequential> head{this, "head"};
  Reader() {
    head->add<Linear>(8, 4);
    head->add<ReLU>();
    head->add<Linear>(4, 2);
  }
  Tensor forward(const Tensor& ids) const {
    const auto [x, last] = lstm(embedding(ids));
    return head(attention(x, x, x).first);
  }
};

/// `work(thread)` on all threads at once.
template <class F>
void at_once(const F& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&work, t] { work(t); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

Tensor input(int thread) {
  return full({2, 3, 6, 6}, 0.1 * (thread + 1));
}

/// Calls `model` from all threads at once, and expects what calls one after another give.
template <class M, class Input>
void expect_own_results(const Ptr<M>& model, const Input& input_of) {
  std::vector<std::vector<float>> expected;
  for (int t = 0; t < kThreads; ++t) {
    expected.push_back(values(model(input_of(t))));
  }
  std::atomic<int> wrong = 0;
  at_once([&](int t) {
    for (int i = 0; i < kCalls; ++i) {
      wrong += values(model(input_of(t))) != expected[static_cast<std::size_t>(t)];
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, one_module_gives_each_thread_its_own_result) {
  set_seed(1);
  const auto model = make<Model>();
  model->eval();
  std::atomic<int> hooked = 0;
  model->norm->register_forward_hook([&](const Module&, const Args&, const Value&) { ++hooked; });
  expect_own_results(model, input);
  EXPECT_EQ(hooked, kThreads * (kCalls + 1));
}

TEST(Threads, layers_of_sequences_give_each_thread_its_own_result) {
  set_seed(1);
  const auto model = make<Reader>();
  expect_own_results(model, [](int t) { return full({5, 2}, t, {.dtype = DType::i64}); });
}

/// Threads move the running statistics by turns; outputs depend on the batch alone.
TEST(Threads, batch_norm_trains_on_several) {
  const auto model = make<BatchNorm2d>(3);
  expect_own_results(model, [](int t) {
    return reshape(cast(arange(24), DType::f32) * (t + 1.0), {2, 3, 2, 2});
  });
  for (const float x : values(model->running_var)) {
    EXPECT_GT(x, 1);
  }
}

TEST(Threads, gradients_with_respect_to_one_module) {
  set_seed(1);
  const auto model = make<Scale>(4);
  std::atomic<int> wrong = 0;
  at_once([&](int t) {
    for (int i = 0; i < kCalls; ++i) {
      const Tensor x = full({2, 4}, t);
      const auto result = value_and_grad([&](const Ptr<Scale>& m) { return sum(m(x)); }, model);
      wrong +=
          values(result.grads.at("factor")) != std::vector<float>(4, 2.0F * static_cast<float>(t));
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(model->factor.grad().defined());
}

TEST(Threads, backward_hooks_see_the_gradients_of_each_threads_own_backward) {
  const auto model = make<Scale>(4);
  model->register_full_backward_hook([](const Module&, const Grads& grad_input, const Grads&) {
    return Grads{grad_input[0] * 10.0};
  });
  const Tensor x = ones({4}).set_requires_grad(true);
  const Tensor y = model(x * 1.0);
  const std::vector<float> expected = values(model->factor * 10.0);
  std::atomic<int> wrong = 0;
  at_once([&](int t) {
    for (int i = 0; i < 50 * kCalls; ++i) {
      const Tensor seed = full({4}, t + 1);
      const Tensor g =
          grad(std::span(&y, 1), std::span(&x, 1), std::span(&seed, 1), {.keep_graph = true})[0];
      wrong += values(g * (1.0 / (t + 1))) != expected;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, dropout_of_a_key_is_that_of_the_key) {
  set_seed(1);
  const auto model = make<Dropout>(0.5);
  const Tensor x = ones({64});
  std::vector<std::vector<float>> expected;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    expected.push_back(values(model(x, CallOptions{.key = RandomKey{t, 0}})));
  }
  std::atomic<int> wrong = 0;
  at_once([&](int t) {
    const auto thread = static_cast<std::size_t>(t);
    for (int i = 0; i < kCalls; ++i) {
      model(x);  // in the order in which threads come
      wrong += values(model(x, CallOptions{.key = RandomKey{thread, 0}})) != expected[thread];
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera::nn::contract
