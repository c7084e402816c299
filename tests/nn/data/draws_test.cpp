// What a data set draws depends on the seed, the epoch and the sample, and on nothing else.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/random_like.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>

namespace tessera::data {
namespace {

/// Everything that draws, one behind the other.
struct Noise : Dataset<std::pair<Tensor, std::int64_t>> {
  [[nodiscard]] std::int64_t size() const override { return 24; }
  [[nodiscard]] Sample get(std::int64_t index) const override {
    const Tensor x = rand({6}) + randn({6});
    return {x + rand_like(x) + bernoulli(full({6}, 0.5)) + dropout(x, 0.5) +
                cast(multinomial(ones({4}), 6), DType::f32),
            index};
  }
};

/// A row of what was drawn, by epoch and sample.
using Drawn = std::map<std::pair<int, std::int64_t>, std::vector<float>>;

template <class MakeLoader>
Drawn draw(int ranks, const MakeLoader& make_loader) {
  Drawn drawn;
  for (int rank = 0; rank < ranks; ++rank) {
    auto loader = make_loader(rank);
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto& [x, index] : loader) {
        const auto values = x.template to_vector<float>();
        const auto indices = index.template to_vector<std::int64_t>();
        const std::size_t width = values.size() / indices.size();
        for (std::size_t i = 0; i < indices.size(); ++i) {
          const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * width);
          const std::vector<float> own(row, row + static_cast<std::ptrdiff_t>(width));
          EXPECT_TRUE(drawn.emplace(std::pair(epoch, indices[i]), own).second);
        }
      }
    }
  }
  return drawn;
}

LoaderOptions options_of_rank(int rank, int ranks, int workers, std::int64_t at_once) {
  LoaderOptions o{.batch_size = 8, .shuffle = true};
  o.seed = 5;
  o.grain = 4;
  o.at_once = at_once;
  o.rank = rank;
  o.ranks = ranks;
  o.workers = workers;
  return o;
}

void expect_all_differ(const Drawn& drawn) {
  std::set<std::vector<float>> rows;
  for (const auto& [place, row] : drawn) {
    EXPECT_TRUE(rows.insert(row).second) << "epoch " << place.first << " sample " << place.second;
  }
}

TEST(DataDraws, follow_from_seed_epoch_and_sample) {
  const auto run = [](int ranks, int workers, std::int64_t at_once) {
    return draw(ranks, [=](int rank) {
      return DataLoader(Noise(), options_of_rank(rank, ranks, workers, at_once));
    });
  };
  const Drawn expected = run(1, 0, 0);
  EXPECT_EQ(expected.size(), 48);
  expect_all_differ(expected);
  for (const int ranks : {1, 2, 4}) {
    for (const int workers : {0, 1, 3}) {
      for (const std::int64_t at_once : {0, 1, 2}) {
        EXPECT_EQ(run(ranks, workers, at_once), expected)
            << ranks << " ranks, " << workers << " workers, " << at_once << " at once";
      }
    }
  }
}

TEST(DataDraws, leave_those_of_the_program_alone) {
  const ContextScope context(std::make_shared<Context>());
  const auto first = rand({4}).to_vector<float>();
  set_seed(0);
  DataLoader loader(Noise(), {.batch_size = 8, .grain = 1});
  for ([[maybe_unused]] auto& batch : loader) {
    break;
  }
  EXPECT_EQ(rand({4}).to_vector<float>(), first);
}

/// Noise on a whole batch, by sample or for all of it.
struct Collate {
  bool by_sample = true;
  std::pair<Tensor, Tensor> operator()(
      const std::vector<std::pair<Tensor, std::int64_t>>& samples) const {
    std::vector<Tensor> rows;
    std::vector<std::int64_t> indices;
    for (const auto& [x, index] : samples) {
      rows.push_back(x);
      indices.push_back(index);
    }
    const Tensor x = stack(std::vector<TensorRef>(rows.begin(), rows.end()), 0);
    const Tensor noise = by_sample ? rand_like(x) : rand(x.shape());
    return {x + noise, from_values<std::int64_t>(indices, {std::ssize(indices)})};
  }
};

TEST(DataDraws, of_a_batch_are_by_sample) {
  const auto run = [](int ranks, int workers, std::int64_t at_once) {
    return draw(ranks, [=](int rank) {
      return DataLoader(Noise(), options_of_rank(rank, ranks, workers, at_once), Collate{});
    });
  };
  const Drawn expected = run(1, 0, 0);
  expect_all_differ(expected);
  EXPECT_EQ(run(2, 0, 1), expected);
  EXPECT_EQ(run(4, 2, 0), expected);
}

TEST(DataDraws, of_a_batch_for_all_samples_are_refused) {
  DataLoader loader(Noise(), options_of_rank(0, 1, 0, 0), Collate{.by_sample = false});
  EXPECT_THROW(static_cast<void>(loader.begin()), Unsupported);
}

}  // namespace
}  // namespace tessera::data
