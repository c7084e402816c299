#include <tessera/dist/cores.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/device/affinity.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

using Mask = std::array<std::int64_t, 16>;  // of cores 0 to 1023

Mask own_mask() {
  Mask mask{};
  for (const int core : process_cores()) {
    mask[static_cast<std::size_t>(core) / 64 % mask.size()] |= std::int64_t{1} << (core % 64);
  }
  return mask;
}

int count_cores(const Mask& mask) {
  int cores = 0;
  for (const std::int64_t word : mask) {
    cores += std::popcount(static_cast<std::uint64_t>(word));
  }
  return cores;
}

int cores_of_launcher() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(getppid(), sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

/// Said once, by the first rank that has something to say.
void say_once(Communicator& comm, const std::string& advice) {
  const std::int64_t mine = advice.empty() ? 0 : 1;
  std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()));
  all_gather<std::int64_t>(comm, std::span(&mine, 1), std::span(all), "advice").wait();
  if (mine != 0 && std::ranges::find(all, 1) - all.begin() == comm.rank()) {
    log_warning(advice);
  }
}

}  // namespace

CoreShare share_cores(Communicator& comm) {
  const Mask mine = own_mask();
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(comm.size()));
  all_gather<std::int64_t>(comm, mine, std::span(all), "cores").wait();
  CoreShare share{.cores = static_cast<int>(process_cores().size()), .ranks = 0};
  Mask used{};
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank;
    if (comm.host(rank) != comm.host(comm.rank())) {
      continue;
    }
    std::transform(used.begin(), used.end(), at, used.begin(), std::bit_or());
    if (std::equal(mine.begin(), mine.end(), at)) {
      share.before += rank < comm.rank() ? 1 : 0;
      ++share.ranks;
    }
  }
  share.used = count_cores(used);
  share.host = std::max(share.used, cores_of_launcher());
  return share;
}

bool take_cores(Communicator& comm, int threads, bool launched) {
  const CoreShare share = share_cores(comm);
  if (threads == 0) {
    threads = threads_asked() > 0 ? threads_asked() : share.threads();
  }
  set_num_threads(threads);
  say_once(comm, binding_advice(share, threads, launched));
  return threads * share.ranks <= share.cores && pin_threads(share.before * threads);
}

std::string binding_advice(const CoreShare& share, int threads, bool launched) {
  const bool bound = launched && share.cores < share.host;
  const bool idle = bound && share.used < share.host;
  if (!idle && threads <= share.cores) {
    return "";
  }
  const std::string cores = share.cores == 1 ? " core" : " cores";
  return tessera::detail::concat(
      "a rank has ", threads, threads == 1 ? " thread" : " threads", " and may run on ",
      share.cores, cores, bound ? tessera::detail::concat(" of ", share.host) : std::string(),
      bound ? "; mpirun --bind-to none frees the others"
            : "; more threads than cores only cost time");
}

}  // namespace tessera::dist
