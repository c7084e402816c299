// What the ranks tell each other when a backward ends: which parameters it used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tessera/core/autograd/gradient_scale.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/loss_count_table.h>
#include <tessera/dist/parallel/reduced_parameter.h>

namespace tessera::dist {

/// A table of all ranks' entries, by rank and parameter, gathered in the background. What losses
/// counted travels along.
class UsedParameters {
 public:
  /// What a rank tells of a parameter.
  enum Column : std::size_t {
    used,    ///< its backward came to it
    dense,   ///< with a dense gradient
    early,   ///< which was whole before the first bucket was launched, with rows to come
    rows,    ///< how many there are in its sparse gradient
    columns  ///< how many there are
  };

  /// Launches the exchange of what the current backward brought, see loss_count_table.h.
  /// Collective.
  UsedParameters(Communicator& comm, std::span<const ReducedParameter> parameters,
                 const LossCountTable& counts);
  [[nodiscard]] const Work& work() const { return work_; }
  /// Takes what losses counted out of the table, which is done.
  [[nodiscard]] GradientScale take_counts(LossCountTable& counts) {
    return counts.take_from(tables_->of_all);
  }

  /// How many ranks' entries for parameter number `index` are not 0.
  [[nodiscard]] int count(std::size_t index, Column column) const;
  [[nodiscard]] bool any(std::size_t index, Column column) const {
    return count(index, column) > 0;
  }
  /// Every rank's entry.
  [[nodiscard]] std::vector<std::int64_t> by_rank(std::size_t index, Column column) const;

 private:
  struct Tables {
    std::vector<std::int64_t> mine, of_all;
  };
  std::size_t parameters_;
  std::shared_ptr<Tables> tables_;  ///< the exchange's, too: a backward may throw before it ends
  Work work_;
};

}  // namespace tessera::dist
