// Embeddings that some microbatches read more often than others, or not at all.
#include <gtest/gtest.h>

#include <tessera/core/ops/slice.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using toy::Gradients;

/// Microbatches 2 and 6 read fewer rows, 1, 4 and 7 none. One table is so small that ranks exchange
/// it whole, the other so large that they exchange rows.
struct Uneven : nn::Module {
  nn::Parameter small{this, "small", {7, toy::kWidth}, toy::fill_uniform};
  nn::Parameter large{this, "large", {300, toy::kWidth}, toy::fill_uniform};
  nn::Parameter always{this, "always", {toy::kWidth}, toy::fill_uniform};

  Tensor forward(const Tensor& ids) const {
    const std::int64_t microbatch = Context::current().pass.first;
    const Tensor loss = sum_to(always.value() * always.value(), {});
    if (microbatch % 3 == 1) {
      return loss;
    }
    const Tensor read = microbatch % 4 == 2 ? slice(ids, 1, 0, 1) : ids;
    return loss + sum_to(embedding(small, read) * embedding(large, read) * always.value(), {});
  }
};

Gradients run_uneven(const std::vector<TreeLeaf>& blocks, const nn::Ptr<Uneven>& model) {
  toy::run_passes(model, blocks, 1);
  return toy::gradients_of(*model);
}

Gradients uneven_alone() {
  set_seed(3);
  return run_uneven(toy::kAll, nn::make<Uneven>());
}

class UnevenRows : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, UnevenRows, testing::Values(1, 2, 3, 4, 8));

TEST_P(UnevenRows, HaveTheBitsOfOneProcess) {
  const int ranks = GetParam();
  const Gradients expected = uneven_alone();
  run_ranks(ranks, [&](Communicator& comm) {
    set_seed(3);
    const auto model = nn::make<Uneven>();
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto reducer = data_parallel(*model, borrowed, {.grain = kGrain});
    EXPECT_EQ(run_uneven(ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()), model),
              expected)
        << "rank " << comm.rank() << " of " << ranks;
  });
}

/// The gradient by its definition: d loss / d table[id] = sum over reads of other[id] * always.
TEST(UnevenRowsAlone, AreTheGradientsOfAllReads) {
  set_seed(3);
  const auto model = nn::make<Uneven>();
  std::vector<double> sum(static_cast<std::size_t>(7 * toy::kWidth));
  const Tensor ids = toy::batch(0, toy::kSamples, 1);
  for (std::int64_t sample = 0; sample < toy::kSamples; ++sample) {
    const std::int64_t microbatch = sample / (toy::kSamples / kGrain);
    const int reads = microbatch % 3 == 1 ? 0 : microbatch % 4 == 2 ? 1 : 3;
    for (int j = 0; j < reads; ++j) {
      const std::int64_t id = ids.data<std::int64_t>()[sample * 3 + j];
      for (std::int64_t w = 0; w < toy::kWidth; ++w) {
        sum[static_cast<std::size_t>(id * toy::kWidth + w)] +=
            double{model->large.value().data<float>()[id * toy::kWidth + w]} *
            double{model->always.value().data<float>()[w]};
      }
    }
  }
  const Gradients found = run_uneven(toy::kAll, model);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(found[0][i], sum[i] / kGrain, 1e-6) << i;
  }
}

}  // namespace
}  // namespace tessera::dist
