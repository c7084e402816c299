// Whether the ranks train the same on the data that is each one's.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/communication_time.h>
#include <tessera/dist/parallel/fingerprint_exchange.h>
#include <tessera/dist/parallel/reduced_parameter.h>
#include <tessera/dist/parallel/watched_model.h>

namespace tessera::dist {

/// What the ranks find out in each step.
///
/// Note [What may change]. When a backward begins, a rank looks at its model. With the first
/// gradient of a step's last pass every rank launches an exchange of fingerprints: of what changed
/// in the model, which is nothing in nearly every step, and of where the batch came from. A rank
/// whose model did not change waits for it when backward ends; one that unfroze, froze or replaced
/// something waits at once, and where a parameter is new it asks in the first pass already. Where
/// all did the same, the reducer follows the model; otherwise the rank launches what the others
/// wait for, and at the end of backward all throw, before any update.
class StepAgreement {
 public:
  /// All must outlive this.
  StepAgreement(Communicator& comm, WatchedModel& watched, TimedWaits& waits)
      : comm_(comm), watched_(watched), waits_(waits) {}

  /// Launches the exchange, if the ranks compare at all and have not begun. Collective.
  void begin();
  /// False when ranks that compare already differ, which this one waits for.
  [[nodiscard]] bool holds() const { return !step_.under_way() || step_.all_equal(); }
  /// Before anything that a backward brought is used: waits for what was begun. Throws Disagreement
  /// on every rank, naming ranks and values, where they differ; the model counts as agreed on
  /// otherwise. True when it had changed.
  bool require();

  /// A sum over the step's passes is one of the same parameters in each. Throws InvalidArgument.
  void check_trained_alike(std::span<const ReducedParameter> parameters);
  /// Where parameters are about to be laid out anew, nothing of the step may have begun. Throws
  /// InvalidArgument.
  void check_between_steps(std::span<const ReducedParameter> parameters) const;
  /// Drops what passes of a step that never ended have told.
  void forget_step() {
    trained_.clear();
    step_.end();
  }

 private:
  [[nodiscard]] std::uint64_t fingerprint() const;
  [[nodiscard]] Facts facts() const;

  Communicator& comm_;
  WatchedModel& watched_;
  TimedWaits& waits_;
  FingerprintExchange step_;                      ///< until its last backward ends
  std::map<std::size_t, std::uint64_t> trained_;  ///< a hash by backward of the step's passes
};

}  // namespace tessera::dist
