// What a process says when a signal ends it.
#pragma once

#include <memory>
#include <string>

#include <tessera/dist/comm/heartbeat_table.h>

namespace tessera::dist {

/// While one lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print one sentence, which
/// names the rank, its host and, while the object lives, its last collective; then the signal does
/// what it did before: the exit status and the core are the same. A signal that somebody else
/// handles, as sanitizers do, stays theirs, and a forked child prints nothing.
class FatalSignals {
 public:
  /// `table` is the world's.
  FatalSignals(std::shared_ptr<HeartbeatTable> table, const std::string& host);
  ~FatalSignals();
  FatalSignals(const FatalSignals&) = delete;
  FatalSignals& operator=(const FatalSignals&) = delete;

 private:
  std::shared_ptr<HeartbeatTable> table_;
};

}  // namespace tessera::dist
