#include <array>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/shard_rule.h>

namespace tessera {
namespace {

constexpr std::int8_t kRow = 0, kInner = 1, kColumn = 2;

DimLabels labels(std::initializer_list<std::int8_t> of_dims) {
  DimLabels result(static_cast<int>(of_dims.size()));
  int d = 0;
  for (const std::int8_t label : of_dims) {
    result[d++] = label;
  }
  return result;
}

/// {ik, kj} -> ij, and the largest element of each row.
ShardRule product_and_maxima() {
  ShardRule rule{.partial = ShardRule::Partial::sum};
  rule.inputs.push_back(labels({kRow, kInner}));
  rule.inputs.push_back(labels({kInner, kColumn}));
  rule.outputs.push_back(labels({kRow, kColumn}));
  rule.outputs.push_back(labels({kRow}));
  return rule;
}

AxisUse follow_product(std::int8_t a, std::int8_t b) {
  return follow(product_and_maxima(), std::array{a, b});
}

TEST(Follow, a_label_of_all_outputs_is_carried_on) {
  const AxisUse use = follow_product(0, -1);
  EXPECT_EQ(use.label, kRow);
  EXPECT_EQ(use.output_dims[0], 0);
  EXPECT_EQ(use.output_dims[1], 0);
  EXPECT_FALSE(use.sums);
  EXPECT_EQ(use.conflict, -1);
}

TEST(Follow, a_label_that_an_output_lacks_is_summed_over) {
  const AxisUse inner = follow_product(1, 0);
  EXPECT_EQ(inner.label, kInner);
  EXPECT_EQ(inner.output_dims[0], -1);
  EXPECT_TRUE(inner.sums);
  const AxisUse column = follow_product(-1, 1);
  EXPECT_EQ(column.output_dims[0], 1);
  EXPECT_EQ(column.output_dims[1], -1);
  EXPECT_TRUE(column.sums);
}

TEST(Follow, two_labels_are_a_conflict_of_the_second_input) {
  EXPECT_EQ(follow_product(0, 0).conflict, 1);
  EXPECT_EQ(follow_product(1, 1).conflict, 1);
}

TEST(Follow, a_dim_without_a_label_is_a_conflict) {
  ShardRule softmax;
  softmax.inputs.push_back(labels({kRow, DimLabels::kWhole}));
  softmax.outputs.push_back(labels({kRow, DimLabels::kWhole}));
  EXPECT_EQ(follow(softmax, std::array<std::int8_t, 1>{1}).conflict, 0);
  EXPECT_EQ(follow(softmax, std::array<std::int8_t, 1>{0}).conflict, -1);
}

TEST(Follow, what_is_whole_stays_whole_and_sums_over_nothing) {
  const AxisUse use = follow_product(-1, -1);
  EXPECT_EQ(use.label, DimLabels::kWhole);
  EXPECT_EQ(use.output_dims[0], -1);
  EXPECT_FALSE(use.sums);
  EXPECT_EQ(use.conflict, -1);
}

}  // namespace
}  // namespace tessera
