// The base class of modules: a tree of state with a forward. See nn/module.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/hooks/call_hooks.h>
#include <tessera/nn/parameter.h>
#include <tessera/nn/tree/entries.h>

namespace tessera::nn {

/// Names and tensors in registration order.
using StateDict = std::vector<std::pair<std::string, Tensor>>;

struct LoadResult {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// Which parameters or buffers are listed, and under which names.
struct IterOptions {
  std::string prefix;            ///< put before every name, with a dot
  bool recurse = true;           ///< false: the module's own only
  bool remove_duplicate = true;  ///< each slot once, under its first name; false: every name
};

template <class T>
using Named = std::vector<std::pair<std::string, T>>;

/// Base of all modules. State is declared by members (Parameter, Buffer, Child) or registered by
/// name; `forward`, const and with any signature, is found by type through Child and Ptr, so it
/// need not be virtual. Lists are in registration order, parents before children, and leave out
/// names that are only reserved.
///
/// Threading: a made module may be called from several threads; changing it may not overlap calls.
class Module : public std::enable_shared_from_this<Module> {
 public:
  Module();
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // --- registration: nn/tree/registration.cpp --------------------------------------------------

  /// Adds a parameter under `name`, or replaces the one there. `value` becomes the parameter
  /// itself. Throws KeyError for a name that is empty, holds '.' or '/', is `_extra_state` or
  /// stands for something of another kind, and ValueError for a tensor that an op computed.
  Parameter register_parameter(const std::string& name, const Tensor& value,
                               bool requires_grad = true);
  /// Reserves the name.
  Parameter register_parameter(const std::string& name, std::nullptr_t);
  /// The same for state that is not trained; when not `persistent` it is left out of state dicts.
  Buffer register_buffer(const std::string& name, const Tensor& value, bool persistent = true);
  Buffer register_buffer(const std::string& name, std::nullptr_t, bool persistent = true);
  /// The same for a child. Throws ValueError for a module that holds this one, and TypeError for
  /// one that the member declared under the name cannot hold.
  template <std::derived_from<Module> M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> child) {
    put_child(name, child);
    return child;
  }
  void register_module(const std::string& name, std::nullptr_t) { put_child(name, nullptr); }
  template <class M>
  auto add_module(const std::string& name, M&& child) {
    return register_module(name, std::forward<M>(child));
  }
  /// Empties what `name` stands for; the name stays reserved. Throws AttributeError for an unknown
  /// one, as `erase` does.
  void set(std::string_view name, std::nullptr_t);
  /// Frees the name.
  void erase(std::string_view name);

  // --- lookup by dotted path: nn/tree/lookup.cpp -------------------------------------------------

  /// Throws AttributeError naming the step that is missing or no module. An empty path gives this.
  [[nodiscard]] Module& get_submodule(std::string_view path) const;
  /// Replaces the child at `path`, or, unless `strict`, adds it below a module that is there.
  /// Throws ValueError for an empty path, a null module or a cycle, AttributeError for a path that
  /// leads nowhere, TypeError for a module that the member under that name cannot hold.
  void set_submodule(std::string_view path, const ModulePtr& module, bool strict = false);
  /// Throws AttributeError for what is missing, empty or no parameter.
  [[nodiscard]] Parameter get_parameter(std::string_view path) const;
  /// Nothing for a reserved name. Throws AttributeError for what is missing or no buffer.
  [[nodiscard]] std::optional<Tensor> get_buffer(std::string_view path) const;

  // --- place in the tree: nn/tree/position.cpp
  // ----------------------------------------------------

  /// Steps from the root, which has 0. Of several parents the first counts.
  [[nodiscard]] int mod_depth() const;
  /// Steps to the deepest module below; a leaf has 0.
  [[nodiscard]] int mod_height() const;
  /// The root, or the module `levels` above, at most the root.
  [[nodiscard]] const Module& top_mod(std::optional<int> levels = {}) const;
  /// The dotted path from `top`, by default the root, to this module. Throws ValueError when this
  /// module is not below `top`.
  [[nodiscard]] std::string get_mod_key(const Module* top = nullptr) const;

  // --- lists: nn/tree/iteration.cpp
  // ----------------------------------------------------------------

  [[nodiscard]] Named<Parameter> named_parameters(const IterOptions& options = {}) const;
  [[nodiscard]] std::vector<Parameter> parameters(bool recurse = true) const;
  /// Persistent or not.
  [[nodiscard]] Named<Buffer> named_buffers(const IterOptions& options = {}) const;
  [[nodiscard]] std::vector<Buffer> buffers(bool recurse = true) const;
  /// Direct children, each once.
  [[nodiscard]] Named<ModulePtr> named_children() const;
  [[nodiscard]] std::vector<ModulePtr> children() const;
  /// This module as `prefix` and all below it. What is in `memo` is left out with all below it, and
  /// what is listed is entered; when duplicates stay, nothing is.
  [[nodiscard]] Named<Module*> named_modules(std::unordered_set<const Module*>* memo = nullptr,
                                             const std::string& prefix = "",
                                             bool remove_duplicate = true) const;
  [[nodiscard]] std::vector<Module*> modules() const;
  /// Every name of every slot, ties included.
  [[nodiscard]] Named<SlotPtr> named_slots() const;
  /// Number of elements of all parameters.
  [[nodiscard]] std::int64_t parameter_count() const;

  // --- modes: nn/modes.cpp ----------------------------------------------------------------------

  [[nodiscard]] bool training() const { return training_; }
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  /// Drops all gradients; with `set_to_none` false they become zeros, off any tape.
  void zero_grad(bool set_to_none = true);
  Module& requires_grad_(bool on = true);
  /// Calls `visit` for all modules of the tree, children before their parents, this one last. A
  /// module below two parents is visited twice, unless `once`.
  Module& apply(const std::function<void(Module&)>& visit, bool once = false);
  /// Converts floating parameters and buffers. Slots, and so ties and optimizers, stay.
  /// Throws TypeError for a dtype that is not floating or complex.
  Module& to(DType dtype);

  // --- state ----------------------------------------------------------------------------------

  /// All parameters and persistent buffers: detached handles on the modules' own memory.
  [[nodiscard]] StateDict state_dict() const;
  /// Copies into the existing tensors. Everything is checked before anything is changed. Throws
  /// RuntimeError listing every wrong shape and, when `strict`, every missing and unexpected key.
  LoadResult load_state_dict(const StateDict& state, bool strict = true);

  // --- hooks ----------------------------------------------------------------------------------

  /// Runs before each call of this module, through Child or Ptr: `hook(module, args)` or
  /// `hook(module, args, kwargs)`, which may return new ones; a single tensor stands for the only
  /// argument.
  template <detail::PreHookLike F>
  RemovableHandle register_forward_pre_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().forward.pre->add(forward_pre_hook(std::move(hook)), options.prepend);
  }
  /// Runs after each call: `hook(module, args, output)` or `hook(module, args, kwargs, output)`,
  /// which may return a new output.
  template <detail::HookLike F>
  RemovableHandle register_forward_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().forward.post->add(forward_hook(std::move(hook), options.always_call),
                                              options.prepend);
  }
  /// Runs before this module's gradients are computed: `hook(module, grad_output)`, which may
  /// return new ones.
  template <detail::HookOn<const Grads&> F>
  RemovableHandle register_full_backward_pre_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().backward.pre->add(backward_pre_hook(std::move(hook)), options.prepend);
  }
  /// Runs when the gradients of this module's inputs are there: `hook(module, grad_input,
  /// grad_output)`, which may return new ones for the inputs. See nn/hooks/backward_hooks.h.
  template <detail::HookOn<const Grads&, const Grads&> F>
  RemovableHandle register_full_backward_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().backward.full->add(backward_hook(std::move(hook)), options.prepend);
  }
  /// Null when there never were any.
  [[nodiscard]] const CallHooks* call_hooks() const { return hooks_.get(); }

  // --- text -----------------------------------------------------------------------------------

  /// The class-specific part of the printed form.
  [[nodiscard]] virtual std::string extra_repr() const { return ""; }
  /// The printed form, that of torch.nn.Module.
  [[nodiscard]] std::string repr() const;
  [[nodiscard]] virtual std::string class_name() const { return class_->name; }
  /// True when outputs of one sample depend on others (batch statistics): such a module is run on
  /// one microbatch at a time.
  [[nodiscard]] virtual bool mixes_samples() const { return false; }

  // --- for Parameter, Buffer, Child and make -----------------------------------------------------

  /// The entry of a name, new or of the same kind. Throws KeyError for a bad name.
  SlotEntryPtr slot_entry(std::string_view name, Slot::Kind kind);
  ChildEntryPtr child_entry(std::string_view name);
  /// Puts `slot` or `child` behind a name, as the registration hooks give it; null reserves it.
  void put_slot(const SlotEntryPtr& entry, SlotPtr slot);
  void put_child(const ChildEntryPtr& entry, ModulePtr child);
  void put_child(std::string_view name, ModulePtr child) {
    put_child(child_entry(name), std::move(child));
  }
  [[nodiscard]] const std::vector<SlotEntryPtr>& slot_entries() const { return slots_; }
  [[nodiscard]] const std::vector<ChildEntryPtr>& child_entries() const { return children_; }
  /// What the class is made of, found out when `make` or Child constructed it.
  [[nodiscard]] const ClassInfo& class_info() const { return *class_; }
  /// The name under which the first parent holds this module; empty for a root.
  [[nodiscard]] const std::string& key() const;
  /// Calls `forward(const Tensor&)` as the child `key` through the hooks. Throws
  /// NotImplementedError without a forward, Unsupported when it has another signature.
  [[nodiscard]] Tensor call(const Tensor& x) const { return call(key(), x); }
  [[nodiscard]] Tensor call(const std::string& key, const Tensor& x) const;
  /// Gives parameters their values, keyed by full name. Called by `make` on the root.
  void materialize();

 private:
  /// What a name stands for: "parameter", "buffer", "module", or null for nothing.
  [[nodiscard]] const char* kind_of(std::string_view name) const;
  void check_name(std::string_view name, const char* kind) const;
  [[nodiscard]] SlotEntryPtr find_slot(std::string_view name) const;
  [[nodiscard]] ChildEntryPtr find_child(std::string_view name) const;
  void disown(const ModulePtr& child) const;
  CallHooks& own_call_hooks();

  const ClassInfo* class_;
  bool training_ = true;
  std::vector<SlotEntryPtr> slots_;
  std::vector<ChildEntryPtr> children_;
  const Module* parent_ = nullptr;  ///< the first; cleared when it lets go
  std::unique_ptr<CallHooks> hooks_;
};

/// Prints the tree in the form of torch.nn.Module.
std::ostream& operator<<(std::ostream&, const Module&);

}  // namespace tessera::nn
