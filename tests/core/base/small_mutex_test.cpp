#include <tessera/core/base/small_mutex.h>

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace tessera {
namespace {

TEST(SmallMutex, lets_one_thread_in_at_a_time) {
  SmallMutex mutex;
  std::int64_t count = 0;  // torn where two are in
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::lock_guard lock(mutex);
        count = count + 1;
        if (i % 1000 == 0) {
          std::this_thread::yield();  // the others come, and wait
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 80000);
}

}  // namespace
}  // namespace tessera
