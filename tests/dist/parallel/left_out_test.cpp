#include <gtest/gtest.h>

#include <tessera/core/ops/sum_to.h>
#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using toy::Gradients;

constexpr std::int64_t kRows = 7;

/// A table that brings rows alone in most steps. In step 6 the first microbatch, and in step 7
/// every one, reads it whole; a parameter that nobody else uses is used there, too.
struct Changing : nn::Module {
  nn::Parameter table{this, "table", {kRows, toy::kWidth}, toy::fill_uniform};
  nn::Parameter seldom{this, "seldom", {toy::kWidth}, toy::fill_uniform};
  nn::Parameter always{this, "always", {toy::kWidth}, toy::fill_uniform};

  Tensor forward(const Tensor& ids) const {
    const Tensor loss = sum_to(embedding(table, ids) * always.value(), {});
    const auto step = Context::current().step;
    if (step == 7 || (step == 6 && Context::current().pass.first == 0)) {
      return loss + sum_to(table.value() * table.value() * seldom.value(), {});
    }
    return loss;
  }
};

/// Counts the elements that a group's all-reduces of buckets bring.
class ElementCounter final : public CommDecorator {
 public:
  using CommDecorator::CommDecorator;
  Work start(Collective&& c) override {
    if (c.label.starts_with("bucket") || c.label.ends_with("(dense)")) {
      elements += c.count;
    }
    return inner().start(std::move(c));
  }
  std::size_t elements = 0;

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override { return part; }
};

constexpr int kChangingSteps = 9;

/// The gradients of every step, and how much buckets brought in it.
struct Steps {
  std::vector<Gradients> gradients;
  std::vector<std::size_t> elements;
};

Steps run_changing(const std::vector<TreeLeaf>& blocks, const nn::Ptr<Changing>& model,
                   ElementCounter* counter, GradientReducer* reducer) {
  Steps steps;
  for (int i = 0; i < kChangingSteps; ++i) {
    Context::current().step = i;
    const std::size_t before = counter != nullptr ? counter->elements : 0;
    toy::run_passes(model, blocks, 1);
    steps.gradients.push_back(toy::gradients_of(*model));
    if (reducer != nullptr) {
      steps.elements.push_back(counter->elements - before);
      reducer->ownership().wait_for_parameters();
    }
    model->zero_grad();
  }
  return steps;
}

Steps changing_on_ranks(int ranks) {
  Steps of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    set_seed(3);
    const auto model = nn::make<Changing>();
    const auto counter = std::make_shared<ElementCounter>(
        std::shared_ptr<Communicator>(&comm, [](Communicator*) {}));
    const auto reducer = data_parallel(*model, counter, {.grain = kGrain});
    const Steps steps = run_changing(ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()),
                                     model, counter.get(), reducer.get());
    if (comm.rank() == ranks - 1) {
      of_last_rank = steps;
    }
  });
  return of_last_rank;
}

TEST(LeftOut, parameters_come_back_with_the_bits_of_one_process) {
  set_seed(3);
  const Steps expected = run_changing(toy::kAll, nn::make<Changing>(), nullptr, nullptr);
  ASSERT_NE(expected.gradients[5], expected.gradients[6]);
  ASSERT_TRUE(expected.gradients[5][1].empty());
  ASSERT_FALSE(expected.gradients[6][1].empty());
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Steps found = changing_on_ranks(ranks);
    for (std::size_t i = 0; i < kChangingSteps; ++i) {
      EXPECT_EQ(found.gradients[i], expected.gradients[i]) << ranks << " ranks, step " << i;
    }
  }
}

TEST(LeftOut, zeros_are_not_reduced) {
  const std::vector<std::size_t> elements = changing_on_ranks(2).elements;
  constexpr std::size_t kTable = 48, kVector = 16;  // with padding
  const std::size_t all = kTable + 2 * kVector;
  // What is left out comes late, without padding, in step 6, and is expected from then on.
  const std::size_t late = kVector + kRows * toy::kWidth + toy::kWidth;
  EXPECT_EQ(elements,
            (std::vector<std::size_t>{all, all, all, kVector, kVector, kVector, late, all, all}));
}

}  // namespace
}  // namespace tessera::dist
