// A table from nodes of the tape to their places in a run of backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/core/autograd/node.h>

namespace tessera {

/// Where a contribution goes: an op or a leaf of a run, or nowhere.
class Target {
 public:
  Target() = default;
  static Target op(std::size_t place) { return Target(static_cast<std::uint32_t>(place)); }
  static Target leaf(std::size_t place) {
    return Target(static_cast<std::uint32_t>(place) | kLeaf);
  }
  [[nodiscard]] bool is_nowhere() const { return bits_ == kNowhere; }
  [[nodiscard]] bool is_leaf() const { return !is_nowhere() && (bits_ & kLeaf) != 0; }
  [[nodiscard]] std::size_t place() const { return bits_ & ~kLeaf; }

 private:
  explicit Target(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t kNowhere = ~0U;
  static constexpr std::uint32_t kLeaf = 1U << 31U;
  std::uint32_t bits_ = kNowhere;
};

/// Open addressing with linear probing and multiplicative hashing (Knuth, The Art of Computer
/// Programming 3, section 6.4). It holds places alone, and asks the run which node lies there: four
/// bytes an entry stay in the first cache.
class NodePlaces {
 public:
  /// The place of `node`; nowhere at first, to be set by the caller. Valid until the next call.
  template <class NodeAt>
  Target& find(const TapeNode& node, const NodeAt& node_at) {
    if (2 * count_ >= slots_.size()) {
      grow(node_at);
    }
    Target& slot = slot_of(node, node_at);
    count_ += slot.is_nowhere() ? 1 : 0;
    return slot;
  }

 private:
  template <class NodeAt>
  Target& slot_of(const TapeNode& node, const NodeAt& node_at) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(&node) * kGolden) >> shift_;
    while (!slots_[at].is_nowhere() && node_at(slots_[at]) != &node) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }
  template <class NodeAt>
  void grow(const NodeAt& node_at) {
    std::vector<Target> old(slots_.empty() ? 64 : 4 * slots_.size());
    std::swap(old, slots_);
    shift_ -= old.empty() ? 6 : 2;
    for (const Target place : old) {
      if (!place.is_nowhere()) {
        slot_of(*node_at(place), node_at) = place;
      }
    }
  }

  std::vector<Target> slots_;
  std::size_t count_ = 0;
  int shift_ = 64;
};

}  // namespace tessera
