// Heads whose gradients are made in forward, in every order of forwards and backwards: on any
// number of ranks the bits are those of one process.
#include <gtest/gtest.h>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using toy::Gradients;

struct TwoHeads : nn::Module {
  nn::Parameter table{this, "table", {7, toy::kWidth}, toy::fill_uniform};
  nn::Parameter head{this, "head", {7, toy::kWidth}, toy::fill_uniform};
  nn::Parameter other{this, "other", {7, toy::kWidth}, toy::fill_uniform};

  [[nodiscard]] Tensor hidden(const Tensor& ids) const { return embedding(table, ids); }
  [[nodiscard]] Tensor loss(const Tensor& ids, bool of_other = false) const {
    return linear_cross_entropy(hidden(ids), of_other ? other : head, ids);
  }
};

/// What a pass does with its samples and, where it wants more, others like them.
using InPass = std::function<void(const TwoHeads&, const Tensor& ids, const Tensor& others)>;

Gradients run_step(const std::vector<TreeLeaf>& blocks, std::int64_t at_once,
                   const std::shared_ptr<Communicator>& comm, const InPass& pass) {
  set_seed(3);
  const auto model = nn::make<TwoHeads>();
  const auto reducer = comm == nullptr ? nullptr : data_parallel(*model, comm, {.grain = kGrain});
  toy::for_each_pass(
      blocks, at_once, [&](std::int64_t first, std::int64_t count, std::int32_t parts) {
        pass(*model, toy::batch(first, count, parts), toy::batch(100 + first, count, parts));
      });
  return toy::gradients_of(*model);
}

void expect_bits_of_one_process(const InPass& pass) {
  const Gradients expected = run_step(toy::kAll, 1, nullptr, pass);
  for (const std::int64_t at_once : {2, 8}) {
    EXPECT_EQ(run_step(toy::kAll, at_once, nullptr, pass), expected) << at_once << " at once";
  }
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (const std::int64_t at_once : {1, 2, 8}) {
      run_ranks(ranks, [&](Communicator& comm) {
        Context::current().rank = comm.rank();
        Context::current().world_size = comm.size();
        const auto blocks = ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank());
        const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
        EXPECT_EQ(run_step(blocks, at_once, borrowed, pass), expected)
            << "rank " << comm.rank() << " of " << ranks << ", " << at_once << " at once";
      });
    }
  }
}

void backward_again(const Tensor& loss) {
  backward(std::span(&loss, 1), std::vector<Tensor>(1), {.keep_graph = true});
}

TEST(TwoHeads, one_after_the_other) {
  expect_bits_of_one_process([](const TwoHeads& m, const Tensor& ids, const Tensor& others) {
    m.loss(ids).backward();
    m.loss(others, true).backward();
  });
}

TEST(TwoHeads, in_the_order_of_their_forwards_and_the_other_way_round) {
  for (const bool turned : {false, true}) {
    expect_bits_of_one_process(
        [turned](const TwoHeads& m, const Tensor& ids, const Tensor& others) {
          const Tensor first = m.loss(ids), second = m.loss(others, true), third = m.loss(others);
          (turned ? third : first).backward();
          second.backward();
          (turned ? first : third).backward();
        });
  }
}

TEST(TwoHeads, of_one_graph_that_is_kept) {
  expect_bits_of_one_process([](const TwoHeads& m, const Tensor& ids, const Tensor& others) {
    const Tensor loss = m.loss(ids) + m.loss(others, true);
    backward_again(loss);
    m.loss(others).backward();
    loss.backward();
  });
}

TEST(TwoHeads, behind_another_backward) {
  expect_bits_of_one_process([](const TwoHeads& m, const Tensor& ids, const Tensor& others) {
    const Tensor loss = m.loss(ids);
    sum_to(m.hidden(others) * m.hidden(others), {}).backward();
    loss.backward();
  });
}

TEST(TwoHeads, computed_again_in_backward) {
  expect_bits_of_one_process([](const TwoHeads& m, const Tensor& ids, const Tensor&) {
    checkpoint([&](const Tensor& x) { return linear_cross_entropy(x, m.head, ids); }, m.hidden(ids))
        .backward();
  });
}

TEST(TwoHeads, while_hooks_run_forwards) {
  expect_bits_of_one_process([](const TwoHeads& m, const Tensor& ids, const Tensor& others) {
    const Tensor x = m.hidden(ids);
    const ScopedHandle hook = register_gradient_hook(x, [&](const Tensor& gradient) {
      const ModeGuard<&Modes::record> recording(true);
      static_cast<void>(m.loss(others));
      return gradient;
    });
    linear_cross_entropy(x, m.head, ids).backward();
  });
}

TEST(TwoHeads, frozen_between_a_forward_and_its_backward) {
  expect_bits_of_one_process([](const TwoHeads& m, const Tensor& ids, const Tensor& others) {
    const Tensor loss = m.loss(ids);
    m.head.value().set_requires_grad(false);
    m.loss(others, true).backward();
    m.head.value().set_requires_grad(true);
    loss.backward();
  });
}

struct OneRankOfHeads {
  explicit OneRankOfHeads(Communicator& comm) {
    set_seed(3);
    model = nn::make<TwoHeads>();
    reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 1});
  }
  nn::Ptr<TwoHeads> model;
  std::shared_ptr<GradientReducer> reducer;
};

TEST(TwoHeads, gradients_that_are_asked_for_are_the_askers) {
  run_ranks(1, [](Communicator& comm) {
    const OneRankOfHeads alone(comm);
    const Tensor loss = alone.model->loss(toy::batch(0, 4, 1));
    const Tensor weight = alone.model->head.value();
    const Tensor gradient = grad(std::span(&loss, 1), std::span(&weight, 1))[0];
    const std::vector<float> before = gradient.to_vector<float>();
    alone.model->loss(toy::batch(100, 4, 1)).backward();
    EXPECT_EQ(gradient.to_vector<float>(), before);
  });
}

TEST(TwoHeads, gradients_that_a_hook_keeps_are_the_hooks) {
  run_ranks(1, [](Communicator& comm) {
    const OneRankOfHeads alone(comm);
    const Tensor loss = alone.model->loss(toy::batch(0, 4, 1));
    Tensor kept;
    register_op_hook(loss, [&](const std::vector<Tensor>& inputs, const auto&) {
      kept = inputs[1];
      return std::nullopt;
    });
    loss.backward();
    const std::vector<float> before = kept.to_vector<float>();
    EXPECT_EQ(before, alone.model->head.grad().to_vector<float>());
    alone.model->loss(toy::batch(100, 4, 1)).backward();
    EXPECT_EQ(kept.to_vector<float>(), before);
  });
}

TEST(TwoHeads, of_a_backward_that_throws_leave_gradients_as_they_were) {
  run_ranks(1, [](Communicator& comm) {
    const OneRankOfHeads alone(comm);
    const TwoHeads& m = *alone.model;
    m.loss(toy::batch(0, 4, 1)).backward();
    const Gradients before = toy::gradients_of(m);
    const Tensor x = m.hidden(toy::batch(50, 4, 1));
    {
      const ScopedHandle hook = register_gradient_hook(
          x, [](const Tensor&) -> Tensor { throw std::runtime_error("a hook"); });
      const Tensor loss = linear_cross_entropy(x, m.head, toy::batch(50, 4, 1));
      EXPECT_THROW(loss.backward(), std::runtime_error);
    }
    EXPECT_EQ(toy::gradients_of(m), before);
    alone.model->zero_grad();
    m.head.value().set_grad(full({7, toy::kWidth}, 2));
    m.loss(toy::batch(0, 4, 1)).backward();
    for (std::size_t i = 0; i < before[1].size(); ++i) {
      EXPECT_FLOAT_EQ(toy::gradients_of(m)[1][i], 2 + before[1][i]);
    }
  });
}

}  // namespace
}  // namespace tessera::dist
