// What a piece of code takes of the heap by `new`.
#pragma once

#include <cstddef>

namespace tessera::fuzz {

/// Counts from its making on; all threads together. The program's `operator new` does it.
class AllocationPeak {
 public:
  AllocationPeak();
  /// The most that was allocated at one time, beyond what was allocated before.
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::size_t before_;
};

}  // namespace tessera::fuzz
