// Making the state of modules: what `make`, `build` and the first call of a module share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <tessera/nn/build/module_options.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn::detail {

/// State is made in two steps: names, shapes and dtypes are declared, and then, when nothing is
/// wrong with what was given, slots get their values.
class Builder {
 public:
  using Forward = std::function<void(const Args&, const Kwargs&)>;

  /// Numbers a model that was constructed and builds what does not wait.
  static void finish(Module& root);
  /// The module's own state is there already: nothing is made.
  static void complete(Module& module);
  /// What the values of a module that is still to be built follow from.
  struct Waiting {
    std::optional<DType> dtype = {};
    std::optional<std::uint64_t> model_key = {};
    std::string path = {};
  };
  /// Of a module that waits for its first call, whose state is all declared.
  [[nodiscard]] static std::optional<Waiting> waiting(const Module& module);
  static void set_waiting(Module& module, const Waiting& waiting);
  static BuildStatus build(Module& root, const Args& args, const Kwargs& kwargs,
                           const BuildOptions& options);
  /// In a call, before `forward`. Where variables were given, to the module or, as `given_to_call`
  /// says, to the call, runs `forward` on tensors without elements first, so that all differences
  /// are known before anything is computed. Throws RuntimeError for a module that waits for
  /// `build`, and in a pure call.
  static void prepare_call(const Module& module, const Args& args, const Kwargs& kwargs,
                           const Forward& forward, bool given_to_call);
  /// After `forward` of that call: throws StructureError where only the call could tell.
  static void finish_call(const Module& module);

 private:
  static void place(Module& module, std::uint64_t model_key, const std::string& path);
  static void declare(Module& module, const Args& args, const Kwargs& kwargs);
  static void declare_tree(Module& module, const Args& args, const Kwargs& kwargs, bool wanted);
  static void settle(Module& root);
  static bool check_given(Module& module);
  static void fill(Module& module);
  static void fill_slot(const Module& module, const SlotEntry& entry);
  static Tensor first_value(const Module& module, const SlotEntry& entry);
  static Tensor new_value(const Module& module, const SlotEntry& entry);
  static Tensor given_to(const Module& module, const std::string& name, const Slot& slot);
  static void check_may_build(const Module& module);
  static bool has_given(const Module& module);
  static bool lets_go_of_given(const Module& module);
  static bool keeps_parameters(const Module& module);
  static bool try_on_meta(const Module& module, const Args& args, const Kwargs& kwargs,
                          const Forward& forward);
  static BuildStatus status_of(Module& root);
};

}  // namespace tessera::nn::detail
