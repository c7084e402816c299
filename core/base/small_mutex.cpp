#include <tessera/core/base/small_mutex.h>

#include <thread>

namespace tessera {

void SmallMutex::wait() noexcept {
  do {
    std::this_thread::yield();
  } while (taken_.exchange(true, std::memory_order_acquire));
}

}  // namespace tessera
