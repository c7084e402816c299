// What a rank is doing while others may wait for it.
#pragma once

#include <memory>
#include <string>

#include <tessera/core/base/context.h>

namespace tessera {

/// While it lives, the calling thread's rank is busy with something long, such as saving, loading
/// or reading data: ranks that wait for it say so, and give it more time, as long as its process
/// shows signs of life. Scopes nest; the newest is named.
class BusyScope {
 public:
  /// `activity` completes "rank 1 is busy: ...", as in "saves run/step-20".
  explicit BusyScope(std::string activity);
  ~BusyScope();
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  std::shared_ptr<Context> context_;
};

/// What `context`'s rank is busy with; empty when it is not.
[[nodiscard]] std::string activity_of(const Context& context);

}  // namespace tessera
