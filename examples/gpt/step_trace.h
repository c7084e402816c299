// The file of --trace.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/dist/world.h>

/// Records the first steps of a run for chrome://tracing and ui.perfetto.dev, a file a rank.
class StepTrace {
 public:
  /// Starts to record on this rank unless `path` is empty. Rank 0 writes `path`, rank N a file
  /// beside it: trace.json, trace.rankN.json. Throws IoError when the file cannot be written.
  StepTrace(const std::string& path, const tessera::dist::World& world);
  /// Writes what there is; a failure is a warning.
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// Counts a step; after 20 of them the file is written.
  void step_done();

 private:
  void write();

  std::int64_t steps_left_ = 0;  ///< 0: not recording
};
