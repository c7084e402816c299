// Carrying out the options of one call.
#pragma once

#include <memory>

#include <tessera/nn/functional/call_options.h>

namespace tessera::nn {

/// Puts a call of `module` under `options` until it ends, by exception or not. Throws
/// StructureError when the given variables are other than the module's.
class OptionsScope {
 public:
  OptionsScope(const Module& module, const CallOptions& options);
  ~OptionsScope();
  OptionsScope(const OptionsScope&) = delete;
  OptionsScope& operator=(const OptionsScope&) = delete;
  /// The call returned: throws CheckFailure when expected returns did not come.
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tessera::nn
