#include <tessera/nn/tracking/tracker.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/tracking/expected_returns.h>
#include <tessera/nn/tracking/tracked_call.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

SubmodTrace& trace_of_thread() {
  thread_local SubmodTrace trace;
  return trace;
}

Tensor on_host(const Tensor& x) {
  const NoGradGuard no_grad;
  return x.defined() ? cast(x.detach(), x.dtype(), true) : x;
}

CallTree& add_call(CallTree& above, const std::string& key, int number) {
  const std::string name = key + "_" + std::to_string(number);
  above.calls.set(name, CallTree());
  return *above.calls.find(name);
}

/// The number of `module` among those of its class in the tracked calls of `root`.
std::ptrdiff_t submod_number(const Module& root, const Module& module) {
  static std::mutex mutex;  // a module may be called from several threads
  const std::lock_guard lock(mutex);
  std::vector<const Module*>& known = detail::build_state_of(root).tracked[module.class_name()];
  auto found = std::ranges::find(known, &module);
  if (found == known.end()) {
    found = known.insert(found, &module);
  }
  return found - known.begin();
}

}  // namespace

TrackedCall::TrackedCall(Tracker& tracker, const Module& module, const std::string& name)
    : tracker_(&tracker) {
  tracker.enter(module, name);
}

TrackedCall::~TrackedCall() {
  if (tracker_ != nullptr) {
    tracker_->abandon();
  }
}

void TrackedCall::returned(const Value& output) {
  std::exchange(tracker_, nullptr)->leave(output);
}

const SubmodTrace& last_trace() {
  return trace_of_thread();
}

Tracker::Tracker(const Module& root, const CallOptions& options) : root_(root), options_(options) {}

bool Tracker::wanted(const CallOptions& options) {
  return options.track_submod_rets || options.track_submod_call_order ||
         options.expected_submod_rets != nullptr;
}

bool Tracker::recorded(const Module& module, int depth) const {
  const auto& chosen = options_.submods_to_track;
  return depth >= 1 && (!options_.submod_depth || depth <= *options_.submod_depth) &&
         (chosen.empty() || std::ranges::find(chosen, &module) != chosen.end());
}

std::string Tracker::key_of(const Module& module, int depth) const {
  return std::string(static_cast<std::size_t>(depth), ' ') + module.class_name() + "_" +
         std::to_string(submod_number(root_, module));
}

/// Below what the caller chose, nothing is listed.
CallTree* Tracker::list_call(const Module& module, const std::string& key) {
  if (!options_.track_submod_call_order) {
    return nullptr;
  }
  if (stack_.empty()) {
    return &add_call(trace_.call_order, key, 0);
  }
  Level& above = stack_.back();
  const auto depth = static_cast<int>(stack_.size());
  const bool deeper = !options_.submod_depth || depth <= *options_.submod_depth;
  const auto& chosen = options_.submods_to_track;
  const bool ends = std::ranges::find(chosen, above.module) != chosen.end();
  return above.calls == nullptr || ends || !deeper
             ? nullptr
             : &add_call(*above.calls, key, above.counts[&module]++);
}

void Tracker::enter(const Module& module, const std::string& name) {
  const std::string key = key_of(module, static_cast<int>(stack_.size()));
  const std::string path = stack_.empty() ? "" : detail::dotted(stack_.back().path, name);
  stack_.push_back({&module, key, path, list_call(module, key), {}});
}

void Tracker::record(const Level& level, const Value& output) {
  if (!trace_.rets.contains(level.key)) {
    trace_.rets.set(level.key, {level.path, {}});
  }
  auto& outputs = trace_.rets.find(level.key)->outputs;
  outputs.push_back(map_tensors(output, on_host));
  if (options_.expected_submod_rets != nullptr) {
    options_.expected_submod_rets->check_return(level.key, outputs.size() - 1, outputs.back());
  }
}

void Tracker::leave(const Value& output) {
  const Level level = std::move(stack_.back());
  stack_.pop_back();
  if (recorded(*level.module, static_cast<int>(stack_.size()))) {
    record(level, output);
  }
  if (level.calls != nullptr && level.calls->calls.empty()) {
    const Variables own = level.module->variables();
    level.calls->variables.set(level.path, own.map(on_host));
  }
}

void Tracker::finish() {
  if (options_.expected_submod_rets != nullptr) {
    options_.expected_submod_rets->check_counts(trace_.rets);
  }
  trace_of_thread() = std::move(trace_);
}

}  // namespace tessera::nn
