// The one pool of threads in a process that kernels run on.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tessera {

namespace detail {
using RangeFunction = void (*)(void* closure, std::int64_t begin, std::int64_t end);
void parallel_ranges(std::int64_t tasks, RangeFunction, void* closure);
}  // namespace detail

/// More than any machine has cores: who asks for more mistyped a number.
inline constexpr int kMostThreads = 8192;
/// Number of threads that kernels use, the caller's included. At first: the cores in the process's
/// affinity mask, or TESSERA_THREADS.
[[nodiscard]] int num_threads();
/// What TESSERA_THREADS asks for; 0 when it asks for nothing. Throws InvalidArgument below 0 and
/// above kMostThreads.
[[nodiscard]] int threads_asked();
/// Changes it; waits for the pool to be idle. Throws InvalidArgument for n < 1 and n >
/// kMostThreads.
void set_num_threads(int n);

/// Ties the pool to cores: the calling thread to core `first_core` of the process's affinity mask
/// (0 is its lowest core), the pool's other threads to the ones after it. For processes that share
/// a host: number of the process on its host times `num_threads()`. Returns false and pins nothing
/// when the mask has too few cores for that. A later set_num_threads that still fits keeps it.
/// Threads that the caller starts afterwards inherit its core: see unpin_this_thread in affinity.h.
bool pin_threads(int first_core);
/// Undoes it, for the calling thread and the pool.
void unpin_threads();

/// Calls `body(i)` for every i in [0, tasks), spread over the pool, and returns when all are done.
///
/// A thread begins with its own share of the tasks, the first thread with the first ones, and then
/// takes what others have not begun: work dealt out in the order of its data finds that data in the
/// core's caches. Which thread runs a task is not fixed, so tasks write disjoint memory, and what a
/// task computes must not depend on num_threads(): cut work by shape. A call from inside a task, or
/// of one task, runs inline; so does a call that finds the pool busy for another thread (ranks may
/// be threads). The pool's threads take on the caller's Context for the call. After the first
/// exception no further task begins, and it is rethrown when those under way have ended.
template <class Body>
void parallel_for(std::int64_t tasks, Body&& body) {
  using Closure = std::remove_reference_t<Body>;
  detail::parallel_ranges(
      tasks,
      [](void* closure, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          (*static_cast<Closure*>(closure))(i);
        }
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace tessera
