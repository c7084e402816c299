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

  /// `module` is called as the child `name` of the innermost module.
  void enter(const Module& module, const std::string& name);
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
    std::string path;  ///< from the root
    CallTree* calls;   ///< where this call is listed
    std::unordered_map<const Module*, int> counts;
  };
  [[nodiscard]] bool recorded(const Module& module, int depth) const;
  [[nodiscard]] std::string key_of(const Module& module, int depth) const;
  /// Where the call is listed, if calls are followed so far.
  [[nodiscard]] CallTree* list_call(const Module& module, const std::string& key);
  void record(const Level& level, const Value& output);

  const Module& root_;
  const CallOptions& options_;
  SubmodTrace trace_;
  std::vector<Level> stack_;
};

}  // namespace tessera::nn
