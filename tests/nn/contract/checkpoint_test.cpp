// Activation checkpointing together with variables given at a call, gradients with respect to a
// module, hooks and tracking.
#include <tessera/core/autograd/checkpoint.h>

#include <gtest/gtest.h>

#include <thread>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/hooks/global_hooks.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/tracking/submod_trace.h>

#include "models.h"
#include "norm_and_dropout.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::values;

/// Its block is checkpointed when told to.
struct Checkpointed : NormAndDropout {
  explicit Checkpointed(bool checkpointed) : checkpointed_(checkpointed) {}
  Tensor forward(const Tensor& x) const {
    const auto block = [this](const Tensor& t) { return dropout(norm(hidden(t))); };
    return out(checkpointed_ ? checkpoint(block, x) : block(x));
  }

 private:
  bool checkpointed_;
};

Ptr<Checkpointed> new_model(bool checkpointed) {
  set_seed(5);
  return make<Checkpointed>(checkpointed);
}

using All = std::vector<std::vector<float>>;

TEST(Checkpoint, value_and_grad_through_batch_norm_and_dropout) {
  const auto run = [](bool checkpointed) {
    const auto model = new_model(checkpointed);
    const auto [value, grads, next] = value_and_grad(
        [](const auto& m) {
          const Tensor y = m(batch(), CallOptions{.key = RandomKey{7, 1}});
          return sum(y * y);
        },
        model);
    EXPECT_EQ(next->norm->num_batches_tracked.value().template item<int>(), 1);
    EXPECT_EQ(model->norm->num_batches_tracked.value().template item<int>(), 0);
    All all{values(value), values(next->norm->running_var)};
    for (const auto& [name, gradient] : grads.leaves()) {
      all.push_back(gradient.defined() ? values(gradient) : std::vector<float>());
    }
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Checkpoint, variables_given_at_a_call_that_has_ended) {
  const auto run = [](bool checkpointed) {
    const auto model = new_model(checkpointed);
    const Variables v = model->v().map(
        [](const Tensor& x) { return (x.detach() * 2.0).detach().set_requires_grad(true); });
    const Tensor y = model(batch(), CallOptions{.v = &v, .key = RandomKey{7, 1}});
    model->eval();
    sum(y * y).backward();
    EXPECT_EQ(model->norm->num_batches_tracked.value().item<int>(), 1);
    All all{values(y), values(model->norm->running_mean)};
    for (const auto& [name, leaf] : v.leaves()) {
      all.push_back(values(leaf.grad()));
    }
    EXPECT_FALSE(model->hidden->weight.grad().defined());
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Checkpoint, pure_calls_and_their_updates) {
  const auto run = [](bool checkpointed) {
    const auto model = new_model(checkpointed);
    const Tensor x = batch().set_requires_grad(true);
    const auto [y, next] = call_and_update(model, x, CallOptions{.key = RandomKey{7, 1}});
    sum(y * y).backward();
    EXPECT_EQ(next->norm->num_batches_tracked.value().template item<int>(), 1);
    return All{values(y), values(x.grad()), values(model->hidden->weight.grad()),
               values(next->norm->running_var)};
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Checkpoint, hooks_of_every_kind_run_once_and_change_the_same_gradients) {
  const auto run = [](bool checkpointed) {
    const auto model = new_model(checkpointed);
    std::string order;
    const auto note = [&order](const char* what, const Module& m) {
      order.append(what).append(m.class_name()).append(" ");
    };
    const ScopedHandle process = global_hooks::register_forward(
        [&](const Module& m, const Args&, const Value&) { note("forward-", m); });
    model->norm->register_full_backward_pre_hook([&](const Module& m, const Grads& g) {
      note("pre-", m);
      return Grads{g[0] * 2.0};
    });
    model->hidden->register_full_backward_hook(
        [&](const Module& m, const Grads& grad_input, const Grads&) {
          note("full-", m);
          return Grads{grad_input[0] * 3.0};
        });
    const Tensor x = batch().set_requires_grad(true);
    sum(model(x, CallOptions{.key = RandomKey{7, 1}})).backward();
    EXPECT_EQ(
        order,
        "forward-Linear forward-BatchNorm1d forward-Dropout forward-Linear forward-Checkpointed "
        "pre-BatchNorm1d full-Linear ");
    return All{values(x.grad()), values(model->hidden->weight.grad())};
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Checkpoint, a_recomputation_is_not_tracked) {
  const auto model = new_model(true);
  const Tensor y = model(batch().set_requires_grad(true),
                         CallOptions{.key = RandomKey{7, 1}, .track_submod_rets = true});
  const auto before = names_of(last_trace().rets);
  sum(y).backward();
  EXPECT_EQ(names_of(last_trace().rets), before);
  EXPECT_EQ(last_trace().rets.at(" Linear_0").outputs.size(), 1U);
}

/// Hooks that read the model, draw, and replace arguments and outputs; until `scope` ends.
std::vector<ScopedHandle> intrusive_hooks(const Ptr<Checkpointed>& model) {
  std::vector<ScopedHandle> hooks;
  hooks.emplace_back(
      model->hidden->register_forward_pre_hook([=](const Module& m, const Args& args) {
        EXPECT_TRUE(m.training());
        EXPECT_EQ(model->norm->weight.value().numel(), 4);
        return args[0].tensor() * sum(model->out->weight);
      }));
  hooks.emplace_back(
      model->norm->register_forward_hook([=](const Module& m, const Args&, const Value& y) {
        return m.training() ? y.tensor() * y.tensor() : y.tensor();
      }));
  hooks.emplace_back(model->dropout->register_forward_pre_hook(
      [](const Module&, const Args& args) { return dropout(args[0].tensor(), 0.25); }));
  return hooks;
}

TEST(Checkpoint, hooks_that_read_draw_and_replace_values_change_the_same_gradients) {
  const auto run = [](bool checkpointed, bool kept) {
    const auto model = new_model(checkpointed);
    std::vector<ScopedHandle> hooks = intrusive_hooks(model);
    const Tensor x = batch().set_requires_grad(true);
    const Tensor y = model(x, CallOptions{.key = RandomKey{7, 1}});
    if (!kept) {
      hooks.clear();
    }
    sum(y * y).backward();
    All all{values(y), values(x.grad())};
    for (const Parameter& parameter : model->parameters()) {
      all.push_back(values(parameter.grad()));
    }
    return all;
  };
  EXPECT_EQ(run(true, true), run(false, true));
  EXPECT_EQ(run(true, false), run(false, true))
      << "hooks of the forward count, not those there now";
}

TEST(Checkpoint, hooks_in_a_region_in_a_region) {
  struct Nested : Checkpointed {
    using Checkpointed::Checkpointed;
    Tensor forward(const Tensor& x) const {
      const auto whole = [this](const Tensor& t) { return Checkpointed::forward(t); };
      return nested_ ? checkpoint(whole, x) : whole(x);
    }
    bool nested_ = false;
  };
  const auto run = [](bool nested) {
    set_seed(5);
    const auto model = make<Nested>(nested);
    model->nested_ = nested;
    const std::vector<ScopedHandle> hooks =
        intrusive_hooks(Ptr<Checkpointed>(std::static_pointer_cast<Checkpointed>(model)));
    const Tensor x = batch().set_requires_grad(true);
    sum(model(x, CallOptions{.key = RandomKey{7, 1}})).backward();
    return All{values(x.grad()), values(model->hidden->weight.grad())};
  };
  EXPECT_EQ(run(true), run(false));
}

/// Runs batch norm on another thread, which must know of the checkpoint around it.
struct NormOnThread : Checkpointed {
  using Checkpointed::Checkpointed;
  Tensor forward(const Tensor& x) const {
    const auto part = [this](const Tensor& t) {
      const Tensor before = hidden(t);
      Tensor after;
      const CallInheritance inheritance;
      std::thread([&] {
        const CallInheritanceScope inherited(inheritance);
        after = norm(before);
      }).join();
      return after;
    };
    return out(checkpointed ? checkpoint(part, x) : part(x));
  }
  bool checkpointed = false;
};

TEST(Checkpoint, a_part_of_the_region_on_another_thread) {
  const auto run = [](bool checkpointed) {
    set_seed(5);
    const auto model = make<NormOnThread>(false);
    model->checkpointed = checkpointed;
    int hooks = 0;
    model->norm->register_forward_hook([&](const Module&, const Args&, const Value&) { ++hooks; });
    const Tensor x = batch().set_requires_grad(true);
    const Tensor y = model(x);
    sum(y * y).backward();
    EXPECT_EQ(hooks, 1);
    EXPECT_EQ(model->norm->num_batches_tracked.value().item<int>(), 1);
    return All{values(x.grad()), values(model->norm->weight.grad())};
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Checkpoint, what_a_hook_writes_in_place_stands_for_the_second_run_too) {
  const auto run = [](bool checkpointed) {
    const auto model = make<Scale>();
    const auto handle = model->register_forward_hook(
        [](const Module&, const Args&, const Value& y) { static_cast<void>(mul_(y.tensor(), 2)); });
    const Tensor x = ones({3}).set_requires_grad(true);
    const auto block = [&](const Tensor& t) { return model(t) * t; };
    sum(checkpointed ? checkpoint(block, x) : block(x)).backward();
    return values(x.grad());
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
}  // namespace tessera::nn::contract
