// The order of additions against a serial recursion, both written out as text.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/base/grain.h>
#include <tessera/core/base/tree.h>

namespace tessera {
namespace {

/// Contributions by the first index of their aligned block, with its size.
using Blocks = std::map<std::int64_t, std::int64_t>;

std::string name_of(std::int64_t first, std::int64_t size) {
  return std::to_string(first) + (size > 1 ? "x" + std::to_string(size) : "");
}

/// The sum over [first, first + size), a power of two; empty where nothing lies there.
std::string recursion(const Blocks& blocks, std::int64_t first, std::int64_t size) {
  const auto block = blocks.find(first);
  if (block != blocks.end() && block->second == size) {
    return name_of(first, size);
  }
  if (size == 1) {
    return "";
  }
  const std::string left = recursion(blocks, first, size / 2);
  const std::string right = recursion(blocks, first + size / 2, size / 2);
  return left.empty() || right.empty() ? left + right : "(" + left + "+" + right + ")";
}

const auto write = [](std::string& into, const std::string& from) {
  into = "(" + into + "+" + from + ")";
};

/// The tree's sum as text: blocks are taken, or, unless `early`, settled in front of each alone.
std::string walk(const Blocks& blocks, bool early) {
  TreeSum<std::string> tree;
  std::size_t most = 0;
  for (const auto& [first, size] : blocks) {
    if (early) {
      tree.take(first, size, name_of(first, size), write);
    } else {
      tree.settle(first, write);
      tree.push(first + size - 1, name_of(first, size));
    }
    most = std::max(most, tree.size());
  }
  EXPECT_LE(most, 8U) << "more sums wait than the tree over 128 indices has levels";
  tree.finish(write);
  return tree.empty() ? "" : tree.back();
}

TEST(TreeSum, knows_the_sibling_of_the_sum_that_came_in_last) {
  TreeSum<std::string> tree;
  EXPECT_FALSE(tree.is_sibling(0));
  for (std::int64_t index = 0; index < 64; ++index) {
    EXPECT_EQ(tree.is_sibling(index), index % 2 == 1) << index;
    tree.take(index, 1, name_of(index, 1), write);
  }
}

/// Of [0, 128): cut into aligned blocks at random, of which some are absent.
Blocks random_blocks(std::mt19937& generator) {
  Blocks blocks;
  for (std::int64_t at = 0; at < 128;) {
    const std::int64_t largest = std::int64_t{1} << generator() % 6;
    const MicrobatchRange block = aligned_blocks({at, 128 - at}, largest)[0];
    if (generator() % 4 != 0) {
      blocks[block.first] = block.count;
    }
    at += block.count;
  }
  return blocks;
}

TEST(TreeSum, AddsAsARecursionOverHalvesDoes) {
  std::mt19937 generator(11);
  for (int round = 0; round < 300; ++round) {
    const Blocks blocks = random_blocks(generator);
    const std::string expected = recursion(blocks, 0, 128);
    EXPECT_EQ(walk(blocks, true), expected);
    EXPECT_EQ(walk(blocks, false), expected);
  }
  EXPECT_EQ(walk({}, true), "");
}

TEST(TreeSum, AddsSiblingsAsSoonAsBothAreThere) {
  TreeSum<std::string> tree;
  for (std::int64_t part = 0; part < 64; ++part) {
    tree.take(part, 1, name_of(part, 1), write);
    EXPECT_EQ(tree.size(), static_cast<std::size_t>(__builtin_popcountll(part + 1)));
  }
}

TEST(TreeSum, AddsAllPartsOfAnyNumber) {
  for (std::int64_t parts = 1; parts <= 70; ++parts) {
    std::vector<std::string> sums;
    Blocks blocks;
    for (std::int64_t part = 0; part < parts; ++part) {
      sums.push_back(name_of(part, 1));
      blocks[part] = 1;
    }
    add_along_tree(parts, [&](std::int64_t into, std::int64_t from) {
      write(sums[static_cast<std::size_t>(into)], sums[static_cast<std::size_t>(from)]);
    });
    EXPECT_EQ(sums[0], recursion(blocks, 0, 128)) << parts;
  }
}

TEST(TreeSum, AddsBlocksOfNumbers) {
  std::vector<float> blocks{1e8F, 1, -1e8F, 2, 3, 4, 0.5F, 8};
  tree_sum(blocks, 4, 2);
  EXPECT_EQ(blocks[0], (1e8F + -1e8F) + (3 + 0.5F));
  EXPECT_EQ(blocks[1], 15);
}

}  // namespace
}  // namespace tessera
