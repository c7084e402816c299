// The running number of what `rand` and `randn` draw.
#pragma once

#include <cstdint>

namespace tessera {

/// Lets the draws of the calling thread's context begin at `first` and, when it ends, go on from
/// where they were.
class FactoryDraws {
 public:
  explicit FactoryDraws(std::uint64_t first = 0);
  ~FactoryDraws();
  FactoryDraws(const FactoryDraws&) = delete;
  FactoryDraws& operator=(const FactoryDraws&) = delete;
  /// The number of the next draw. Counts it.
  static std::uint64_t next();
  /// How many draws were made since the seed was set.
  [[nodiscard]] static std::uint64_t made();

 private:
  std::uint64_t previous_;
};

}  // namespace tessera
