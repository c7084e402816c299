// Sums over a rank's microbatches: bits, memory, and what a step leaves behind.
#include <tessera/dist/parallel/microbatch_sums.h>

#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::dist {
namespace {

constexpr std::int64_t kGlobal = 8;

/// What microbatch `m` brings: so unlike in size that another order of sums gives other bits.
Tensor brought(std::int64_t m) {
  return full({3}, (m % 3 == 0 ? 1e8 : 1.0) + 0.37 * static_cast<double>(m));
}

/// The sum over aligned microbatches, by the tree's definition.
Tensor along_tree(std::int64_t first, std::int64_t count) {
  return count == 1 ? brought(first)
                    : along_tree(first, count / 2) + along_tree(first + count / 2, count / 2);
}

/// Runs `f` in the pass of microbatches [first, first + count).
template <class F>
void in_pass(std::int64_t first, std::int64_t count, bool last, const F& f) {
  Context::current().pass = {
      .grain = kGlobal, .first = first, .count = count, .samples = count, .last = last};
  f();
  Context::current().pass = {};
}

/// Memory that holds other numbers.
std::vector<Tensor> memory_of(const MicrobatchBlocks& blocks) {
  std::vector<Tensor> memory;
  for (std::size_t i = 0; i < blocks.own().size(); ++i) {
    memory.push_back(full({3}, 77));
  }
  return memory;
}

/// Of rank `rank` of `ranks`.
struct Sums {
  Sums(int ranks, int rank) : blocks(kGlobal, ranks, rank) {}
  /// All of the rank's microbatches, `at_once` a pass.
  void run(std::int64_t at_once) {
    for (const TreeLeaf& block : blocks.own()) {
      const std::int64_t step = std::min(at_once, block.size);
      for (std::int64_t m = block.first; m < block.first + block.size; m += step) {
        const bool last = m + step == blocks.own().back().first + blocks.own().back().size;
        in_pass(m, step, last, [&] {
          sums.add(along_tree(m, step));
          if (last) {
            sums.settle();
          }
        });
      }
    }
  }
  MicrobatchBlocks blocks;
  std::vector<Tensor> memory = memory_of(blocks);
  MicrobatchSums sums{blocks, memory};
};

TEST(MicrobatchSums, are_the_trees_however_many_microbatches_a_pass_has) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (const std::int64_t at_once : {1, 2, 4, 8}) {
        Sums of(ranks, rank);
        of.run(at_once);
        for (std::size_t b = 0; b < of.memory.size(); ++b) {
          const TreeLeaf& block = of.blocks.own()[b];
          EXPECT_EQ(of.memory[b].to_vector<float>(),
                    along_tree(block.first, block.size).to_vector<float>())
              << ranks << " ranks, " << at_once << " at once";
        }
        EXPECT_TRUE(of.sums.has_dense());
      }
    }
  }
}

TEST(MicrobatchSums, count_what_was_not_brought_as_zero) {
  Sums of(2, 1);
  in_pass(4, 2, false, [&] { of.sums.add(along_tree(4, 2)); });
  in_pass(6, 2, true, [&] { of.sums.settle(); });
  EXPECT_EQ(of.memory[0].to_vector<float>(), along_tree(4, 2).to_vector<float>());
  of.sums.end_backward();
  in_pass(4, 4, true, [&] { of.sums.settle(); });
  EXPECT_EQ(of.memory[0].to_vector<float>(), std::vector<float>(3, 0));
  EXPECT_FALSE(of.sums.has_dense());
}

TEST(MicrobatchSums, lend_a_blocks_memory_to_passes_that_are_all_of_it) {
  Sums of(2, 0);
  in_pass(0, 2, false, [&] { EXPECT_FALSE(of.sums.destination().defined()); });
  in_pass(0, 4, true, [&] {
    EXPECT_TRUE(of.sums.destination().shares_storage(of.memory[0]));
    EXPECT_TRUE(of.sums.early_destination().shares_storage(of.memory[0]));
    EXPECT_FALSE(of.sums.early_destination().defined());  // another forward has it
    of.sums.add(brought(0));
    of.sums.end_backward();
    EXPECT_TRUE(of.sums.early_destination().defined());
    of.sums.forget();
    of.sums.add(brought(0));
    EXPECT_FALSE(of.sums.early_destination().defined());  // it holds a sum
  });
  in_pass(4, 4, true, [&] { EXPECT_FALSE(of.sums.early_destination().defined()); });
}

TEST(MicrobatchSums, tell_by_the_version_that_memory_is_the_ranks_now) {
  Sums of(1, 0);
  in_pass(0, 8, true, [&] {
    of.sums.add(of.sums.destination());  // as a forward has filled it
    const std::uint32_t before = of.memory[0].version();
    of.sums.settle();
    EXPECT_GT(of.memory[0].version(), before);
  });
}

TEST(MicrobatchSums, forget_what_a_step_left_behind) {
  Sums of(1, 0);
  in_pass(0, 2, false, [&] {
    of.sums.add(brought(0));
    of.sums.add(SparseGradient{.ids = zeros({2}, {.dtype = DType::i64}), .values = zeros({2, 3})});
    EXPECT_EQ(of.sums.row_count(), 2);
  });
  EXPECT_TRUE(of.sums.has_any());
  of.sums.forget();
  EXPECT_FALSE(of.sums.has_any());
  EXPECT_FALSE(of.sums.sparse().defined());
  of.run(2);
  EXPECT_EQ(of.memory[0].to_vector<float>(), along_tree(0, 8).to_vector<float>());
}

}  // namespace
}  // namespace tessera::dist
