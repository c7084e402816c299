// What a run keeps of its losses that are means over counted elements.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace tessera {

/// A loss of a run: what one backward of every step begins at.
struct LossKey {
  std::uint64_t source = 0;  ///< of the loop's batches (Loop::source); 0 without a loop
  std::size_t backward = 0;  ///< its number in a pass

  friend auto operator<=>(const LossKey&, const LossKey&) = default;
};

/// The n of a run's losses: how many elements a sample has by shape in the first step with such a
/// loss; times a microbatch's samples those of a microbatch. Gradients are seeded with C / (n G)
/// where C elements of a microbatch with n count, so any n gives the same weights but for the last
/// bits, and one that is kept gives the same bits: whatever parameters a backward reaches, on
/// however many ranks, and in a run that goes on from a checkpoint. Part of the Context; threads
/// that share one may use it at once.
class ElementsOfRun {
 public:
  /// Keeps `elements` of a sample, in place of what was known.
  void keep(const LossKey& loss, double elements);
  /// Keeps `elements` unless another thread was first; returns what is kept.
  double keep_first(const LossKey& loss, double elements);
  [[nodiscard]] std::map<LossKey, double> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<LossKey, double> known_;
};

}  // namespace tessera
