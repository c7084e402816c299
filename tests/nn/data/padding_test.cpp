// Batches that a collate pads to their longest sample: the padding may not depend on what shares a
// pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using testing_support::error_of;

/// Sample i is `lengths[i]` ones.
struct Ragged : Dataset<Tensor> {
  explicit Ragged(std::vector<std::int64_t> l) : lengths(std::move(l)) {}
  [[nodiscard]] std::int64_t size() const override { return std::ssize(lengths); }
  [[nodiscard]] Tensor get(std::int64_t i) const override {
    return ones({lengths[static_cast<std::size_t>(i)]});
  }
  std::vector<std::int64_t> lengths;
};

struct PadToLongest {
  Tensor operator()(const std::vector<Tensor>& samples) const {
    std::int64_t longest = 0;
    for (const Tensor& sample : samples) {
      longest = std::max(longest, sample.numel());
    }
    Tensor batch = zeros({std::ssize(samples), longest});
    for (std::int64_t i = 0; i < std::ssize(samples); ++i) {
      const auto values = samples[static_cast<std::size_t>(i)].to_vector<float>();
      std::ranges::copy(values, batch.data<float>() + i * longest);
    }
    return batch;
  }
};

std::vector<std::int64_t> sizes_seen(std::vector<std::int64_t> lengths, LoaderOptions options) {
  options.batch_size = 8;
  options.grain = 4;
  DataLoader loader(Ragged(std::move(lengths)), options, PadToLongest());
  std::vector<std::int64_t> sizes;
  for (const Tensor& batch : loader) {
    sizes.push_back(batch.size(1));
  }
  return sizes;
}

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Padding, another_length_in_another_pass_of_the_batch_is_an_error) {
  const std::string text = error_of<InvalidArgument>([] {
    (void)sizes_seen({1, 2, 3, 4, 5, 5, 5, 7}, {.at_once = 2});
  });
  EXPECT_THAT(text, HasSubstr("got (7,) in pass 1, expected (4,) as in pass 0"));
  EXPECT_THAT(text, HasSubstr("LoaderOptions::at_once = 1 each microbatch to its own"));
}

TEST(Padding, a_pass_that_was_refused_comes_again) {
  DataLoader loader(Ragged({1, 2, 3, 4, 5, 5, 5, 7, 1, 1, 1, 1, 1, 1, 1, 1}),
                    {.batch_size = 8, .workers = 2, .prefetch = 4, .grain = 4, .at_once = 2},
                    PadToLongest());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string text = error_of<InvalidArgument>([&] {
      for (const Tensor& batch : loader) {
        EXPECT_EQ(batch.size(1), 4);
      }
    });
    EXPECT_THAT(text, HasSubstr("got (7,)"));  // not the next batch's 1
  }
}

TEST(Padding, one_length_a_batch_is_fine_and_batches_may_differ) {
  EXPECT_THAT(sizes_seen({1, 7, 3, 4, 5, 5, 5, 7, 1, 1, 2, 1, 1, 1, 1, 2}, {.at_once = 2}),
              ElementsAre(7, 7, 2, 2));
  EXPECT_THAT(sizes_seen({1, 2, 3, 4, 5, 5, 5, 7}, {}), ElementsAre(7));
}

TEST(Padding, microbatches_alone_and_evaluation_pad_as_they_like) {
  EXPECT_THAT(sizes_seen({1, 2, 3, 4, 5, 5, 5, 7}, {.at_once = 1}), ElementsAre(2, 4, 5, 7));
  EXPECT_THAT(sizes_seen({1, 2, 3, 4, 5, 5, 5, 7}, {.at_once = 2, .counts_steps = false}),
              ElementsAre(4, 7));
}

}  // namespace
}  // namespace tessera::data
