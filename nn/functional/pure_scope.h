// A pure call under way.
#pragma once

#include <memory>

#include <tessera/nn/functional/call_options.h>
#include <tessera/nn/tree/entries.h>

namespace tessera::nn {

/// While it lives, calls of `module` on this thread run no hooks, and what they assign is kept
/// here. Random numbers need `options.key`. Throws ValueError for options that a pure call has not:
/// tracking.
class PureScope {
 public:
  PureScope(const Module& module, const CallOptions& options);
  ~PureScope();
  PureScope(const PureScope&) = delete;
  PureScope& operator=(const PureScope&) = delete;
  /// The call returned: throws RuntimeError when it wrote into the module's tensors in place.
  void finish() const;
  /// The module with what was assigned; it shares everything else. To be taken when the call ended.
  [[nodiscard]] ModulePtr updated();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tessera::nn
