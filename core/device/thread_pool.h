// The one pool of threads in a process that kernels run on.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tessera {

namespace detail {
using RangeFunction = void (*)(void* closure, std::int64_t begin, std::int64_t end);
void parallel_ranges(std::int64_t tasks, RangeFunction, void* closure);
}  // namespace detail

/// Number of threads that kernels use, the caller's included. At first: the cores in the process's
/// affinity mask, or TESSERA_THREADS.
[[nodiscard]] int num_threads();
/// Changes it; waits for the pool to be idle. Throws InvalidArgument for n < 1.
void set_num_threads(int n);

/// Calls `body(i)` for every i in [0, tasks), spread over the pool, and returns when all are done.
///
/// Which thread runs a task is not fixed, so tasks write disjoint memory, and what a task computes
/// must not depend on num_threads(): cut work by shape. A call from inside a task, or of one task,
/// runs inline. The first exception of a task is rethrown after all have ended.
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
