// What makes batches may not mix samples of several microbatches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/random_like.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

Tensor rows_of(const std::vector<Tensor>& samples) {
  return stack(std::vector<TensorRef>(samples.begin(), samples.end()));
}

/// Sample i is (i, i + 1).
struct Counting : Dataset<Tensor> {
  [[nodiscard]] std::int64_t size() const override { return 16; }
  [[nodiscard]] Tensor get(std::int64_t i) const override {
    return tensor<float>({static_cast<float>(i), static_cast<float>(i + 1)});
  }
};

/// The same, in batches, the samples of which are sorted downwards.
struct Sorted : Counting {
  [[nodiscard]] Tensor get_batch(std::span<const std::int64_t> indices) const {
    std::vector<std::int64_t> sorted(indices.begin(), indices.end());
    std::ranges::sort(sorted, std::greater{});
    std::vector<Tensor> rows;
    for (const std::int64_t i : sorted) {
      rows.push_back(get(i));
    }
    return rows_of(rows);
  }
};

template <class D, class Collate = DefaultCollate>
std::string error_of_epoch(std::int64_t at_once, int workers, D data, Collate collate = {}) {
  DataLoader loader(std::move(data),
                    {.batch_size = 8, .workers = workers, .grain = 4, .at_once = at_once},
                    std::move(collate));
  return error_of<InvalidArgument>([&] {
    for ([[maybe_unused]] auto& batch : loader) {
    }
  });
}

struct MixedUp {
  Tensor operator()(const std::vector<Tensor>& samples) const {
    const Tensor x = rows_of(samples);
    return 0.75 * x + 0.25 * flip(x, {0});
  }
};

struct Centered {
  Tensor operator()(const std::vector<Tensor>& samples) const {
    const Tensor x = rows_of(samples);
    return x - mean(x, {0}, true);
  }
};

/// Draws for each sample, as augmentation does.
struct Noisy {
  Tensor operator()(const std::vector<Tensor>& samples) const {
    const Tensor x = rows_of(samples);
    return x + randn_like(x);
  }
};

TEST(Mixing, of_samples_of_several_microbatches_is_refused) {
  for (const int workers : {0, 1}) {
    for (const std::int64_t at_once : {0, 2}) {
      EXPECT_THAT(error_of_epoch(at_once, workers, Counting(), MixedUp()),
                  HasSubstr("depends on others of its pass"));
      EXPECT_THAT(error_of_epoch(at_once, workers, Counting(), Centered()),
                  HasSubstr("LoaderOptions::at_once = 1"));
      EXPECT_THAT(error_of_epoch(at_once, workers, Sorted()), HasSubstr("in microbatch 0"));
    }
  }
}

TEST(Mixing, inside_a_microbatch_is_fine) {
  EXPECT_EQ(error_of_epoch(1, 0, Counting(), MixedUp()), "no error");
  EXPECT_EQ(error_of_epoch(1, 0, Counting(), Centered()), "no error");
  EXPECT_EQ(error_of_epoch(1, 0, Sorted()), "no error");
}

TEST(Mixing, what_each_sample_gets_by_itself_is_fine) {
  for (const std::int64_t at_once : {0, 1, 2}) {
    EXPECT_EQ(error_of_epoch(at_once, 0, Counting(), Noisy()), "no error");
    EXPECT_EQ(error_of_epoch(at_once, 0, Counting()), "no error");
  }
}

}  // namespace
}  // namespace tessera::data
