// What a step took, and where its time went.
#pragma once

#include <tessera/core/base/clock.h>

#include "report.h"
#include "stepper.h"

/// Peak arithmetic of all ranks' threads, in flop/s; 0 when unknown. Looked for once a second,
/// since the machine may be busy with other things now and then.
class Peak {
 public:
  explicit Peak(const Run& run);
  double get(tessera::Time now);

 private:
  tessera::DType dtype_;
  int ranks_;
  double flops_ = 0;
  tessera::Time next_{};
};

/// Measures steps as a person's clock would: from the first pass to the word of all ranks that the
/// step has ended.
class StepClock {
 public:
  explicit StepClock(const Run& run);
  /// A step begins; what was communicated since the last one ended is none of its own.
  void begin();
  /// The step has ended: fills in what is measured.
  void end(StepReport& report);

  /// What `communicate` returns. It waits for other ranks and is part of the step's communication.
  template <class F>
  auto waiting(const F& communicate) {
    const tessera::Time begin = tessera::clock().now();
    auto result = communicate();
    waited_ += tessera::clock().now() - begin;
    return result;
  }

 private:
  [[nodiscard]] tessera::dist::CommunicationTime take_time();

  const Run& run_;
  Peak peak_;
  tessera::Time begin_;
  tessera::Time last_end_;  ///< of the step before
  tessera::Duration waited_{};
};
