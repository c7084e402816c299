// Where parameters and their gradients lie, and who owns them.
#include <tessera/dist/parallel/bucket_layout.h>

#include <gtest/gtest.h>

#include <set>

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/module.h>
#include <tessera/nn/ownership.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

struct Several : nn::Module {
  nn::Parameter first{this, "first", {3, 5}, toy::fill_uniform};
  nn::Parameter second{this, "second", {1}, toy::fill_uniform};
  nn::Parameter third{this, "third", {4, nn::kNormBlock}, toy::fill_uniform};
  nn::Parameter fourth{this, "fourth", {0}, toy::fill_uniform};
};

TEST(Buckets, hold_parameters_from_the_last_to_the_first_at_whole_cache_lines) {
  const auto model = nn::make<Several>();
  const std::vector<Bucket> buckets = make_buckets(model->parameters(), {.bytes = 64});
  std::vector<std::string> names;
  std::int64_t end = 0;
  for (const Bucket& bucket : buckets) {
    EXPECT_EQ(bucket.offset, end);
    for (const BucketEntry& entry : bucket.entries) {
      names.push_back(entry.slot->name);
      EXPECT_EQ(entry.offset, end);
      EXPECT_EQ(entry.offset % 16, 0);
      end = (entry.offset + entry.count + 15) / 16 * 16;
    }
    EXPECT_EQ(bucket.offset + bucket.count, end);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"fourth", "third", "second", "first"}));
  EXPECT_EQ(flat_count(buckets), end);
  EXPECT_GT(buckets.size(), 1U);
}

TEST(Buckets, lay_the_sums_over_blocks_of_microbatches_apart) {
  const auto model = nn::make<Several>();
  const std::vector<Bucket> buckets = make_buckets(model->parameters(), {.bytes = 64});
  for (const int most : {1, 3}) {
    std::set<std::int64_t> taken;
    std::size_t elements = 0;
    for (const Bucket& bucket : buckets) {
      for (const BucketEntry& entry : bucket.entries) {
        for (std::size_t block = 0; block < static_cast<std::size_t>(most); ++block) {
          const std::int64_t at = gradient_offset(bucket, entry, block, most);
          EXPECT_GE(at, bucket.offset * most);
          EXPECT_LE(at + entry.count, (bucket.offset + bucket.count) * most);
          for (std::int64_t i = 0; i < std::min<std::int64_t>(entry.count, 100); ++i, ++elements) {
            taken.insert(at + i);
          }
        }
      }
    }
    EXPECT_EQ(taken.size(), elements) << most;
  }
}

TEST(Buckets, are_dealt_out_at_blocks_of_norms_and_whole_where_one_rank_owns_all) {
  const auto model = nn::make<Several>();
  std::vector<Bucket> buckets = make_buckets(model->parameters(), {});
  for (const bool whole : {false, true}) {
    for (const int ranks : {1, 2, 3, 7}) {
      for (Bucket& bucket : buckets) {
        for (BucketEntry& entry : bucket.entries) {
          entry.whole = whole;
        }
      }
      const std::vector<std::int64_t> borders = deal_out(buckets, ranks);
      ASSERT_EQ(std::ssize(borders), ranks + 1);
      EXPECT_EQ(borders.front(), 0);
      EXPECT_EQ(borders.back(), flat_count(buckets));
      EXPECT_TRUE(std::ranges::is_sorted(borders));
      for (const Bucket& bucket : buckets) {
        for (const BucketEntry& entry : bucket.entries) {
          for (const std::int64_t border : borders) {
            const std::int64_t inside = border - entry.offset;
            const bool within = inside > 0 && inside < entry.count;
            EXPECT_TRUE(!within || (!whole && inside % nn::kNormBlock == 0)) << border;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::dist
