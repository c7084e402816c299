// One number of every rank, compared on all of them.
#include <tessera/dist/parallel/fingerprint_exchange.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>

#include <tessera/dist/comm/loopback.h>

namespace tessera::dist {
namespace {

TEST(FingerprintExchange, finds_the_one_rank_that_differs_on_every_rank) {
  for (int odd = -1; odd < 3; ++odd) {
    run_ranks(3, [odd](Communicator& comm) {
      FingerprintExchange exchange;
      EXPECT_FALSE(exchange.under_way());
      for (int step = 0; step < 3; ++step) {
        const std::uint64_t mine = (1ULL << 63) + (comm.rank() == odd ? 1 : 0);
        exchange.begin(comm, mine, "numbers");
        EXPECT_TRUE(exchange.under_way());
        EXPECT_EQ(exchange.all_equal(), odd < 0);
        exchange.end();
        EXPECT_FALSE(exchange.under_way());
      }
    });
  }
}

TEST(FingerprintExchange, is_not_under_way_where_its_launch_was_refused) {
  const auto ranks = make_loopback(2);
  ranks[0]->abort(std::make_exception_ptr(CommError("stop")));
  FingerprintExchange exchange;
  EXPECT_THROW(exchange.begin(*ranks[0], 1, "numbers"), CommError);
  EXPECT_FALSE(exchange.under_way());
}

}  // namespace
}  // namespace tessera::dist
