// One call of a module under the thread's tracker.
#pragma once

#include <string>

#include <tessera/nn/value.h>

namespace tessera::nn {

class Module;
class Tracker;  // nn/tracking/tracker.h

/// Tells the tracker that `module` runs as the child `name`, and what it returned or that it threw.
class TrackedCall {
 public:
  TrackedCall(Tracker& tracker, const Module& module, const std::string& name);
  ~TrackedCall();
  TrackedCall(const TrackedCall&) = delete;
  TrackedCall& operator=(const TrackedCall&) = delete;
  void returned(const Value& output);

 private:
  Tracker* tracker_;  ///< null when the call returned
};

}  // namespace tessera::nn
