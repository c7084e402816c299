#include <tessera/core/base/grain.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing_support::error_of;

TEST(Grain, default_is_the_largest_power_of_two_up_to_eight_that_divides_the_batch) {
  EXPECT_EQ(default_grain(1), 1);
  EXPECT_EQ(default_grain(4), 4);
  EXPECT_EQ(default_grain(12), 4);
  EXPECT_EQ(default_grain(64), 8);
  EXPECT_EQ(default_grain(7), 1);
}

TEST(Grain, shares_cover_all_microbatches_in_order) {
  for (const std::int64_t grain : {1, 2, 8, 32}) {
    for (int ranks = 1; ranks <= grain; ++ranks) {
      std::int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const MicrobatchRange share = share_of_rank(grain, ranks, rank);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.count, grain / ranks);
        EXPECT_LE(share.count, grain / ranks + 1);
        next += share.count;
      }
      EXPECT_EQ(next, grain);
    }
  }
}

TEST(Grain, blocks_are_aligned_powers_of_two) {
  for (std::int64_t first = 0; first < 16; ++first) {
    for (std::int64_t count = 1; first + count <= 16; ++count) {
      for (const std::int64_t largest : {1, 2, 3, 4, 100}) {
        std::int64_t next = first;
        for (const MicrobatchRange& block : aligned_blocks({first, count}, largest)) {
          EXPECT_EQ(block.first, next);
          EXPECT_LE(block.count, largest);
          EXPECT_EQ(block.count & (block.count - 1), 0);
          EXPECT_EQ(block.first % block.count, 0);
          next += block.count;
        }
        EXPECT_EQ(next, first + count);
      }
    }
  }
  EXPECT_EQ(aligned_blocks({3, 5}), (std::vector<MicrobatchRange>{{3, 1}, {4, 4}}));
}

TEST(Grain, errors_name_the_nearest_numbers_that_work) {
  check_grain(24, 8, 8);
  EXPECT_THAT(error_of<InvalidArgument>([] { check_grain(12, 8, 1); }),
              HasSubstr("batch 8 or 16, or grain 4"));
  EXPECT_THAT(error_of<InvalidArgument>([] { check_grain(3, 8, 1); }),
              HasSubstr("batch 8, or grain 1"));
  EXPECT_THAT(error_of<InvalidArgument>([] { check_grain(12, 6, 1); }),
              HasSubstr("expected 4 or 8"));
  EXPECT_THAT(error_of<InvalidArgument>([] { check_grain(16, 8, 9); }),
              HasSubstr("grain 16, or at most 8 ranks"));
  EXPECT_THAT(error_of<InvalidArgument>([] { check_grain(24, 8, 9); }),
              HasSubstr("grain 16 (which needs batch 32), or at most 8 ranks"));
  EXPECT_THROW(check_grain(0, 1, 1), InvalidArgument);
  EXPECT_THROW(check_grain(4, 0, 1), InvalidArgument);
}

}  // namespace
}  // namespace tessera
