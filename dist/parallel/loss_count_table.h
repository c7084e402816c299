// What the losses of a step counted, on all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <tessera/core/autograd/backward_counts.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/work.h>

namespace tessera::dist {

/// Collects the denominators of a step's microbatches by number of the backward in its pass. They
/// travel behind this rank's part of another table, so that they cost no message.
class LossCountTable {
 public:
  LossCountTable(Communicator& comm, std::int64_t grain) : comm_(comm), grain_(grain) {}

  /// Takes what the current pass counted, see CountedSink. The first time at this loss rank 0 tells
  /// its n, which the others wait for. No collective: ranks of several passes come to a step's
  /// second loss before the first one's buckets, ranks of one pass after them.
  [[nodiscard]] double add(const PassCounts& counts);
  /// Whether `add` in this backward need not wait.
  [[nodiscard]] bool has_agreed() const { return agreed_.contains(current_loss_key()); }
  /// Appends this rank's numbers for the current backward to `table`.
  void append_to(std::vector<std::int64_t>& table) const;
  /// Takes all ranks' numbers out of their parts in `tables` again; begins the current backward of
  /// the next step. Returns what the ranks' sums of gradients are to be multiplied with.
  [[nodiscard]] GradientScale take_from(std::vector<std::int64_t>& tables);
  /// Drops what passes of a step that never ended have counted.
  void forget_step() { step_.clear(); }
  /// What take_from returned last.
  [[nodiscard]] GradientScale latest() const { return latest_; }

 private:
  using Values = std::vector<double>;  ///< by microbatch of the global batch, then n
  [[nodiscard]] double agreed(double elements);
  [[nodiscard]] Values none() const {
    return Values(static_cast<std::size_t>(grain_ + 1), kPlainLoss);
  }

  Communicator& comm_;
  std::int64_t grain_;
  std::set<LossKey> agreed_;                       ///< where all ranks have one n
  std::map<std::size_t, std::vector<Work>> told_;  ///< by number, rank 0's sends of n
  std::map<std::size_t, Values> step_;
  GradientScale latest_;
};

}  // namespace tessera::dist
