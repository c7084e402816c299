#include <tessera/nn/tracking/tracker.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/tracking/expected_returns.h>
#include <tessera/nn/tracking/tracked_call.h>
#include <tessera/nn/tree/module.h>

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

Value on_host(const Value& value) {
  if (value.is<Tensor>()) {
    return on_host(value.tensor());
  }
  if (!value.is<Value::List>()) {
    return value;
  }
  Value::List parts;
  for (const Value& part : value.get<Value::List>()) {
    parts.push_back(on_host(part));
  }
  return parts;
}

}  // namespace

TrackedCall::TrackedCall(Tracker& tracker, const Module& module) : tracker_(&tracker) {
  tracker.enter(module);
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
         std::to_string(root_.submod_number(module));
}

void Tracker::enter(const Module& module) {
  const int depth = static_cast<int>(stack_.size());
  const std::string key = key_of(module, depth);
  CallTree* above = stack_.empty() ? &trace_.call_order : stack_.back().calls;
  CallTree* calls = nullptr;
  if (options_.track_submod_call_order && above != nullptr &&
      (depth == 0 || !options_.submod_depth || depth <= *options_.submod_depth)) {
    const int count = stack_.empty() ? 0 : stack_.back().counts[&module]++;
    const std::string name = key + "_" + std::to_string(count);
    above->calls.set(name, CallTree());
    calls = const_cast<CallTree*>(above->calls.find(name));
  }
  stack_.push_back({&module, key, calls, {}});
}

void Tracker::record(const Level& level, const Value& output) {
  if (!trace_.rets.contains(level.key)) {
    trace_.rets.set(level.key, {level.module->get_mod_key(), {}});
  }
  auto& outputs = const_cast<SubmodReturns*>(trace_.rets.find(level.key))->outputs;
  outputs.push_back(on_host(output));
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
    level.calls->variables =
        level.module->variables().map([](const Tensor& x) { return on_host(x); });
  }
}

void Tracker::finish() {
  if (options_.expected_submod_rets != nullptr) {
    options_.expected_submod_rets->check_counts(trace_.rets);
  }
  trace_of_thread() = std::move(trace_);
}

}  // namespace tessera::nn
