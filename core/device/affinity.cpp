#include <tessera/core/device/affinity.h>

#include <algorithm>
#include <thread>

#include <sched.h>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

std::vector<int> read_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &mask)) {
        cores.push_back(core);
      }
    }
  }
  if (cores.empty()) {  // more cores than a plain mask holds
    const int count = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    for (int core = 0; core < count; ++core) {
      cores.push_back(core);
    }
  }
  return cores;
}

bool set_mask(const int* cores, int count) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int i = 0; i < count; ++i) {
    if (cores[i] < CPU_SETSIZE) {
      CPU_SET(cores[i], &mask);
    }
  }
  return sched_setaffinity(0, sizeof(mask), &mask) == 0;
}

}  // namespace

const std::vector<int>& process_cores() {
  static const std::vector<int> cores = read_cores();
  return cores;
}

bool pin_this_thread(int index) {
  const auto& cores = process_cores();
  const int count = static_cast<int>(cores.size());
  check(index >= 0 && index < count, "pin_this_thread: no such core; got ", index,
        ", expected 0 to ", count - 1);
  return set_mask(&cores[static_cast<std::size_t>(index)], 1);
}

bool unpin_this_thread() {
  const auto& cores = process_cores();
  return set_mask(cores.data(), static_cast<int>(cores.size()));
}

}  // namespace tessera
