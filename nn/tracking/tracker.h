// Recording what the modules of one call do.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <tessera/nn/functional/call_options.h>
#include <tessera/nn/tracking/submod_trace.h>

namespace tessera::nn {

/// Follows the calls below `root` on this thread.
class Tracker {
 public:
  Tracker(const Module& root, const CallOptions& options);
  static bool wanted(const CallOptions& options);

  void enter(const Module& module);
  /// The innermost module returned `output` to the one above it.
  void leave(const Value& output);
  /// The innermost module threw.
  void abandon() { stack_.pop_back(); }
  /// The whole call returned: makes the trace the thread's last one and checks what was expected.
  void finish();

 private:
  struct Level {
    const Module* module;
    std::string key;
    CallTree* calls;  ///< where this call is listed
    std::unordered_map<const Module*, int> counts;
  };
  [[nodiscard]] bool recorded(const Module& module, int depth) const;
  [[nodiscard]] std::string key_of(const Module& module, int depth) const;
  void record(const Level& level, const Value& output);

  const Module& root_;
  const CallOptions& options_;
  SubmodTrace trace_;
  std::vector<Level> stack_;
};

}  // namespace tessera::nn
