// The tree against a serial recursion over [0, grain).
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/reduce/tree.h>
#include <tessera/dist/reduce/tree_sum.h>

#include "support/sum_of_leaves.h"

namespace tessera::dist {
namespace {

using Rows = std::vector<std::vector<float>>;

Rows random_rows(std::size_t n, std::size_t length) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> values(-1.0F, 1.0F);
  Rows rows(n, std::vector<float>(length));
  for (auto& row : rows) {
    for (float& value : row) {
      value = values(generator);
    }
  }
  return rows;
}

std::vector<float> serial_tree(const Rows& rows, std::size_t first, std::size_t size) {
  if (size == 1) {
    return rows[first];
  }
  std::vector<float> left = serial_tree(rows, first, size / 2);
  const std::vector<float> right = serial_tree(rows, first + size / 2, size / 2);
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] += right[i];
  }
  return left;
}

TEST(ReductionTree, DealsContiguousSharesThatDifferByAtMostOne) {
  for (int ranks = 1; ranks <= 16; ++ranks) {
    std::map<int, std::int64_t> held;
    std::int64_t next = 0;
    const ReductionTree tree = ReductionTree::over_grain(16, ranks);
    for (const TreeLeaf& leaf : tree.leaves()) {
      EXPECT_EQ(leaf.first, next);
      EXPECT_EQ(leaf.first % leaf.size, 0);
      EXPECT_EQ(leaf.size & (leaf.size - 1), 0);
      next += leaf.size;
      held[leaf.rank] += leaf.size;
    }
    EXPECT_EQ(next, 16);
    EXPECT_EQ(static_cast<int>(held.size()), ranks);
    for (const auto& [rank, share] : held) {
      EXPECT_TRUE(share == 16 / ranks || share == 16 / ranks + 1) << rank;
    }
    EXPECT_EQ(tree.steps().size(), tree.leaves().size() - 1);
  }
}

TEST(ReductionTree, GivesTheBitsOfTheSerialTreeForEveryNumberOfRanks) {
  for (const std::int64_t grain : {1, 2, 4, 8, 16, 64}) {
    const Rows rows = random_rows(static_cast<std::size_t>(grain), 5000);
    const std::vector<float> expected = serial_tree(rows, 0, rows.size());
    for (int ranks = 1; ranks <= std::min<std::int64_t>(grain, 9); ++ranks) {
      const ReductionTree tree = ReductionTree::over_grain(grain, ranks);
      Rows blocks;
      std::vector<const void*> sources;
      for (const TreeLeaf& leaf : tree.leaves()) {
        blocks.push_back(serial_tree(rows, static_cast<std::size_t>(leaf.first),
                                     static_cast<std::size_t>(leaf.size)));
      }
      for (const auto& block : blocks) {
        sources.push_back(block.data());
      }
      std::vector<float> sum(expected.size());
      sum_leaves(tree, sources, sum.data(), sum.size(), DType::f32);
      EXPECT_EQ(std::memcmp(sum.data(), expected.data(), sum.size() * sizeof(float)), 0)
          << "grain " << grain << ", ranks " << ranks;
    }
  }
}

TEST(ReductionTree, AlignedSharesAreOneBlockARank) {
  for (const int ranks : {1, 2, 4, 8}) {
    EXPECT_EQ(ReductionTree::over_grain(8, ranks).max_blocks(), 1);
  }
  EXPECT_EQ(ReductionTree::over_grain(8, 3).of_rank(0).size(), 2U);  // 2 + 1 microbatches
}

TEST(ReductionTree, RefusesWhatCannotBeDealt) {
  EXPECT_THROW((void)ReductionTree::over_grain(6, 2), InvalidArgument);
  EXPECT_THROW((void)ReductionTree::over_grain(4, 5), InvalidArgument);
  EXPECT_THROW((void)ReductionTree::over_ranks(0), InvalidArgument);
}

TEST(TreeReduce, HalfPrecisionIsAddedInFloatAndRoundedOnce) {
  const std::vector<BFloat16> a{BFloat16(1.0F)};
  const std::vector<BFloat16> b{BFloat16(0x1p-8F)};  // alone it would round away, twice it counts
  const void* sources[] = {a.data(), b.data(), b.data(), b.data()};
  BFloat16 sum;
  sum_leaves(ReductionTree::over_ranks(4), sources, &sum, 1, DType::bf16);
  EXPECT_EQ(static_cast<float>(sum), static_cast<float>(BFloat16(1.0F + 3 * 0x1p-8F)));
}

TEST(TreeReduce, TakesPartialSumsAndGivesThem) {
  const std::vector<BFloat16> raw{BFloat16(1.0F)};
  const std::vector<float> partial{0x1p-12F};
  const std::vector<TreeSource> sources{{raw.data(), false}, {partial.data(), true}};
  const std::vector<TreeStep> steps{{0, 1}};
  float sum = 0;
  void* out = &sum;
  tree_reduce({ReduceOp::sum, DType::bf16, steps, sources, {&out, 1}, 1, true});
  EXPECT_EQ(sum, 1.0F + 0x1p-12F);
}

TEST(TreeReduce, ANanOnEitherSideWinsMinAndMax) {
  const std::vector<float> a{NAN, 1.0F, 2.0F};
  const std::vector<float> b{1.0F, NAN, 3.0F};
  const std::vector<TreeSource> sources{{a.data(), false}, {b.data(), false}};
  const std::vector<TreeStep> steps{{0, 1}};
  std::vector<float> least(3);
  void* out = least.data();
  tree_reduce({ReduceOp::min, DType::f32, steps, sources, {&out, 1}, 3});
  EXPECT_TRUE(std::isnan(least[0]));
  EXPECT_TRUE(std::isnan(least[1]));
  EXPECT_EQ(least[2], 2.0F);
}

TEST(TreeReduce, RefusesWhatADtypeLacks) {
  EXPECT_THROW(check_reducible(ReduceOp::sum, DType::boolean), InvalidArgument);
  EXPECT_THROW(check_reducible(ReduceOp::max, DType::c64), InvalidArgument);
}

}  // namespace
}  // namespace tessera::dist
