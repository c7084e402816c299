// Module: a tree of state with a forward.
//
//   struct Mlp : nn::Module {
//     nn::Child<nn::Linear> hidden{this, "hidden", 784, 512};
//     nn::Child<nn::Linear> out{this, "out", 512, 10};
//     Tensor forward(const Tensor& x) const { return out(relu(hidden(x))); }
//   };
//   auto model = nn::make<Mlp>();
//   Tensor y = model(x);
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/hooks.h>
#include <tessera/nn/parameter.h>

namespace tessera::nn {

class Module;
using ModulePtr = std::shared_ptr<Module>;

/// Names and tensors in registration order.
using StateDict = std::vector<std::pair<std::string, Tensor>>;

struct LoadResult {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// Base of all modules. State is declared by members (Parameter, Buffer, Child); `forward`, const
/// and with any signature, is found by type through Child and Ptr, so it is not virtual.
///
/// Threading: a made module may be called from several threads; changing it may not overlap calls.
class Module : public std::enable_shared_from_this<Module> {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // --- the tree -------------------------------------------------------------------------------

  /// The name under which a parent holds this module; empty for a root.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<ModulePtr>& children() const { return children_; }
  /// This module and all below it with their dotted names, parents first, each module once.
  [[nodiscard]] std::vector<std::pair<std::string, const Module*>> named_modules() const;
  /// Throws InvalidArgument naming the step that is missing.
  [[nodiscard]] Module& get_submodule(std::string_view path) const;

  /// Parameters of the whole tree in registration order, each slot once under its first name.
  [[nodiscard]] std::vector<std::pair<std::string, Parameter>> named_parameters() const;
  [[nodiscard]] std::vector<Parameter> parameters() const;
  [[nodiscard]] std::vector<std::pair<std::string, Buffer>> named_buffers() const;
  /// Every name of every slot, ties included, in registration order.
  [[nodiscard]] std::vector<std::pair<std::string, SlotPtr>> named_slots() const;
  /// Number of elements of all parameters.
  [[nodiscard]] std::int64_t parameter_count() const;

  // --- modes ----------------------------------------------------------------------------------

  [[nodiscard]] bool training() const { return training_; }
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  /// Drops all gradients; with `set_to_none` false they become zeros.
  void zero_grad(bool set_to_none = true);
  void requires_grad_(bool on = true);
  /// Converts floating parameters and buffers. Slots, and so ties and optimizers, stay.
  /// Throws InvalidArgument for a dtype that is not floating or complex.
  Module& to(DType dtype);

  // --- state ----------------------------------------------------------------------------------

  /// All parameters and persistent buffers: detached handles on the modules' own memory.
  [[nodiscard]] StateDict state_dict() const;
  /// Copies into the existing tensors. Everything is checked before anything is changed. Throws
  /// InvalidArgument listing every wrong shape and, when `strict`, every missing and unexpected
  /// key.
  LoadResult load_state_dict(const StateDict& state, bool strict = true);

  // --- hooks ----------------------------------------------------------------------------------

  /// Runs before each call of this module, through Child or Ptr, and may replace tensor arguments.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  /// Runs after each call and may replace the output.
  HookHandle register_forward_hook(ForwardHook hook);
  [[nodiscard]] ForwardHooks* forward_hooks() const { return hooks_.get(); }

  // --- text -----------------------------------------------------------------------------------

  /// The class-specific part of the printed form.
  [[nodiscard]] virtual std::string extra_repr() const { return ""; }
  /// True when outputs of one sample depend on others (batch statistics): such a module is run on
  /// one microbatch at a time.
  [[nodiscard]] virtual bool mixes_samples() const { return false; }
  [[nodiscard]] const std::string& class_name() const { return class_name_; }

  // --- for Parameter, Buffer, Child and make -----------------------------------------------------

  void register_slot(std::string_view name, SlotPtr slot);
  /// Points the name of `old` to another slot.
  void replace_slot(const SlotPtr& old, SlotPtr now);
  void register_child(std::string_view name, ModulePtr child);
  /// Calls `forward(const Tensor&)` through the hooks. Throws Unsupported when forward has another
  /// signature.
  [[nodiscard]] Tensor call(const Tensor& x) const;

  using Thunk = Tensor (*)(const Module&, const Tensor&);
  void describe(std::string class_name, Thunk thunk);
  /// Gives parameters their values, keyed by full name. Called by `make` on the root.
  void materialize();

 private:
  void check_name(std::string_view name) const;

  std::string name_;
  std::string class_name_ = "Module";
  bool training_ = true;
  Thunk thunk_ = nullptr;
  std::vector<std::pair<std::string, SlotPtr>> slots_;
  std::vector<ModulePtr> children_;
  std::unique_ptr<ForwardHooks> hooks_;
};

/// Prints the tree in the form of torch.nn.Module.
std::ostream& operator<<(std::ostream&, const Module&);

}  // namespace tessera::nn

#include <tessera/nn/call.h>
