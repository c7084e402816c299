// Rows F4 to F11, O-1, O-2, O-6, O-7, I-3, X12, X13, X20, X40 and X41: modules as functions.
#include <gtest/gtest.h>

#include <thread>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/buffer_step.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/functional/options_scope.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/dropout.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

/// Scales by a parameter, keeps a running mean of its input, and counts.
struct Running : Module {
  Child<Scale> scale{this, "scale"};
  Buffer mean_seen{this, "mean_seen", zeros({3})};
  Buffer count{this, "count", zeros({}, {.dtype = DType::i64})};
  Tensor forward(const Tensor& x) const {
    if (training()) {
      mean_seen.assign(mean_seen * 0.5 + x * 0.5);
      count.assign(count + 1);
    }
    return scale(x) + mean_seen;
  }
};

struct Dropping : Module {
  Child<Dropout> dropout{this, "dropout", 0.5};
  Tensor forward(const Tensor& x) const { return dropout(x); }
};

TEST(F5, call_is_pure) {
  const auto model = make<Running>();
  int hooks = 0;
  model->scale->register_forward_hook([&](const Module&, const Args&, const Value&) { ++hooks; });
  const Tensor before = model->mean_seen;
  const std::uint32_t version = model->scale->factor.value().version();
  const Tensor first = call(model, ones({3}));
  const Tensor second = call(model, ones({3}));
  EXPECT_EQ(values(first), (std::vector<float>{2.5, 2.5, 2.5}));
  EXPECT_EQ(values(second), values(first));
  EXPECT_TRUE(before.is(model->mean_seen.slot()->value));
  EXPECT_EQ(model->scale->factor.value().version(), version);
  EXPECT_EQ(hooks, 0);
  EXPECT_EQ(values(model->call(ones({3}))), values(first));
}

TEST(O_2, update_gives_a_new_module_and_shares_the_rest) {
  const auto model = make<Running>();
  const auto [y, next] = call_and_update(model, ones({3}));
  EXPECT_EQ(values(model->mean_seen), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(values(next->mean_seen), (std::vector<float>{0.5, 0.5, 0.5}));
  EXPECT_EQ(next->count.value().item<std::int64_t>(), 1);
  EXPECT_EQ(next->count.value().dtype(), DType::i64);
  EXPECT_TRUE(next->scale->factor.value().shares_storage(model->scale->factor.value()));
  EXPECT_NE(next->scale->factor.slot(), model->scale->factor.slot());
  EXPECT_EQ(values(update(next, ones({3}))->mean_seen), (std::vector<float>{0.75, 0.75, 0.75}));
  EXPECT_EQ(model->update(ones({3}))->get_buffer("count")->item<std::int64_t>(), 1);
}

TEST(X12, a_pure_call_has_the_bits_of_the_ordinary_one) {
  const auto model = make<Running>();
  const auto twin = clone(model);
  const Tensor x = tensor<float>({0.1F, -3, 7});
  const auto [y, next] = call_and_update(model, x);
  EXPECT_EQ(values(twin(x)), values(y));
  EXPECT_EQ(values(twin->mean_seen), values(next->mean_seen));
}

TEST(O_2, what_was_assigned_keeps_its_history) {
  const auto model = make<Running>();
  const Tensor x = ones({3}).set_requires_grad(true);
  const auto next = update(model, x);
  EXPECT_TRUE(next->mean_seen.value().requires_grad());
  sum(next->mean_seen.value()).backward();
  EXPECT_EQ(values(x.grad()), (std::vector<float>{0.5, 0.5, 0.5}));
  model(x);
  EXPECT_FALSE(model->mean_seen.value().requires_grad());
}

TEST(X20, a_pure_call_may_be_told_its_mode) {
  const auto model = make<Running>();
  const CallOptions eval{.training = false};
  EXPECT_EQ(values(call(model, ones({3}), eval)), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(values(model(ones({3}), eval)), (std::vector<float>{2, 2, 2}));
  EXPECT_TRUE(model->training());
}

TEST(O_1, random_numbers_of_a_pure_call_need_a_key) {
  const auto model = make<Dropping>();
  const Tensor x = ones({64});
  EXPECT_EQ(error_of<ValueError>([&] { static_cast<void>(call(model, x)); }),
            "random numbers: \"dropout\" draws some in a pure call; give the call a key");
  const CallOptions key{.key = RandomKey{1, 2}};
  const CallOptions other{.key = RandomKey{1, 3}};
  EXPECT_EQ(values(call(model, x, key)), values(call(model, x, key)));
  EXPECT_NE(values(call(model, x, key)), values(call(model, x, other)));
  EXPECT_NO_THROW(static_cast<void>(model(x)));
}

TEST(O_6, assigning_to_a_module_outside_is_refused) {
  const auto outside = make<Running>();
  struct Leaking : Module {
    std::shared_ptr<Running> other;
    Tensor forward(const Tensor& x) const {
      other->count.assign(zeros({}));
      return x;
    }
  };
  const auto model = make<Leaking>();
  model->other = outside;
  EXPECT_EQ(error_of<ValueError>([&] { static_cast<void>(call(model, ones({3}))); }),
            "assign: \"count\" is assigned in a pure call of Leaking, which does not hold it");
  EXPECT_NO_THROW(model(ones({3})));
}

TEST(F9, tuples_fan_out_and_vectors_compose) {
  const auto scale = make<Scale>();
  const auto running = make<Running>();
  const auto [both, next] = call_and_update(std::tuple{scale, running}, ones({3}));
  EXPECT_EQ(values(std::get<0>(both)), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(std::get<1>(next)->count.value().item<std::int64_t>(), 1);
  EXPECT_EQ(values(call(std::vector{running, running}, ones({3}))),
            (std::vector<float>{6.25, 6.25, 6.25}));
}

TEST(F4, v_replaces_the_parameters_for_one_call) {
  const auto model = make<Outer>();
  const Variables v = model->v() * 2;
  EXPECT_EQ(values(model(ones({3}), CallOptions{.v = &v})), (std::vector<float>{20, 20, 20}));
  EXPECT_EQ(values(model(ones({3}))), (std::vector<float>{6, 6, 6}));
  Variables part;
  part.set("last/factor", zeros({3}));
  const CallOptions partial{.v = &part, .with_partial_v = true};
  EXPECT_EQ(values(model(ones({3}), partial)), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(error_of<StructureError>([&] { model(ones({3}), CallOptions{.v = &part}); }),
            "Outer: called with other variables than it has\nmissing: \"inner.scale.factor\"");
}

TEST(F4, v_keeps_its_history) {
  const auto model = make<Scale>();
  const Tensor w = full({3}, 3).set_requires_grad(true);
  const Variables v{{"factor", w * 2.0}};
  sum(model(ones({3}), CallOptions{.v = &v})).backward();
  EXPECT_EQ(values(w.grad()), (std::vector<float>{2, 2, 2}));
  EXPECT_FALSE(model->factor.grad().defined());
}

TEST(I_3, v_is_gone_after_an_exception) {
  struct Throwing : Scale {
    Tensor forward(const Tensor& x) const {
      check<RuntimeError>(x.numel() == 3, "wrong size");
      return x * factor;
    }
  };
  const auto model = make<Throwing>();
  const Variables v{{"factor", zeros({3})}};
  EXPECT_THROW(model(ones({4}), CallOptions{.v = &v}), RuntimeError);
  EXPECT_EQ(values(model(ones({3}))), (std::vector<float>{2, 2, 2}));
}

TEST(F4, buffers_are_written_unless_they_are_given_too) {
  const auto model = make<Running>();
  const Variables v = model->v();
  model(ones({3}), CallOptions{.v = &v});
  EXPECT_EQ(model->count.value().item<std::int64_t>(), 1);
  const Variables buffers{{"mean_seen", full({3}, 8)}, {"count", zeros({}, {.dtype = DType::i64})}};
  EXPECT_EQ(values(model(ones({3}), CallOptions{.buffers = &buffers})),
            (std::vector<float>{6.5, 6.5, 6.5}));
  EXPECT_EQ(model->count.value().item<std::int64_t>(), 1);
}

TEST(F11, gradients_have_the_modules_structure) {
  struct Model : Running {
    Parameter unused{this, "unused", {2}, init::ones()};
    Parameter frozen{this, "frozen", {2}, init::ones()};
  };
  const auto model = make<Model>();
  model->frozen.requires_grad_(false);
  const auto [value, grads, next] =
      value_and_grad([](const auto& m) { return sum(m(ones({3}))); }, model);
  EXPECT_EQ(value.item(), 7.5);
  EXPECT_FALSE(value.requires_grad());
  EXPECT_TRUE(model->variables().same_structure(grads));
  EXPECT_EQ(values(grads.at("scale.factor")), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(values(grads.at("unused")), (std::vector<float>{0, 0}));
  EXPECT_FALSE(grads.at("frozen").defined());
  EXPECT_FALSE(grads.at("count").defined());
  EXPECT_EQ(next->count.value().item<std::int64_t>(), 1);
  EXPECT_EQ(model->count.value().item<std::int64_t>(), 0);
  EXPECT_FALSE(model->scale->factor.grad().defined());
}

TEST(F11, tied_uses_are_summed) {
  const auto model = make<Outer>();
  model->last->factor.tie(model->inner->scale->factor);
  const auto [value, grads, next] =
      value_and_grad([](const auto& m) { return sum(m(ones({3}))); }, model);
  EXPECT_EQ(values(grads.at("inner.scale.factor")), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(next->last->factor.slot(), next->inner->scale->factor.slot());
}

TEST(F11, hooks_run) {
  const auto model = make<Scale>();
  int calls = 0;
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  static_cast<void>(value_and_grad([](const auto& m) { return sum(m(ones({3}))); }, model));
  EXPECT_EQ(calls, 1);
}

/// Gradients of a loss through `model` without and with activation checkpointing.
template <class Run>
void expect_same_with_checkpoint(const Run& run) {
  const Variables plain = run([](const auto& f, const Tensor& x) { return f(x); });
  const Variables again = run([](const auto& f, const Tensor& x) { return checkpoint(f, x); });
  for (const auto& [name, gradient] : plain.leaves()) {
    if (gradient.defined()) {
      EXPECT_EQ(values(again.at(name)), values(gradient)) << name;
    }
  }
}

TEST(Checkpoint, under_value_and_grad_gives_the_same_and_advances_once) {
  expect_same_with_checkpoint([](const auto& through) {
    const auto model = make<Running>();
    const auto [value, grads, next] = value_and_grad(
        [&](const auto& m) {
          const auto f = [m](const Tensor& x) { return m(x) * m->mean_seen.value(); };
          return sum(through(f, ones({3})));
        },
        model);
    EXPECT_EQ(next->count.value().template item<std::int64_t>(), 1);
    return grads;
  });
}

TEST(Checkpoint, under_v_gives_the_same_after_the_call) {
  expect_same_with_checkpoint([](const auto& through) {
    const auto model = make<Running>();
    const Tensor w = full({3}, 5).set_requires_grad(true);
    const Variables v{{"scale", Variables{{"factor", w}}}};
    Tensor y;
    {
      const auto f = [model](const Tensor& x) {
        const Tensor a = model(x);
        return a * a * model->mean_seen.value();
      };
      OptionsScope scope(*model, CallOptions{.v = &v});
      y = through(f, ones({3}));
    }
    model->eval();
    sum(y).backward();
    EXPECT_EQ(model->count.value().template item<std::int64_t>(), 1);
    return Variables{{"w", w.grad()}};
  });
}

TEST(X41, a_pure_training_loop_lowers_the_loss) {
  auto model = make<Running>();
  Variables params = model->v();
  const Tensor x = tensor<float>({1, 2, 3});
  float last = 1e9F;
  for (int step = 0; step < 10; ++step) {
    const auto [value, grads, next] = value_and_grad(
        [&](const auto& m) {
          const Tensor y = m(x, CallOptions{.training = false});
          return mean((y - 1.0) * (y - 1.0));
        },
        model);
    EXPECT_LT(value.item<float>(), last);
    last = value.item<float>();
    params = params - 0.05 * Variables{{"scale", grads["scale"]}};
    model->set_v(params);
  }
}

TEST(CallInheritance, a_part_of_forward_on_another_thread) {
  const auto model = make<Scale>();
  const Variables v{{"factor", full({3}, 9)}};
  const OptionsScope scope(*model, CallOptions{.v = &v});
  const CallInheritance inheritance;
  std::vector<float> seen;
  std::thread([&] {
    const CallInheritanceScope inherited(inheritance);
    seen = values(model(ones({3})));
  }).join();
  EXPECT_EQ(seen, (std::vector<float>{9, 9, 9}));
}

TEST(CallInheritance, random_numbers_and_modes_are_those_of_the_call) {
  struct Threaded : Dropping {
    Tensor forward(const Tensor& x) const {
      Tensor y;
      std::string error;
      const CallInheritance inheritance;
      std::thread([&] {
        const CallInheritanceScope inherited(inheritance);
        error = error_of<ValueError>([&] { y = dropout(x); });
      }).join();
      check<ValueError>(error == "no error", error);
      return y;
    }
  };
  const auto threaded = make<Threaded>();
  const auto plain = make<Dropping>();
  const Tensor x = ones({64});
  const CallOptions keyed{.key = RandomKey{1, 2}};
  EXPECT_EQ(values(threaded(x, keyed)), values(plain(x, keyed)));
  EXPECT_EQ(values(call(threaded, x, keyed)), values(plain(x, keyed)));
  EXPECT_EQ(values(threaded(x, CallOptions{.training = false})), values(x));
  EXPECT_EQ(error_of<ValueError>([&] { static_cast<void>(call(threaded, x)); }),
            "random numbers: \"dropout\" draws some in a pure call; give the call a key");
}

TEST(Buffers, microbatches_of_a_step_may_have_keys_of_their_own) {
  const auto model = make<Running>();
  for (std::int64_t m = 0; m < 2; ++m) {
    Context::current().pass = {.grain = 2, .first = m, .samples = 1, .last = m == 1};
    const RandomKey key{7, static_cast<std::uint64_t>(m) + 1};
    model(full({3}, static_cast<double>(4 * m + 2)), CallOptions{.key = key});
  }
  end_step_of_buffers(nullptr);
  Context::current().pass = {};
  EXPECT_EQ(values(model->mean_seen), (std::vector<float>{2, 2, 2})) << "of 1 and 3";
}

TEST(O_1, a_write_in_place_is_no_pure_call) {
  struct Careless : Module {
    Buffer calls{this, "calls", zeros({})};
    Tensor forward(const Tensor& x) const {
      add_(calls.value(), 1.0);
      return x;
    }
  };
  const auto model = make<Careless>();
  const std::string expected =
      "Careless: \"calls\" was changed in place in a pure call; assign its next value";
  EXPECT_EQ(error_of<RuntimeError>([&] { static_cast<void>(call(model, ones({1}))); }), expected);
  EXPECT_EQ(error_of<RuntimeError>([&] { static_cast<void>(model->update(ones({1}))); }), expected);
  EXPECT_NO_THROW(model(ones({1})));
}

TEST(O_1, a_root_that_draws_is_called_by_its_class) {
  EXPECT_EQ(error_of<ValueError>([] { static_cast<void>(call(make<Dropout>(0.5), ones({4}))); }),
            "random numbers: \"Dropout\" draws some in a pure call; give the call a key");
}

TEST(CallInheritance, the_tape_is_as_for_the_call) {
  const auto model = make<Scale>();
  Tensor y;
  {
    const NoGradGuard no_grad;
    const CallInheritance inheritance;
    std::thread([&] {
      const CallInheritanceScope inherited(inheritance);
      y = model(ones({3}));
    }).join();
  }
  EXPECT_FALSE(y.requires_grad());
}

}  // namespace
}  // namespace tessera::nn::contract
