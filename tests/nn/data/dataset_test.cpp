// Data sets made of tensors and of other data sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/concat_dataset.h>
#include <tessera/nn/data/subset.h>
#include <tessera/nn/data/tensor_dataset.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::error_of;

/// Rows (10 i, 10 i + 1) with label i.
TensorDataset<2> rows(std::int64_t n) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<float>(10 * i));
    values.push_back(static_cast<float>(10 * i + 1));
  }
  return TensorDataset(from_values(std::span<const float>(values), {n, 2}), arange(n));
}

TEST(TensorDataset, samples_are_rows) {
  const auto dataset = rows(4);
  EXPECT_EQ(dataset.size(), 4);
  const auto [x, label] = dataset.get(3);
  EXPECT_EQ(x.shape(), Shape({2}));
  EXPECT_THAT(x.to_vector<float>(), ElementsAre(30, 31));
  EXPECT_EQ(label.shape(), Shape({}));
  EXPECT_EQ(label.item<std::int64_t>(), 3);
  EXPECT_THAT(error_of<InvalidArgument>([&] { static_cast<void>(dataset.get(4)); }),
              HasSubstr("no such sample; got 4, expected 0 to 3"));
}

TEST(TensorDataset, a_batch_is_the_rows_one_below_the_other) {
  const std::vector<std::int64_t> indices{2, 0, 2};
  const auto [x, labels] = rows(4).get_batch(indices);
  EXPECT_EQ(x.shape(), Shape({3, 2}));
  EXPECT_THAT(x.to_vector<float>(), ElementsAre(20, 21, 0, 1, 20, 21));
  EXPECT_EQ(labels.dtype(), DType::i64);
  EXPECT_THAT(labels.to_vector<std::int64_t>(), ElementsAre(2, 0, 2));
}

TEST(TensorDataset, takes_strided_tensors_and_refuses_unequal_ones) {
  const Tensor x = from_values({0, 1, 2, 3, 4, 5}, {3, 2});
  const Tensor column = select(x, 1, 1);
  const std::vector<std::int64_t> indices{2, 1};
  EXPECT_THAT(TensorDataset(column).get_batch(indices)[0].to_vector<int>(), ElementsAre(5, 3));
  EXPECT_THAT(error_of<InvalidArgument>([&] { TensorDataset(x, arange(4)); }),
              HasSubstr("unequal first dims; got 4, expected 3"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { TensorDataset(scalar(1)); }),
              HasSubstr("without dims"));
}

TEST(Subset, renames_samples) {
  const Subset subset(rows(5), {4, 1});
  EXPECT_EQ(subset.size(), 2);
  EXPECT_EQ(subset.get(0)[1].item<std::int64_t>(), 4);
  const std::vector<std::int64_t> indices{1, 0};
  EXPECT_THAT(subset.get_batch(indices)[1].to_vector<std::int64_t>(), ElementsAre(1, 4));
  EXPECT_NE(subset.facts(), Subset(rows(5), {4, 2}).facts());
  EXPECT_THAT(error_of<InvalidArgument>([] { Subset(rows(5), {5}); }),
              HasSubstr("got 5, expected 0 to 4"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { static_cast<void>(subset.get(2)); }),
              HasSubstr("got 2"));
}

TEST(Subset, random_split_deals_every_sample_once) {
  const auto parts = random_split(rows(20), {15, 5}, 7);
  ASSERT_EQ(parts.size(), 2U);
  std::set<std::int64_t> seen(parts[0].indices().begin(), parts[0].indices().end());
  EXPECT_EQ(seen.size(), 15U);
  EXPECT_EQ(parts[1].size(), 5);
  seen.insert(parts[1].indices().begin(), parts[1].indices().end());
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(random_split(rows(20), {15, 5}, 7)[1].indices(), parts[1].indices());
  EXPECT_NE(random_split(rows(20), {15, 5}, 8)[1].indices(), parts[1].indices());
  EXPECT_THAT(error_of<InvalidArgument>([] {
                static_cast<void>(random_split(rows(20), {15, 4}, 7));
              }),
              HasSubstr("got 19, expected 20"));
}

TEST(ConcatDataset, goes_from_one_part_to_the_next) {
  const ConcatDataset<TensorDataset<2>> all({rows(2), rows(0), rows(3)});
  EXPECT_EQ(all.size(), 5);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < all.size(); ++i) {
    labels.push_back(all.get(i)[1].item<std::int64_t>());
  }
  EXPECT_THAT(labels, ElementsAre(0, 1, 0, 1, 2));
  EXPECT_THAT(error_of<InvalidArgument>([&] { static_cast<void>(all.get(5)); }),
              HasSubstr("got 5"));
}

}  // namespace
}  // namespace tessera::data
