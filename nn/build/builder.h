// Making the state of modules: what `make`, `build` and the first call of a module share.
//
// State is made in two steps: names, shapes and dtypes are declared, and then, when nothing is
// wrong with what was given, slots get their values.
#pragma once

#include <functional>

#include <tessera/nn/build/module_options.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn::detail {

/// Numbers a model that was constructed and builds what does not wait.
void finish_make(Module& root);
/// See Module::build.
BuildStatus build(Module& root, const Args& args, const Kwargs& kwargs,
                  const BuildOptions& options);

/// Makes a module ready for a call, before `forward`. Where variables were given, to the module or,
/// as `given_to_call` says, to the call, runs `forward` on tensors without elements first, so that
/// all differences are known before anything is computed. Throws RuntimeError for a module that
/// waits for `build`, and in a pure call.
void prepare_call(const Module& module, const Args& args, const Kwargs& kwargs,
                  const std::function<void(const Args&, const Kwargs&)>& forward,
                  bool given_to_call);
/// Ends what `prepare_call` began, after `forward`: throws StructureError where only the call could
/// tell.
void finish_call(const Module& module);

}  // namespace tessera::nn::detail
