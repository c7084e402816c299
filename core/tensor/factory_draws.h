// The running number of what `rand` and `randn` draw.
#pragma once

#include <cstdint>

namespace tessera {

/// Lets the calling thread's draws begin at 0 and, when it ends, go on from where they were.
class FactoryDraws {
 public:
  FactoryDraws();
  ~FactoryDraws();
  FactoryDraws(const FactoryDraws&) = delete;
  FactoryDraws& operator=(const FactoryDraws&) = delete;
  /// The number of the thread's next draw. Counts it.
  static std::uint64_t next();

 private:
  std::uint64_t previous_;
};

}  // namespace tessera
