#include <tessera/nn/functional/options_scope.h>

#include <optional>

#include <tessera/nn/functional/override_frame.h>
#include <tessera/nn/functional/random_key.h>
#include <tessera/nn/tracking/tracker.h>

namespace tessera::nn {

struct OptionsScope::Parts {
  OverrideFrame frame;
  std::optional<FrameScope> frame_scope;
  std::optional<CallStateGuard<&CallState::training>> training;
  std::optional<RandomKeyScope> random;
  std::optional<Tracker> tracker;
  std::optional<CallStateGuard<&CallState::tracker>> tracking;
};

OptionsScope::OptionsScope(const Module& module, const CallOptions& options)
    : parts_(std::make_unique<Parts>()) {
  if (options.v != nullptr) {
    parts_->frame.give(module, Slot::Kind::parameter, *options.v, options.with_partial_v);
  }
  if (options.buffers != nullptr) {
    parts_->frame.give(module, Slot::Kind::buffer, *options.buffers, options.with_partial_v);
  }
  if (options.v != nullptr || options.buffers != nullptr) {
    parts_->frame_scope.emplace(parts_->frame);
  }
  if (options.training) {
    parts_->training.emplace(options.training);
  }
  if (options.key) {
    parts_->random.emplace(*options.key);
  }
  if (Tracker::wanted(options)) {
    parts_->tracker.emplace(module, options);
    parts_->tracking.emplace(&*parts_->tracker);
  }
}

OptionsScope::~OptionsScope() = default;

void OptionsScope::finish() {
  if (parts_->tracker) {
    parts_->tracker->finish();
  }
}

}  // namespace tessera::nn
