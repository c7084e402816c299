#include <tessera/nn/hooks/call_hooks.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/nn/hooks/global_hooks.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

/// A tensor and the version that it had.
struct Versioned {
  Tensor tensor;
  std::uint32_t version;
};

/// What hooks made of a value, and the random numbers that had been drawn then.
template <class T>
struct Outcome {
  std::optional<T> replacement;
  RandomDraws draws;
  std::vector<Versioned> tensors = {};  ///< of a replacement that is noted
};

/// `value` without the tape, which would keep the region that notes it alive.
Value off_tape(const Value& value) {
  return map_tensors(value, [](const Tensor& x) {
    Tensor alone = x.detach();
    return x.requires_grad() ? alone.set_requires_grad(true) : alone;
  });
}

CallInputs off_tape(const CallInputs& inputs) {
  return {off_tape(Value(inputs.first)).get<Args>(), off_tape(Value(inputs.second)).get<Kwargs>()};
}

bool is_as_noted(const Versioned& x) {
  return x.tensor.version() == x.version || x.tensor.numel() == 0;
}

std::vector<Versioned> tensors_of(const Value& value) {
  std::vector<Versioned> found;
  static_cast<void>(map_tensors(value, [&](const Tensor& x) {
    found.push_back({x, x.version()});
    return x;
  }));
  return found;
}

std::vector<Versioned> tensors_of(const CallInputs& inputs) {
  std::vector<Versioned> found = tensors_of(Value(inputs.first));
  std::ranges::copy(tensors_of(Value(inputs.second)), std::back_inserter(found));
  return found;
}

/// Runs `run_hooks`, which may replace `value` and tells whether it did. A recomputation gets what
/// the first run got, and runs none.
template <class T, class F>
void once(T& value, const F& run_hooks) {
  OutsideReads* reads = Modes::current().outside_reads;
  if (reads == nullptr) {
    static_cast<void>(run_hooks());
    return;
  }
  const auto run = [&] {
    const OutsideRegionScope outside;
    const std::vector<Versioned> before = tensors_of(value);
    const bool returned = run_hooks();
    const bool replaced = returned || !std::ranges::all_of(before, is_as_noted);  // or written to
    return Outcome<T>{replaced ? std::optional(value) : std::nullopt, Context::current().draws};
  };
  const auto keep = [](const Outcome<T>& now) {
    Outcome<T> noted{.replacement = std::nullopt, .draws = now.draws};
    if (now.replacement) {
      noted.replacement = off_tape(*now.replacement);
      noted.tensors = tensors_of(*noted.replacement);
    }
    return noted;
  };
  Outcome<T> outcome = reads->value<Outcome<T>>(run, keep);
  check(std::ranges::all_of(outcome.tensors, is_as_noted),
        "checkpoint: what a module's hook returned or wrote, which the region reads again in "
        "backward, was changed in place since");
  if (is_recomputing()) {
    Context::current().draws = std::move(outcome.draws);  // of a context of its own
  }
  if (outcome.replacement) {
    value = *std::move(outcome.replacement);
  }
}

/// One call on its way through the hooks.
class HookedCall {
 public:
  HookedCall(const Module& module, CallInputs inputs)
      : module_(module), inputs_(std::move(inputs)) {}

  void before() {
    once(inputs_, [this] {
      bool replaced = false;
      each(&ForwardHooks::pre, [&](const auto& entry) {
        if (auto replacement = entry.hook(module_, inputs_.first, inputs_.second)) {
          inputs_ = *std::move(replacement);
          replaced = true;
        }
      });
      return replaced;
    });
  }

  void run(const std::function<Value(const Args&, const Kwargs&)>& forward) {
    watch_ = is_recomputing() ? nullptr : BackwardWatch::of(module_);
    if (watch_ != nullptr) {
      watch_->watch_inputs(inputs_.first);
    }
    output_ = forward(inputs_.first, inputs_.second);
  }

  void after() {
    once(output_, [this] {
      bool replaced = false;
      each(&ForwardHooks::post, [&](const auto& entry) {
        done_.insert(entry.id);
        if (auto replacement = call(entry.hook)) {
          output_ = *std::move(replacement);
          replaced = true;
        }
      });
      return replaced;
    });
  }

  /// The call throws: what must see every call does now, and cannot hide the error.
  void after_error() {
    if (is_recomputing()) {
      return;
    }
    const OutsideRegionScope outside;
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
    if (!is_recomputing()) {
      watch_for_legacy_hooks(module_, output_);
    }
    return std::move(output_);
  }

 private:
  void each(auto kind, const auto& visit) const {
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

CallHooks& detail::own_call_hooks(Module& module) {
  std::unique_ptr<CallHooks>& hooks = ModuleAccess::data(module).call_hooks;
  if (hooks == nullptr) {
    hooks = std::make_unique<CallHooks>();
  }
  return *hooks;
}

void detail::fail_after_hooks(const Module& module, const char* hooks, const TypeError& error) {
  fail<TypeError>(module.class_name(), ": ", hooks, " left what forward does not ",
                  std::string_view(hooks) == "forward hooks" ? "return" : "take", "; ",
                  error.what());
}

std::array<const CallHooks*, 2> hooks_on(const Module& module) {
  return {&global_hooks::call(), detail::call_hooks(module)};
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
