// Where a run of backward keeps what it knows of a node.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// Where a contribution goes: an op or a leaf of a run, or nowhere.
class RunTarget {
 public:
  RunTarget() = default;
  static RunTarget op(std::size_t index) { return RunTarget(static_cast<std::uint32_t>(index)); }
  static RunTarget leaf(std::size_t index) {
    return RunTarget(static_cast<std::uint32_t>(index) | kLeaf);
  }
  [[nodiscard]] bool is_nowhere() const { return bits_ == kNowhere; }
  [[nodiscard]] bool is_leaf() const { return !is_nowhere() && (bits_ & kLeaf) != 0; }
  [[nodiscard]] std::size_t index() const { return bits_ & ~kLeaf; }

 private:
  explicit RunTarget(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t kNowhere = ~0U;
  static constexpr std::uint32_t kLeaf = 1U << 31U;
  std::uint32_t bits_ = kNowhere;
};

}  // namespace tessera
