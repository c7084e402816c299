#include <tessera/nn/hooks/call_hooks.h>

#include <unordered_set>

#include <tessera/core/base/log.h>
#include <tessera/nn/hooks/global_hooks.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

/// One call on its way through the hooks.
class HookedCall {
 public:
  HookedCall(const Module& module, CallInputs inputs)
      : module_(module), inputs_(std::move(inputs)) {}

  void before() {
    each(&ForwardHooks::pre, [this](const auto& entry) {
      if (auto replacement = entry.hook(module_, inputs_.first, inputs_.second)) {
        inputs_ = *std::move(replacement);
      }
    });
  }

  void run(const std::function<Value(const Args&, const Kwargs&)>& forward) {
    watch_ = BackwardWatch::of(module_);
    if (watch_ != nullptr) {
      watch_->watch_inputs(inputs_.first);
    }
    output_ = forward(inputs_.first, inputs_.second);
  }

  void after() {
    each(&ForwardHooks::post, [this](const auto& entry) {
      done_.insert(entry.id);
      if (auto replacement = call(entry.hook)) {
        output_ = *std::move(replacement);
      }
    });
  }

  /// The call throws: what must see every call does now, and cannot hide the error.
  void after_error() {
    each(&ForwardHooks::post, [this](const auto& entry) {
      if (!entry.hook.always_call || done_.contains(entry.id)) {
        return;
      }
      try {
        static_cast<void>(call(entry.hook));
      } catch (const std::exception& error) {
        log_warning(module_.class_name(), ": a forward hook that is always called threw \"",
                    error.what(), "\" beside the call's own error");
      } catch (...) {
        log_warning(module_.class_name(), ": a forward hook that is always called threw something ",
                    "that is no std::exception beside the call's own error");
      }
    });
  }

  [[nodiscard]] Value take_output() {
    if (watch_ != nullptr) {
      watch_->watch_outputs(output_);
    }
    watch_for_legacy_hooks(module_, output_);
    return std::move(output_);
  }

 private:
  template <class Kind, class F>
  void each(Kind kind, const F& visit) const {
    for (const CallHooks* hooks : hooks_on(module_)) {
      if (hooks != nullptr) {
        (hooks->forward.*kind)->walk(visit);
      }
    }
  }
  [[nodiscard]] std::optional<Value> call(const ForwardHook& hook) const {
    return hook.run(module_, inputs_.first, inputs_.second, output_);
  }

  const Module& module_;
  CallInputs inputs_;
  Value output_;
  std::unordered_set<std::uint64_t> done_;
  std::shared_ptr<BackwardWatch> watch_;
};

}  // namespace

std::optional<CallInputs> detail::both_of(const Value& returned) {
  if (returned.empty()) {
    return std::nullopt;
  }
  const Value::List both = returned.is<Value::List>() ? returned.get<Value::List>() : Value::List{};
  check<RuntimeError>(both.size() == 2 && both[0].is<Args>() && both[1].is<Kwargs>(),
                      "forward pre-hook with kwargs must return (args, kwargs)");
  return CallInputs{both[0].get<Args>(), both[1].get<Kwargs>()};
}

ForwardHooks::ForwardHooks()
    : pre(std::make_shared<HookList<ForwardPreHook>>()),
      post(std::make_shared<HookList<ForwardHook>>()) {}

std::array<const CallHooks*, 2> hooks_on(const Module& module) {
  return {&global_hooks::call(), module.call_hooks()};
}

Value run_with_hooks(const Module& module, CallInputs inputs,
                     const std::function<Value(const Args&, const Kwargs&)>& forward) {
  HookedCall call(module, std::move(inputs));
  try {
    call.before();
    call.run(forward);
    call.after();
  } catch (...) {
    call.after_error();
    throw;
  }
  return call.take_output();
}

}  // namespace tessera::nn
