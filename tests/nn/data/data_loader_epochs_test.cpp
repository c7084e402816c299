// Loops over epochs, workers, collating, and random transforms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/subset.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/data/transforms/transformed.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Numbers = std::vector<std::vector<std::int64_t>>;
using testing_support::error_of;

TensorDataset<1> numbers(std::int64_t n) {
  return TensorDataset(arange(n));
}

/// The batches of one loop.
template <class L>
Numbers loop(L& loader) {
  Numbers batches;
  for (auto& [x] : loader) {
    batches.push_back(x.template to_vector<std::int64_t>());
  }
  return batches;
}

TEST(DataLoaderEpochs, a_loop_is_an_epoch_and_the_last_batch_may_be_short) {
  DataLoader loader(numbers(7), {.batch_size = 3});
  EXPECT_EQ(loader.batches_per_epoch(), 3);
  EXPECT_EQ(loader.grain(), 1);  // divides 3 and 1
  const Numbers expected{{0, 1, 2}, {3, 4, 5}, {6}};
  EXPECT_EQ(loop(loader), expected);
  EXPECT_EQ(loader.epoch(), 1);
  EXPECT_EQ(loop(loader), expected);
  EXPECT_EQ(loader.position(), 6);
}

TEST(DataLoaderEpochs, drop_last_leaves_the_short_batch_out) {
  DataLoader loader(numbers(7), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(loop(loader), (Numbers{{0, 1, 2}, {3, 4, 5}}));
  DataLoader shuffled(numbers(7), {.batch_size = 3, .shuffle = true, .drop_last = true, .seed = 1});
  EXPECT_NE(loop(shuffled), loop(shuffled));
}

TEST(DataLoaderEpochs, shuffled_epochs_have_every_sample_once) {
  DataLoader loader(numbers(50), {.batch_size = 8, .shuffle = true, .seed = 3});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> all;
    for (const auto& batch : loop(loader)) {
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_FALSE(std::ranges::is_sorted(all));
    std::ranges::sort(all);
    EXPECT_EQ(all, arange(50).to_vector<std::int64_t>());
  }
}

TEST(DataLoaderEpochs, steps_end_a_loop_inside_an_epoch) {
  DataLoader loader(numbers(10), {.batch_size = 4, .steps = 5});
  EXPECT_EQ(loop(loader), (Numbers{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  EXPECT_EQ(loop(loader).size(), 2U);
  EXPECT_EQ(loop(loader).size(), 0U);
}

TEST(DataLoaderEpochs, ranks_share_a_short_batch_that_the_grain_divides) {
  Numbers of_rank[2];
  for (int rank = 0; rank < 2; ++rank) {
    DataLoader loader(numbers(12), {.batch_size = 8, .rank = rank, .ranks = 2});
    EXPECT_EQ(loader.grain(), 4);  // divides 8 and 4
    for (auto& [x] : loader) {
      EXPECT_EQ(x.microbatches().count, 2);
      of_rank[rank].push_back(x.to_vector<std::int64_t>());
    }
  }
  EXPECT_EQ(of_rank[0], (Numbers{{0, 1, 2, 3}, {8, 9}}));
  EXPECT_EQ(of_rank[1], (Numbers{{4, 5, 6, 7}, {10, 11}}));
}

TEST(DataLoaderEpochs, a_short_batch_that_ranks_cannot_share_is_refused) {
  const auto making = [](const LoaderOptions& options) {
    return [options] { const DataLoader loader(numbers(37), options); };
  };
  LoaderOptions options{.batch_size = 32, .rank = 0, .ranks = 2};
  EXPECT_THAT(error_of<InvalidArgument>(making(options)),
              HasSubstr("does not divide an epoch's last batch; got 5 samples and grain 8, "
                        "expected drop_last or join_epochs"));
  options.drop_last = true;
  EXPECT_EQ(error_of<InvalidArgument>(making(options)), "no error");
}

TEST(DataLoaderEpochs, a_state_taken_inside_an_epoch_resumes_there) {
  const LoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 9};
  DataLoader whole(numbers(30), options);
  const Numbers first = loop(whole);
  DataLoader begun(numbers(30), options);
  Numbers joined;
  for (auto& [x] : begun) {
    joined.push_back(x.to_vector<std::int64_t>());
    if (begun.position() == 3) {
      break;
    }
  }
  DataLoader resumed(numbers(30), options);
  resumed.load_state(begun.state());
  for (const auto& batch : loop(resumed)) {
    joined.push_back(batch);
  }
  EXPECT_EQ(joined, first);
  EXPECT_EQ(loop(resumed), loop(whole));  // the second epoch
}

/// Numbers, one of which cannot be read, and slow ones; counts reads under way.
struct Fragile : Dataset<std::pair<std::int64_t, float>> {
  std::int64_t broken = -1;
  std::chrono::microseconds delay{0};
  std::shared_ptr<std::atomic<int>> reads = std::make_shared<std::atomic<int>>(0);

  [[nodiscard]] std::int64_t size() const override { return 64; }
  [[nodiscard]] Sample get(std::int64_t index) const override {
    ++*reads;
    std::this_thread::sleep_for(delay * (index % 5));
    check<IoError>(index != broken, "disk: cannot read");
    return {index, static_cast<float>(index) / 2};
  }
};

TEST(DataLoaderWorkers, any_number_gives_the_same_batches_in_order) {
  Fragile dataset;
  dataset.delay = std::chrono::microseconds(20);
  for (const int workers : {0, 1, 2, 5}) {
    for (const std::int64_t prefetch : {0, 1, 7}) {
      DataLoader loader(dataset, {.batch_size = 4, .workers = workers, .prefetch = prefetch});
      std::int64_t next = 0;
      for (auto& [x, y] : loader) {
        EXPECT_EQ(y.dtype(), DType::f32);
        for (const std::int64_t value : x.to_vector<std::int64_t>()) {
          EXPECT_EQ(value, next++);
        }
      }
      EXPECT_EQ(next, 64);
    }
  }
}

TEST(DataLoaderWorkers, an_error_comes_out_at_its_batch_and_names_the_sample) {
  for (const int workers : {0, 1, 3}) {
    Fragile dataset;
    dataset.broken = 22;
    DataLoader loader(dataset, {.batch_size = 4, .workers = workers});
    std::int64_t seen = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {  // the next loop begins with the same batch
      try {
        for (auto& [x, y] : loader) {
          seen += x.numel();
        }
        FAIL() << "no error";
      } catch (const IoError& error) {
        EXPECT_STREQ(error.what(), "disk: cannot read (sample 22 of the data set)");
        EXPECT_THROW(std::rethrow_if_nested(error), IoError);
      }
      EXPECT_EQ(seen, 20);
      EXPECT_EQ(loader.position(), 5);
    }
  }
}

TEST(DataLoaderWorkers, a_loader_may_go_while_they_read) {
  Fragile dataset;
  dataset.delay = std::chrono::milliseconds(1);
  for (int i = 0; i < 20; ++i) {
    DataLoader loader(dataset, {.batch_size = 4, .workers = 3, .prefetch = 12});
    auto batch = loader.begin();
    EXPECT_EQ((*batch).first.numel(), 4);
  }
  EXPECT_LT(*dataset.reads, 20 * 64);  // what had not begun was dropped
}

TEST(DataLoaderWorkers, begin_nothing_behind_the_end_of_a_loop) {
  Fragile dataset;
  DataLoader loader(dataset, {.batch_size = 4, .steps = 2, .workers = 2, .prefetch = 9});
  for (auto& [x, y] : loader) {
    EXPECT_EQ(x.numel(), y.numel());
  }
  EXPECT_EQ(*dataset.reads, 8);
}

/// Adds a random number below 1000 to each sample.
struct Jitter {
  Tensor operator()(const Tensor& x, Random& random) const {
    return scalar(x.item() + static_cast<double>(random.below(1000)), {.dtype = DType::f64});
  }
};

/// What each (epoch, place) became, over two epochs.
std::map<std::pair<std::int64_t, std::int64_t>, double> jittered(LoaderOptions options) {
  DataLoader loader(transform(numbers(24), Jitter()), options);
  std::map<std::pair<std::int64_t, std::int64_t>, double> seen;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& [x] : loader) {
      const std::int64_t first = (static_cast<std::int64_t>(Context::current().step) - 1) % 3 * 8 +
                                 Context::current().pass.first_sample;
      const auto values = x.to_vector<double>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        seen[{epoch, first + static_cast<std::int64_t>(i)}] = values[i];
      }
    }
  }
  return seen;
}

TEST(DataLoaderRandom, what_a_sample_becomes_depends_on_seed_epoch_and_place_alone) {
  LoaderOptions options{.batch_size = 8, .shuffle = true, .seed = 5};
  const auto expected = jittered(options);
  ASSERT_EQ(expected.size(), 48U);
  EXPECT_NE(expected.at({0, 0}), expected.at({1, 0}));
  for (const int workers : {0, 3}) {
    options.workers = workers;
    EXPECT_EQ(jittered(options), expected);
    std::map<std::pair<std::int64_t, std::int64_t>, double> together;
    for (int rank = 0; rank < 4; ++rank) {
      LoaderOptions of_rank = options;
      of_rank.rank = rank;
      of_rank.ranks = 4;
      of_rank.at_once = 1;
      together.merge(jittered(of_rank));
    }
    EXPECT_EQ(together, expected);
  }
  options.seed = 6;
  EXPECT_NE(jittered(options), expected);
}

/// Samples of many kinds.
struct Mixed : Dataset<std::tuple<Tensor, int, std::string, bool>> {
  [[nodiscard]] std::int64_t size() const override { return 3; }
  [[nodiscard]] Sample get(std::int64_t index) const override {
    return {full({2}, static_cast<double>(index)), static_cast<int>(index), std::to_string(index),
            index == 1};
  }
};

TEST(DataLoaderCollate, parts_are_brought_together_by_their_kind) {
  DataLoader loader(Mixed(), {.batch_size = 3, .grain = 1});
  for (auto& [x, number, text, flag] : loader) {
    EXPECT_THAT(x.to_vector<int>(), ElementsAre(0, 0, 1, 1, 2, 2));
    EXPECT_EQ(x.shape(), Shape({3, 2}));
    EXPECT_EQ(number.dtype(), DType::i64);
    EXPECT_THAT(number.to_vector<int>(), ElementsAre(0, 1, 2));
    EXPECT_THAT(text, ElementsAre("0", "1", "2"));
    EXPECT_EQ(flag.dtype(), DType::boolean);
    EXPECT_THAT(flag.to_vector<int>(), ElementsAre(0, 1, 0));
  }
}

/// Sequences of unequal length.
struct Growing : Dataset<Tensor> {
  [[nodiscard]] std::int64_t size() const override { return 4; }
  [[nodiscard]] Sample get(std::int64_t index) const override { return arange(index + 1); }
};

TEST(DataLoaderCollate, a_function_of_ones_own_makes_the_batch) {
  const auto mask = [](const std::vector<Tensor>& samples) {
    Tensor padded = zeros({std::ssize(samples), 4}, {.dtype = DType::i64});
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::fill_n(padded.data<std::int64_t>() + i * 4, samples[i].numel(), 1);
    }
    return padded;
  };
  DataLoader loader(Growing(), {.batch_size = 4}, mask);
  for (auto& x : loader) {
    EXPECT_EQ(x.microbatches().count, 4);
    EXPECT_THAT(x.to_vector<int>(), ElementsAre(1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1));
  }
}

TEST(DataLoaderCollate, maps_and_lists_get_their_borders_too) {
  const auto by_name = [](std::vector<Tensor> samples) {
    const Tensor first = zeros({std::ssize(samples)});
    return std::map<std::string, std::vector<Tensor>>{{"x", {first, ones({4, 2})}}, {"none", {}}};
  };
  DataLoader loader(Growing(), {.batch_size = 4}, by_name);
  for (auto& batch : loader) {
    ASSERT_EQ(batch.at("x").size(), 2U);
    EXPECT_EQ(batch.at("x")[0].microbatches().count, 4);
    EXPECT_EQ(batch.at("x")[1].microbatches().count, 4);
  }
}

TEST(DataLoaderCollate, says_what_does_not_fit) {
  DataLoader ragged(Growing(), {.batch_size = 4});
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { static_cast<void>(ragged.begin()); }),
      HasSubstr("samples of a batch differ; got i64 (2,) as number 1 and i64 (1,) as number 0, "
                "expected one dtype and shape (samples 1 and 0 of the data set)"));
  const auto sum = [](const std::vector<Tensor>&) { return zeros({3}); };
  DataLoader odd(Growing(), {.batch_size = 4}, sum);
  EXPECT_THAT(error_of<InvalidArgument>([&] { static_cast<void>(odd.begin()); }),
              HasSubstr("does not hold the samples along dim 0; got shape (3,), expected 4"));
  EXPECT_THAT(error_of<InvalidArgument>([] { DataLoader(numbers(0)); }),
              HasSubstr("the data set is empty"));
}

TEST(DataLoaderEpochs, takes_a_data_set_known_by_its_interface_alone) {
  using Any = Dataset<std::pair<std::int64_t, float>>;
  DataLoader<Any> loader(std::shared_ptr<const Any>(std::make_shared<Fragile>()),
                         {.batch_size = 32});
  int batches = 0;
  for (auto& [x, y] : loader) {
    EXPECT_EQ(x.numel(), 32);
    ++batches;
  }
  EXPECT_EQ(batches, 2);
}

}  // namespace
}  // namespace tessera::data
