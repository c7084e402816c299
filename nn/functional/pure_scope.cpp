#include <tessera/nn/functional/pure_scope.h>

#include <optional>

#include <tessera/core/base/random_scope.h>
#include <tessera/nn/functional/capture_frame.h>
#include <tessera/nn/functional/options_scope.h>
#include <tessera/nn/tracking/tracker.h>

namespace tessera::nn {

struct PureScope::Parts {
  Parts(const Module& module, const CallOptions& given)
      : options(module, given), frame(module), frame_scope(frame), pure(&module) {
    if (!given.key) {
      no_random.emplace(false, module.class_name());
      unkeyed.emplace(true);
    }
  }

  OptionsScope options;
  CaptureFrame frame;
  FrameScope frame_scope;
  CallStateGuard<&CallState::pure> pure;
  std::optional<RandomPermission> no_random;
  std::optional<CallStateGuard<&CallState::unkeyed>> unkeyed;
};

PureScope::PureScope(const Module& module, const CallOptions& options) {
  check<ValueError>(!Tracker::wanted(options), module.class_name(),
                    ": a pure call cannot be tracked");
  check<RuntimeError>(module.built(), module.class_name(),
                      ": is not built; a pure call does not build");
  parts_ = std::make_unique<Parts>(module, options);
}

PureScope::~PureScope() = default;

void PureScope::finish() const {
  parts_->frame.check_unchanged();
}

ModulePtr PureScope::updated() {
  return parts_->frame.updated(false);
}

}  // namespace tessera::nn
