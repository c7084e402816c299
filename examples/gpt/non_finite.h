// A loss or a gradient that is infinite or not a number.
#pragma once

#include <optional>
#include <string>

#include <tessera/core/base/context.h>

#include "stepper.h"

/// Keeps what it takes to say where it came from.
class NonFiniteSearch {
 public:
  /// Remembers the step's first pass whose loss is not finite.
  void see(const tessera::data::TokenBatch& batch, const tessera::Tensor& loss);
  /// One sentence, the same on all ranks, that names step and module: the remembered pass runs once
  /// more with a look at every module's output. When all are finite it names `parameter`, where the
  /// gradient is not. Collective.
  std::string explain(const Run& run, double loss, const std::string& parameter) const;
  /// A new step begins.
  void reset() { batch_.reset(); }

 private:
  [[nodiscard]] std::optional<std::string> search(const Run& run) const;

  std::optional<tessera::data::TokenBatch> batch_;
  tessera::Pass pass_;
};
