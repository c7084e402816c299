// Ranks of one host share its cores.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <thread>

#include <tessera/core/device/affinity.h>
#include <tessera/core/device/thread_pool.h>

#include "world.h"

namespace tessera::dist {
namespace {

TEST(CoresOverMpi, EveryRankHasItsShareAndKeepsToIt) {
  const int cores = static_cast<int>(process_cores().size());
  const int ranks = test_world().local_size();
  const bool bound = cores < static_cast<int>(std::thread::hardware_concurrency());
  if (std::getenv("TESSERA_THREADS") == nullptr && !bound) {
    EXPECT_EQ(num_threads(), std::max(1, cores / ranks));
  }
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_EQ(CPU_COUNT(&mask), bound || num_threads() * ranks <= cores ? 1 : cores);
}

}  // namespace
}  // namespace tessera::dist
