// Modules that are a plain function and the state that it declares.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/functional/state.h>

namespace tessera::nn {

/// What all of them share.
class FunctionModuleBase : public Module {
 public:
  [[nodiscard]] std::string class_name() const override { return name().value_or("module"); }

 protected:
  FunctionModuleBase() = default;
  FunctionModuleBase(const FunctionModuleBase& other);

 private:
  friend class State;
  /// A module that the function calls, and the one that it calls in a copy of this module.
  struct Adopted {
    const Module* original;
    ModulePtr own;
  };
  void take_state_of(const Module& module);

  std::vector<Adopted> adopted_;
};

template <class Signature>
class FunctionModule;

template <class R, class... A>
class FunctionModule<R(A...)> : public FunctionModuleBase {
 public:
  using Function = std::function<R(State&, const A&...)>;

  explicit FunctionModule(Function function) : function_(std::move(function)) {}

  R forward(const A&... arguments) const { return run(nullptr, arguments...); }
  /// Runs the function once to find out what it declares.
  R initialise(const A&... arguments) { return run(this, arguments...); }

 private:
  R run(FunctionModule* initialised, const A&... arguments) const {
    State state(*this, initialised);
    return function_(state, arguments...);
  }

  Function function_;
};

}  // namespace tessera::nn
