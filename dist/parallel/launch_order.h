// Which reductions a backward launches, and when.
#pragma once

#include <cstddef>
#include <vector>

#include <tessera/dist/parallel/reduced_parameter.h>
#include <tessera/dist/parallel/reduction_strategy.h>
#include <tessera/dist/parallel/used_parameters.h>

namespace tessera::dist {

/// Launches what is ready, in one order on all ranks.
///
/// Note [Issue order]. Every rank launches the same collectives in the same order: parameters that
/// go first, then buckets strictly by index, however gradients arrive, then the table of used
/// parameters, then sparse gradients. This order is what prevents deadlock.
///
/// Note [What a bucket leaves out]. Parameters to which the last few backwards brought nothing but
/// rows, or nothing at all, on every rank are left out of their bucket's collective: it would sum
/// zeros. When that guess turns out wrong, they are reduced at the end of backward. A head that is
/// tied to the embedding has its dense gradient when backward begins, though rows come at the end:
/// where the last few backwards were so on every rank of several hosts, it goes first, on its own.
/// When that guess turns out wrong, the first bucket waits for it. All ranks guess alike, from the
/// table of used parameters.
class LaunchOrder {
 public:
  /// All must outlive this.
  LaunchOrder(std::vector<ReducedParameter>& parameters, const std::vector<Bucket>& buckets,
              const GradientMemory& gradients, ReductionStrategy& strategy, bool spans_hosts);

  /// A backward begins in the step's last pass.
  void begin();
  /// A parameter's sums are settled.
  void complete(ReducedParameter& parameter);
  /// Launches what is ready.
  void launch_ready();
  /// Whether the next bucket is not the first any more.
  [[nodiscard]] bool is_late() const { return next_ > 1; }
  /// Launches the parameters that wrongly were expected to have no dense gradient.
  void launch_left_out(const UsedParameters& table);
  /// What was launched, in order, since `begin` or the last `forget_launched`.
  [[nodiscard]] const std::vector<Work>& launched() const { return launched_; }
  void forget_launched() { launched_.clear(); }
  /// What to expect of the next backward; `ranks` of them made the table.
  void learn(const UsedParameters& table, int ranks);
  /// Whether a backward writes to the memory of a parameter's gradient.
  [[nodiscard]] bool overwrites(const ReducedParameter& parameter) const {
    return parameter.trained || turn_of(parameter) != Turn::never;
  }

 private:
  enum class Turn { first, with_bucket, last, never };
  [[nodiscard]] Turn turn_of(const ReducedParameter& parameter) const;
  [[nodiscard]] std::size_t position_of(const ReducedParameter& parameter) const;
  [[nodiscard]] bool has_several_blocks() const { return gradients_.tree->max_blocks() > 1; }
  void launch_at(std::size_t position);
  void launch_alone(const ReducedParameter& parameter);
  [[nodiscard]] std::vector<FlatRange> ranges_of(std::size_t bucket) const;

  std::vector<ReducedParameter>& parameters_;
  const std::vector<Bucket>& buckets_;
  const GradientMemory& gradients_;
  ReductionStrategy& strategy_;
  bool spans_hosts_;
  std::vector<std::size_t> pending_;  ///< by position: parameters still to complete
  std::size_t next_ = 0;              ///< position; 0: what goes first, b + 1: bucket b
  std::vector<Work> launched_;
};

}  // namespace tessera::dist
