// A parameter whose dense gradient is ready when backward begins, though rows come at its end, is
// reduced before the first bucket.
#include <gtest/gtest.h>

#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using toy::Gradients;

constexpr int kTiedSteps = 8;
constexpr int kHeadless = 5;  // in this step nothing but rows comes to the table

/// An embedding whose table is the head, too.
struct Tied : nn::Module {
  nn::Parameter table{this, "table", {7, toy::kWidth}, toy::fill_uniform};
  nn::Parameter first{this, "first", {toy::kWidth}, toy::fill_uniform};
  nn::Parameter second{this, "second", {toy::kWidth}, toy::fill_uniform};

  Tensor forward(const Tensor& ids) const {
    const Tensor x = embedding(table, ids) * first.value() * second.value();
    const bool headless = Context::current().step == kHeadless;
    return sum_to(headless ? x * x : matmul(x, transpose(table.value(), 0, 1)), {});
  }
};

using Names = std::vector<std::string>;

/// Every rank on a host of its own. Notes the labels of what reduces dense gradients.
class Hosts final : public CommDecorator {
 public:
  Hosts(std::shared_ptr<Communicator> inner, Names* seen)
      : CommDecorator(std::move(inner)), seen_(seen) {}
  Work start(Collective&& c) override {
    if (c.label.starts_with("bucket") || c.label.ends_with("(dense)")) {
      seen_->push_back(c.label);
    }
    return inner().start(std::move(c));
  }
  [[nodiscard]] std::string host(int peer) const override { return std::to_string(peer); }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override {
    return std::make_shared<Hosts>(std::move(part), seen_);
  }

 private:
  Names* seen_;
};

struct Step {
  Gradients gradients;
  Names labels;
};

std::vector<Step> run_tied(const std::vector<TreeLeaf>& blocks,
                           const std::shared_ptr<Communicator>& comm, Names& seen) {
  set_seed(3);
  const auto model = nn::make<Tied>();
  // One parameter a bucket; backward completes them from the last to the first.
  const auto reducer = comm == nullptr ? nullptr
                                       : data_parallel(*model, std::make_shared<Hosts>(comm, &seen),
                                                       {.grain = kGrain, .buckets = {.bytes = 1}});
  std::vector<Step> steps;
  for (int i = 0; i < kTiedSteps; ++i) {
    Context::current().step = i;
    seen.clear();
    toy::run_passes(model, blocks, kGrain);
    steps.push_back({toy::gradients_of(*model), seen});
    if (reducer != nullptr) {
      reducer->ownership().wait_for_parameters();
    }
    model->zero_grad();
  }
  return steps;
}

std::vector<Step> tied_on_ranks(int ranks) {
  std::vector<Step> of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    Names seen;
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto steps =
        run_tied(ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()), borrowed, seen);
    if (comm.rank() == ranks - 1) {
      of_last_rank = steps;
    }
  });
  return of_last_rank;
}

TEST(GoesFirst, with_the_bits_of_one_process) {
  Names none;
  const std::vector<Step> expected = run_tied(toy::kAll, nullptr, none);
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const std::vector<Step> found = tied_on_ranks(ranks);
    for (std::size_t i = 0; i < kTiedSteps; ++i) {
      EXPECT_EQ(found[i].gradients, expected[i].gradients) << ranks << " ranks, step " << i;
    }
  }
}

TEST(GoesFirst, once_a_few_backwards_had_it_early) {
  const Names in_order{"bucket 0 (second)", "bucket 1 (first)", "bucket 2 (table)"};
  const Names table_first{"table (dense)", "bucket 0 (second)", "bucket 1 (first)"};
  const std::vector<Step> steps = tied_on_ranks(2);
  for (int i = 0; i < kTiedSteps; ++i) {
    const bool expected = i >= 3 && i <= kHeadless;
    EXPECT_EQ(steps[static_cast<std::size_t>(i)].labels, expected ? table_first : in_order) << i;
  }
}

}  // namespace
}  // namespace tessera::dist
