// Another strategy than data parallel's own: a rank holds the sums of its own elements alone, and
// gradients, steps and weights have the same bits.
#include <tessera/dist/parallel/reduction_strategy.h>

#include <gtest/gtest.h>

#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/optim/adamw.h>

#include "support/toy_model.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

/// Every rank of a host holds the sum of what it owns.
class ReduceScatter final : public ReductionStrategy {
 public:
  ReduceScatter(std::shared_ptr<Communicator> comm, const FlatOwnership& ownership)
      : comm_(std::move(comm)), ownership_(ownership) {}

  Work reduce(const GradientMemory& gradients, FlatRange range, std::string label) override {
    Collective c = gradients.sum_of(range, std::move(label));
    c.kind = CollectiveKind::reduce_scatter;
    for (int r = 0; r < comm_->size(); ++r) {
      const FlatRange part = range.common_with(ownership_.part_of(r));
      c.counts.push_back(static_cast<std::size_t>(part.count()));
      if (r == comm_->rank()) {
        c.count = c.counts.back();
        const std::int64_t at = std::min(part.first, range.last) - range.first;
        c.receive = gradients.flat.from(range.first * gradients.tree->max_blocks() + at);
      }
    }
    return comm_->launch(std::move(c));
  }

 private:
  std::shared_ptr<Communicator> comm_;
  const FlatOwnership& ownership_;
};

std::shared_ptr<GradientReducer> scattered(nn::Module& model,
                                           const std::shared_ptr<Communicator>& comm) {
  auto reducer = std::make_shared<GradientReducer>(
      model, comm, DataParallelOptions{.grain = kGrain, .buckets = {.bytes = 512}},
      [](const std::shared_ptr<Communicator>& ranks, const FlatOwnership& ownership) {
        return std::make_unique<ReduceScatter>(ranks, ownership);
      });
  reducer->model().follow(model);
  return reducer;
}

/// A model whose parameters are cut at norm blocks, with a table that has rows alone.
struct Wide : nn::Module {
  nn::Parameter table{this, "table", {7, toy::kWidth}, toy::fill_uniform};
  nn::Parameter wide{this, "wide", {40000, toy::kWidth}, toy::fill_uniform};
  nn::Parameter once{this, "once", {toy::kWidth}, toy::fill_uniform};
  Tensor forward(const Tensor& ids) const {
    const Tensor x = embedding(table, ids) * once.value();
    return sum_to(x * x, {}) + sum_to(wide.value() * 0.5, {}) * sum_to(x, {});
  }
};

struct Trained {
  testing_support::Values weights;
  bool partial = false;  ///< some gradient is not the ranks' sum outside of what the rank owns
};

Trained train(const std::shared_ptr<Communicator>& comm, int ranks) {
  set_seed(3);
  const auto model = nn::make<Wide>();
  const auto reducer = comm == nullptr ? nullptr : scattered(*model, comm);
  optim::AdamW optimizer(model->parameters(), {.lr = 0.01});
  optimizer.clip_grad_norm(0.5);
  const auto blocks =
      comm == nullptr ? toy::kAll : ReductionTree::over_grain(kGrain, ranks).of_rank(comm->rank());
  Trained result;
  for (std::uint64_t step = 0; step < 4; ++step) {
    Context::current().step = step;
    toy::run_passes(model, blocks, kGrain);
    if (comm != nullptr) {
      const Tensor gradient = model->wide.grad();
      const std::vector<float> values = gradient.to_vector<float>();
      const nn::ElementRange own = reducer->ownership().own_range(*model->wide.slot());
      // All elements of this one have the same gradient.
      const auto expected = own.count > 0 ? values[static_cast<std::size_t>(own.first)] : 0;
      result.partial |= own.count < gradient.numel() && own.count > 0 &&
                        (values.front() != expected || values.back() != expected);
    }
    optimizer.step();
  }
  result.weights = testing_support::values_of(*model);
  return result;
}

TEST(ReductionStrategy, of_each_ranks_own_elements_gives_the_weights_of_one_process) {
  const testing_support::Values expected = train(nullptr, 1).weights;
  for (const int ranks : {1, 2, 3, 4, 8}) {
    int partial = 0;
    std::mutex mutex;
    run_ranks(ranks, [&](Communicator& comm) {
      const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
      const Trained trained = train(borrowed, ranks);
      EXPECT_EQ(trained.weights, expected) << "rank " << comm.rank() << " of " << ranks;
      const std::lock_guard lock(mutex);
      partial += trained.partial ? 1 : 0;
    });
    EXPECT_EQ(partial > 0, ranks > 1) << ranks;  // or it was an all_reduce
  }
}

}  // namespace
}  // namespace tessera::dist
