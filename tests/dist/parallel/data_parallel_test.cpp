#include <gtest/gtest.h>

#include <numeric>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {
namespace {

constexpr std::int64_t kGrain = 8;
constexpr std::int64_t kSamples = 16;  // in a global batch
constexpr std::int64_t kWidth = 5;

void fill_uniform(const Tensor& value, const RandomStream& stream) {
  float* data = value.data<float>();
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    data[i] = to_uniform(stream.word(static_cast<std::uint64_t>(i))) - 0.5F;
  }
}

/// A parameter with one direct use, one with two uses, embeddings of samples and of positions, and
/// a parameter that nobody uses.
struct Model : nn::Module {
  nn::Parameter positions{this, "positions", {3, kWidth}, fill_uniform};
  nn::Parameter table{this, "table", {7, kWidth}, fill_uniform};
  nn::Parameter once{this, "once", {kWidth}, fill_uniform};
  nn::Parameter twice{this, "twice", {kWidth}, fill_uniform};
  nn::Parameter unused{this, "unused", {3}, fill_uniform};
  Tensor forward(const Tensor& ids) const {
    const Tensor places = arange(3);
    const Tensor x = (embedding(table, ids) + embedding(positions, places)) * twice.value();
    return sum_to((x + once.value()) * twice.value() * x, {});
  }
};

Tensor batch(std::int64_t first, std::int64_t count, std::int32_t parts) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count * 3));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::int64_t>(i * i + static_cast<std::size_t>(first) * 5) % 7;
  }
  Tensor x = from_values<std::int64_t>(ids, {count, 3});
  for (std::int64_t i = 0; i < count; ++i) {  // a sample depends on its global index alone
    for (std::int64_t j = 0; j < 3; ++j) {
      x.data<std::int64_t>()[i * 3 + j] = ((first + i) * 3 + j * j + (first + i) * (first + i)) % 7;
    }
  }
  if (parts > 1) {
    x.get().cut = {.parts = parts, .dim = 0};
  }
  return x;
}

/// Runs the passes of one rank's microbatches [first, first + count), `at_once` a pass.
void run_passes(const nn::Ptr<Model>& model, const std::vector<TreeLeaf>& blocks,
                std::int64_t at_once) {
  const std::int64_t per = kSamples / kGrain;
  for (const TreeLeaf& block : blocks) {
    const std::int64_t step = std::min(at_once, block.size);
    for (std::int64_t m = block.first; m < block.first + block.size; m += step) {
      const bool last = m + step == blocks.back().first + blocks.back().size;
      Context::current().pass = {.grain = kGrain,
                                 .first = m,
                                 .count = step,
                                 .first_sample = m * per,
                                 .samples = step * per,
                                 .last = last};
      model(batch(m * per, step * per, static_cast<std::int32_t>(step))).backward();
    }
  }
  Context::current().pass = {};
}

using Gradients = std::vector<std::vector<float>>;

Gradients gradients_of(const nn::Module& model) {
  Gradients all;
  for (const nn::Parameter& p : model.parameters()) {
    all.push_back(p.grad().defined() ? p.grad().to_vector<float>() : std::vector<float>{});
  }
  return all;
}

Gradients alone(std::int64_t at_once) {
  set_seed(3);
  const auto model = nn::make<Model>();
  run_passes(model, {{.rank = 0, .slot = 0, .first = 0, .size = kGrain}}, at_once);
  return gradients_of(*model);
}

Gradients parallel(int ranks, std::int64_t at_once) {
  Gradients of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    set_seed(3);
    const auto model = nn::make<Model>();
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto reducer = data_parallel(
        *model, borrowed, {.grain = kGrain, .buckets = {.first_bytes = 32, .bytes = 64}});
    run_passes(model, ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()), at_once);
    if (comm.rank() == ranks - 1) {
      of_last_rank = gradients_of(*model);
    }
  });
  return of_last_rank;
}

TEST(DataParallel, gives_the_bits_of_one_process_on_any_number_of_ranks) {
  const Gradients expected = alone(kGrain);
  ASSERT_FALSE(expected[0].empty());
  ASSERT_FALSE(expected[1].empty());
  EXPECT_TRUE(expected[4].empty());
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    EXPECT_EQ(parallel(ranks, kGrain), expected) << ranks << " ranks";
  }
}

TEST(DataParallel, gives_the_same_bits_however_many_microbatches_share_a_pass) {
  const Gradients expected = alone(kGrain);
  for (const std::int64_t at_once : {1, 2, 4}) {
    EXPECT_EQ(alone(at_once), expected) << at_once << " at once";
    EXPECT_EQ(parallel(2, at_once), expected) << "2 ranks, " << at_once << " at once";
    EXPECT_EQ(parallel(3, at_once), expected) << "3 ranks, " << at_once << " at once";
  }
}

TEST(DataParallel, names_the_ranks_and_the_parameter_that_differ) {
  try {
    run_ranks(2, [](Communicator& comm) {
      set_seed(static_cast<std::uint64_t>(comm.rank()));
      const auto model = nn::make<Model>();
      data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    });
    FAIL();
  } catch (const Desync& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 has positions"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera::dist
