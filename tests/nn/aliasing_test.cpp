// Tensors that lie in one another's memory, are given twice, or are written to after they were
// given: every function computes as with copies, or refuses.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/put.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/functional/module_of.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/make.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/sgd.h>

#include "support/values.h"

namespace tessera::aliasing {
namespace {

using nn::Parameter;
using testing_support::Floats;
using testing_support::values;

// --- operands in one memory ---------------------------------------------------------------------

/// A function that writes to its first tensor what it makes of both.
struct Writing {
  const char* name;
  void (*run)(const Tensor& to, const Tensor& from);
};

const std::vector<Writing> kWriting{
    {"copy_", [](const Tensor& to, const Tensor& from) { to.copy_(from); }},
    {"add_", [](const Tensor& to, const Tensor& from) { add_(to, from); }},
    {"sub_", [](const Tensor& to, const Tensor& from) { sub_(to, from); }},
    {"mul_", [](const Tensor& to, const Tensor& from) { mul_(to, from); }},
    {"div_", [](const Tensor& to, const Tensor& from) { div_(to, from); }},
    {"assign", [](const Tensor& to, const Tensor& from) { assign(to, {Range{}}, from); }},
    {"put_",
     [](const Tensor& to, const Tensor& from) {
       const std::array<Tensor, 1> lists{flip(arange(to.size(0)), {0})};
       put_(to, 0, lists, expand(from, to.shape()));
     }},
    {"put_ that adds",
     [](const Tensor& to, const Tensor& from) {
       const std::array<Tensor, 1> lists{zeros({to.size(0)}, {.dtype = DType::i64})};
       put_(to, 0, lists, expand(from, to.shape()), true);
     }},
};

/// Two tensors on one memory of 6 x 6 numbers.
struct Pattern {
  const char* name;
  std::pair<Tensor, Tensor> (*of)(const Tensor& memory);
};

const std::vector<Pattern> kPatterns{
    {"the same", [](const Tensor& m) { return std::pair(m, m); }},
    {"a handle of its own", [](const Tensor& m) { return std::pair(m, m.detach()); }},
    {"a row further", [](const Tensor& m) { return std::pair(slice(m, 0, 1), slice(m, 0, 0, 5)); }},
    {"a row back", [](const Tensor& m) { return std::pair(slice(m, 0, 0, 5), slice(m, 0, 1)); }},
    {"turned round", [](const Tensor& m) { return std::pair(m, transpose(m)); }},
    {"one of its rows", [](const Tensor& m) { return std::pair(m, select(m, 0, 2)); }},
    {"one of its columns", [](const Tensor& m) { return std::pair(m, slice(m, 1, 3, 4)); }},
    {"one of its numbers",
     [](const Tensor& m) { return std::pair(m, select(select(m, 0, 1), 0, 1)); }},
    {"columns in turn",
     [](const Tensor& m) { return std::pair(slice(m, 1, 0, 6, 2), slice(m, 1, 1, 6, 2)); }},
    {"every second of both",
     [](const Tensor& m) {
       const Tensor flat = reshape(m, {36});
       return std::pair(slice(flat, 0, 0, 18), slice(flat, 0, 0, 36, 2));
     }},
};

Tensor numbers() {
  return reshape(arange(36, {.dtype = DType::f32}) + 1.0, {6, 6});
}

TEST(Aliasing, operands_are_read_before_any_of_them_is_written) {
  for (const Writing& function : kWriting) {
    for (const Pattern& pattern : kPatterns) {
      const Tensor memory = numbers();
      const Tensor apart = numbers();
      const auto [to, from] = pattern.of(memory);
      const auto [safe_to, safe_from] = pattern.of(apart);
      function.run(to, from);
      function.run(safe_to, clone(safe_from));
      EXPECT_EQ(values(memory), values(apart)) << function.name << ", " << pattern.name;
    }
  }
}

// --- what is kept -------------------------------------------------------------------------------

struct Scale : nn::Module {
  Parameter w{this, "w", {3}, nn::init::constant(2)};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return x * w; }
};

struct Remember : nn::Module {
  nn::Buffer last{this, "last", zeros({3})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    last.assign(x);
    return x * 1.0;
  }
};

using Read = std::function<Tensor()>;

/// What is given a tensor as a value, and how to read what it made of it.
struct Keeping {
  const char* name;
  Read (*keep)(const Tensor& given);
};

const std::vector<Keeping> kKeeping{
    {"Buffer::assign",
     [](const Tensor& given) -> Read {
       const auto model = nn::make<Remember>();
       model->last.assign(given);
       return [model] { return model->last.value(); };
     }},
    {"Buffer::assign in a forward",
     [](const Tensor& given) -> Read {
       const auto model = nn::make<Remember>();
       static_cast<void>(model(given));
       return [model] { return model->last.value(); };
     }},
    {"update",
     [](const Tensor& given) -> Read {
       const auto next = nn::update(nn::make<Remember>(), given);
       return [next] { return next->last.value(); };
     }},
    {"State::variable",
     [](const Tensor& given) -> Read {
       const auto layer = nn::module_of([given](nn::State& s, const Tensor& x) {
         return x * s.variable("w", [&] { return given; });
       })(nn::RandomKey{1, 0}, ones({3}));
       return [layer] { return layer->v().at("w"); };
     }},
    {"Module::set_v",
     [](const Tensor& given) -> Read {
       const auto model = nn::make<Scale>();
       nn::Variables variables;
       variables.set("w", given);
       model->set_v(variables);
       return [model] { return model->w.value(); };
     }},
    {"Module::load_state_dict",
     [](const Tensor& given) -> Read {
       const auto model = nn::make<Scale>();
       model->load_state_dict({{"w", given}});
       return [model] { return model->w.value(); };
     }},
    {"Optimizer::load_state",
     [](const Tensor& given) -> Read {
       const auto model = nn::make<Scale>();
       const auto optimizer = std::make_shared<optim::SGD>(
           model->parameters(), optim::SGDOptions{.lr = 0, .momentum = 0.9});
       model->w.value().set_grad(ones({3}));
       optimizer->step();
       optim::OptimizerState state = optimizer->state();
       state.tensors[0].second = given;
       optimizer->load_state(state);
       return [model, optimizer] { return optimizer->state().tensors[0].second; };
     }},
};

TEST(Aliasing, a_value_that_was_given_is_what_it_was_then) {
  for (const Keeping& function : kKeeping) {
    const Tensor given = tensor<float>({1, 2, 3});
    const Read read = function.keep(given);
    fill_(given, 9);
    EXPECT_EQ(values(read()), (Floats{1, 2, 3})) << function.name;
  }
}

/// Remembers the weights from before the step in its forward, or where the loop's body says so.
struct Follower : nn::Module {
  explicit Follower(bool in_forward) : in_forward_(in_forward) {}
  Parameter weight{this, "weight", {4}, nn::init::constant(1)};
  nn::Buffer before{this, "before", zeros({4})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    if (in_forward_) {
      before.assign(weight);
    }
    return x * weight;
  }

 private:
  bool in_forward_;
};

Floats remembered(bool in_forward, std::int64_t grain) {
  const ContextScope scope(std::make_shared<Context>());
  const auto model = nn::make<Follower>(in_forward);
  optim::SGD optimizer(model->parameters(), {.lr = 0.5});
  data::DataLoader loader(data::TensorDataset{ones({8, 4})},
                          {.batch_size = 4, .workers = 0, .grain = grain, .at_once = 1});
  for (auto& [x] : loader) {
    mean(model(x)).backward();
    if (optimizer.step().ended && !in_forward && Context::current().step == 1) {
      model->before.assign(model->weight);
    }
  }
  EXPECT_EQ(values(model->weight.value()), Floats(4, 0.75F));
  return values(model->before.value());
}

TEST(Aliasing, a_buffer_that_is_assigned_weights_does_not_follow_them) {
  for (const bool in_forward : {true, false}) {
    for (const std::int64_t grain : {1, 2, 4}) {
      EXPECT_EQ(remembered(in_forward, grain), Floats(4, 0.875F))
          << in_forward << ", grain " << grain;
    }
  }
}

TEST(Aliasing, a_buffer_that_a_call_was_given_keeps_what_it_is_assigned_too) {
  struct Scribbler : nn::Module {
    nn::Buffer last{this, "last", zeros({3})};
    [[nodiscard]] Tensor forward(const Tensor& x) const {
      const Tensor doubled = x * 2.0;
      last.assign(doubled);
      const NoGradGuard off_the_tape;
      mul_(doubled, 10);
      return last.value() * 1.0;
    }
  };
  const auto model = nn::make<Scribbler>();
  EXPECT_EQ(values(model(ones({3}))), Floats(3, 2));
  nn::Variables buffers;
  buffers.set("last", zeros({3}));
  EXPECT_EQ(values(model(ones({3}), nn::CallOptions{.buffers = &buffers})), Floats(3, 2));
}

TEST(Aliasing, a_copy_made_under_a_guard_is_as_free_as_what_it_is_of) {
  const auto model = nn::make<Remember>();
  {
    const InferenceGuard guard;
    model->last.assign(ones({3}));
    const Tensor before = model->last.value();
    EXPECT_TRUE(before.get().inference);
  }
  const Tensor made_before = ones({3});
  {
    const InferenceGuard guard;
    model->last.assign(made_before);
  }
  EXPECT_FALSE(model->last.value().get().inference);
}

struct Biases : nn::Module {
  Parameter a{this, "a", {3}, nn::init::constant(1)};
  Parameter b{this, "b", {3}, nn::init::constant(1)};
};

// --- gradients ----------------------------------------------------------------------------------

TEST(Aliasing, leaves_have_gradients_of_their_own) {
  for (const bool create_graph : {false, true}) {
    const Tensor a = ones({2}).set_requires_grad(true);
    const Tensor b = ones({2}).set_requires_grad(true);
    const Tensor seed = ones({2});
    (a + b).backward(seed, {.create_graph = create_graph});
    {
      const NoGradGuard off_the_tape;
      mul_(a.grad(), 10);
    }
    EXPECT_EQ(values(b.grad()), Floats(2, 1)) << create_graph;
    EXPECT_EQ(values(seed), Floats(2, 1)) << create_graph;
    a.set_grad({});
    b.set_grad({});
  }
}

TEST(Aliasing, gradients_of_a_model_are_apart) {
  const auto model = nn::make<Biases>();
  const auto result = nn::value_and_grad(
      [](const auto& m) {
        const Tensor both = m->a.value() + m->b.value();
        return sum(both * both);
      },
      model);
  EXPECT_FALSE(result.grads.at("a").shares_storage(result.grads.at("b")));
}

TEST(Aliasing, what_a_hook_returns_stays_the_hooks) {
  Floats constant{1, 1};
  const Tensor leaf = ones({2}).set_requires_grad(true);
  const auto foreign = [&](const Tensor& g) {
    return from_memory(constant.data(), g.shape(), DType::f32);
  };
  register_gradient_hook(leaf, foreign);
  for (int i = 0; i < 3; ++i) {
    sum(leaf * 5.0).backward();
  }
  EXPECT_EQ(values(leaf.grad()), Floats(2, 3));
  EXPECT_EQ(constant, Floats(2, 1));
  // Of a computed tensor: the leaf gets it first, and adds the older use's gradient to it.
  const Tensor x = ones({2}).set_requires_grad(true);
  const Tensor first = x * 2.0;
  const Tensor y = x + 0.0;  // hands its gradient on as it is
  register_gradient_hook(y, foreign);
  sum(first + y).backward();
  EXPECT_EQ(values(x.grad()), Floats(2, 3));
  EXPECT_EQ(constant, Floats(2, 1));
}

/// The gradient of two passes; a hook's handle on the first one's is written to behind it, or not.
Floats gradient_of_passes(bool overwrite) {
  const auto context = std::make_shared<Context>();
  const ContextScope scope(context);
  const Tensor w = ones({2}).set_requires_grad(true);
  for (std::int64_t m = 0; m < 2; ++m) {
    context->pass = {
        .grain = 2, .first = m, .count = 1, .first_sample = m, .samples = 1, .last = m == 1};
    Tensor kept;
    const Tensor h = w + 0.0;
    register_gradient_hook(h, [&](const Tensor& g) {
      kept = g;
      return Tensor();
    });
    sum(h * h).backward();
    if (overwrite) {
      fill_(kept, 100);
    }
  }
  return values(w.grad());
}

TEST(Aliasing, what_waits_for_the_last_pass_is_nobody_elses) {
  EXPECT_EQ(gradient_of_passes(true), gradient_of_passes(false));
}

TEST(Aliasing, what_a_hook_gave_a_checkpointed_region_is_what_it_was_or_refused) {
  const auto model = nn::make<Remember>();
  const Tensor mask = ones({3});
  const auto handle = model->register_forward_hook(
      [&](const nn::Module&, const nn::Args&, const nn::Value&) { return nn::Value(mask); });
  const Tensor x = ones({3}).set_requires_grad(true);
  const Tensor y = checkpoint([&](const Tensor& t) { return model(t) * t; }, x);
  {
    const NoGradGuard off_the_tape;
    fill_(mask, 0);
  }
  EXPECT_THROW(sum(y).backward(), InvalidArgument);
}

TEST(Aliasing, what_a_checkpointed_region_reads_is_what_it_was_or_refused) {
  const auto model = nn::make<Biases>();
  const Tensor x = ones({3}).set_requires_grad(true);
  const Tensor y = checkpoint([&](const Tensor& t) { return relu(t + model->a.value()); }, x);
  {
    const NoGradGuard off_the_tape;
    model->a.value().copy_(full({3}, -5));
  }
  try {
    sum(y).backward();
    EXPECT_EQ(values(x.grad()), Floats(3, 1));
  } catch (const InvalidArgument&) {  // as of a tensor that an op saved
  }
}

}  // namespace
}  // namespace tessera::aliasing
