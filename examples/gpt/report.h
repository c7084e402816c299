// What a person and a log see of each step.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <tessera/core/base/clock.h>

struct StepReport {
  std::int64_t step = 0;  ///< counted from 1
  double loss = 0;        ///< mean over the global batch, before the update
  double lr = 0;
  double grad_norm = 0;  ///< before clipping; nan when the step's gradients were dropped unseen
  double tokens_per_second = 0;  ///< from the end of the last step to that of this one
  double mfu = 0;      ///< share of the peak of the ranks' threads, 6 flops a parameter and token
  double step_ms = 0;  ///< of this step, without what is done between two
  double comm_ms = 0;
  double comm_exposed_ms = 0;
  std::size_t memory = 0;  ///< bytes that tensors hold at most, on this rank
};

/// Writes reports on rank 0: a line that renews itself on a terminal, else a line now and then; and
/// a line of JSON a step.
class Reporter {
 public:
  /// Appends to `log_path` unless it is empty. Throws IoError when it cannot; where it cannot any
  /// more, later on, that is said once.
  Reporter(std::int64_t steps, const std::string& log_path, std::int64_t first_step);
  ~Reporter();
  void step(const StepReport& report);
  /// A line of its own: an evaluation, a checkpoint, a warning.
  void note(const std::string& text);

 private:
  void log(const StepReport& report);
  void end_line();

  std::int64_t steps_;
  std::int64_t first_step_;
  bool terminal_;
  bool line_open_ = false;
  std::string log_path_;
  std::ofstream log_;
  tessera::Time begin_;
  tessera::Time last_line_;
};
