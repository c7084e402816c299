// The base class of modules: a tree of state with a forward. See nn/module.h.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/hooks/call_hooks.h>
#include <tessera/nn/hooks/state_hooks.h>
#include <tessera/nn/memory_format.h>
#include <tessera/nn/parameter.h>
#include <tessera/nn/tree/entries.h>
#include <tessera/nn/tree/forward.h>
#include <tessera/nn/tree/listing.h>

namespace tessera::nn {

/// Base of all modules. State is declared by members (Parameter, Buffer, Child) or registered by
/// name; `forward`, const and with any signature, is found by type through Child and Ptr, so it
/// need not be virtual. Lists are in registration order, parents before children, and leave out
/// names that are only reserved; they throw RuntimeError naming a module whose state is not known
/// because it is not built.
///
/// Threading: a built module may be called from several threads; changing it, which the call that
/// builds it does too, may not overlap calls.
class Module : public std::enable_shared_from_this<Module> {
 public:
  Module();
  virtual ~Module();
  /// For `clone` and its like alone: throws RuntimeError outside them. Members are copied by their
  /// own copy constructors, of which those of Parameter, Buffer and Child see to the tree; a class
  /// with members that cannot be copied deletes its copy constructor.
  Module(const Module& other);
  Module& operator=(const Module&) = delete;

  // --- registration: nn/tree/registration.cpp --------------------------------------------------

  /// Adds a parameter under `name`, or replaces the one there. `value` becomes the parameter
  /// itself. Throws KeyError for a name that is empty, holds '.' or '/', is `_extra_state` or
  /// stands for something of another kind, ValueError for a tensor that an op computed, and
  /// TypeError for an undefined one; then the name is what it was.
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
  template <std::derived_from<Module> M>
  void register_module(const std::string&, const M&) = delete;  // write nn::make<M>(...)
  template <class M>
  auto add_module(const std::string& name, M&& child) {
    return register_module(name, std::forward<M>(child));
  }
  /// Empties what `name` stands for; the name stays reserved. Throws AttributeError for an unknown
  /// one, as `erase` does.
  void set(std::string_view name, std::nullptr_t);
  /// Frees the name.
  void erase(std::string_view name);

  // --- building: nn/build/build.cpp ------------------------------------------------------------
  // `make` builds what it constructs, but for what ModuleOptions or its class tell to wait.

  /// Gives the module and all below it what state they lack; what waits for its first call still
  /// does. With ModuleOptions::store_vars off the status holds the only copy of the parameters.
  /// Throws StructureError when the module was given other variables than it has.
  BuildStatus build(const Args& args, const Kwargs& kwargs, const BuildOptions& options);
  BuildStatus build(const Args& args = {}, const Kwargs& kwargs = {});
  /// Whether the module and all below it have what they compute with.
  [[nodiscard]] bool built() const;
  [[nodiscard]] BuildMode build_mode() const;
  /// Under which a function that calls this module holds its state; see nn/functional/state.h.
  [[nodiscard]] const std::optional<std::string>& name() const;
  /// Of new state.
  [[nodiscard]] Device device() const;
  [[nodiscard]] DType dtype() const;
  /// Over which state may be distributed; the first is `device` unless another was chosen.
  [[nodiscard]] std::vector<Device> devices() const;
  /// What `build` was given last.
  [[nodiscard]] const Args& build_args() const { return build_args_; }
  [[nodiscard]] const Kwargs& build_kwargs() const { return build_kwargs_; }

  // --- lookup by dotted path: nn/tree/lookup.cpp -----------------------------------------------

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

  // --- place in the tree: nn/tree/position.cpp -------------------------------------------------
  // Of several parents the one counts through which the call under way came, else the first.

  [[nodiscard]] int mod_depth() const;   ///< steps from the root, which has 0
  [[nodiscard]] int mod_height() const;  ///< steps to the deepest module below; a leaf has 0
  /// The root, or the module `levels` above, at most the root.
  [[nodiscard]] const Module& top_mod(std::optional<int> levels = {}) const;
  /// The parameters of that module.
  [[nodiscard]] Variables top_v(std::optional<int> levels = {}) const;
  /// What is below, as a tree of names: nn/tree/sub_mods.h.
  [[nodiscard]] SubMods sub_mods(const SubModsOptions& options) const;
  [[nodiscard]] SubMods sub_mods() const;
  /// The dotted path from `top`, by default the root, to this module. Throws ValueError when this
  /// module is not below `top`.
  [[nodiscard]] std::string get_mod_key(const Module* top = nullptr) const;

  // --- lists: nn/tree/iteration.cpp ------------------------------------------------------------

  [[nodiscard]] Named<Parameter> named_parameters(const IterOptions& options = {}) const;
  [[nodiscard]] std::vector<Parameter> parameters(bool recurse = true) const;
  operator std::vector<Parameter>() const = delete;  // for an optimizer: model.parameters()
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
  [[nodiscard]] std::int64_t parameter_count() const;  ///< elements of all parameters

  // --- modes: nn/modes.cpp ---------------------------------------------------------------------

  /// The module's own flag, or what the call under way was told.
  [[nodiscard]] bool training() const;
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  /// Drops all gradients; with `set_to_none` false they become zeros, off any tape.
  void zero_grad(bool set_to_none = true);
  Module& requires_grad_(bool on = true);
  /// Calls `visit` for all modules of the tree, children before their parents, this one last. A
  /// module below two parents is visited twice, unless `once`.
  Module& apply(const std::function<void(Module&)>& visit, bool once = false);

  // --- casts and moves: nn/moves.cpp -----------------------------------------------------------
  // All change parameters, their gradients and buffers in place and return this module. Slots, and
  // so ties, hooks and optimizers, stay; handles on the old tensors keep the old values. They throw
  // before anything is changed: NotImplementedError for a device that this build lacks or, but
  // for `to_empty`, for tensors without elements, RuntimeError for state that ranks share.

  /// Converts what is floating or complex. Throws TypeError for a dtype that is neither.
  Module& to(DType dtype, bool non_blocking = false);
  /// Moves everything, and converts as above.
  Module& to(Device device, std::optional<DType> dtype = {}, bool non_blocking = false);
  /// To the device and dtype of `like`.
  Module& to(const Tensor& like, bool non_blocking = false);
  /// Lays out tensors of four and five dims.
  Module& to(MemoryFormat format);
  /// These convert what is floating, and leave complex numbers alone.
  Module& to_float() { return to_floating(DType::f32); }
  Module& to_double() { return to_floating(DType::f64); }
  Module& to_half() { return to_floating(DType::f16); }
  Module& to_bfloat16() { return to_floating(DType::bf16); }
  /// Converts everything, integers too. Throws TypeError for a trained parameter that would not be
  /// floating or complex, InvalidArgument for a name that is no dtype.
  Module& type(DType dtype);
  Module& type(std::string_view dtype);
  Module& cpu() { return to(Device{}); }
  Module& cuda(std::optional<int> index = {}) { return to_device(DeviceType::cuda, index); }
  Module& xpu(std::optional<int> index = {}) { return to_device(DeviceType::xpu, index); }
  Module& ipu(std::optional<int> index = {}) { return to_device(DeviceType::ipu, index); }
  Module& mtia(std::optional<int> index = {}) { return to_device(DeviceType::mtia, index); }
  /// Uninitialised tensors of the same shapes and dtypes on `device`.
  Module& to_empty(Device device, bool recurse = true);
  /// Puts the tensors into memory that processes forked from now on share.
  Module& share_memory();

  // --- calls: nn/tree/module.cpp, nn/functional/module_calls.cpp -------------------------------
  // For modules of any class whose forward takes and gives one tensor; Ptr and Child call every
  // forward by its own signature, and nn/functional/pure.h has the pure forms for those. They throw
  // NotImplementedError without a forward, Unsupported when it has another signature.

  /// Runs hooks and forward.
  Tensor operator()(const Tensor& x) const { return call_as(key(), x); }
  /// Pure: no hooks, nothing is changed. What forward assigned is in the module that `update` and
  /// `call_and_update` give, which shares everything else with this one.
  [[nodiscard]] virtual Tensor call(const Tensor& x) const;
  [[nodiscard]] virtual ModulePtr update(const Tensor& x) const;
  [[nodiscard]] virtual std::pair<Tensor, ModulePtr> call_and_update(const Tensor& x) const;

  // --- state: nn/state/save.cpp, nn/state/load.cpp ---------------------------------------------

  /// Parameters, persistent buffers and extra state by every name, on the modules' own memory.
  StateDict state_dict(const StateDictOptions& options = {}) const;
  /// Copies into the existing tensors, of which those without elements take nothing, with a
  /// warning; or, with `assign`, takes the given ones. Throws RuntimeError listing all that does
  /// not fit and, when `strict`, every missing and unexpected key; then, and when a hook or
  /// `set_extra_state` throws, nothing is changed.
  LoadResult load_state_dict(const StateDict& state, const LoadOptions& options = {});
  /// The parameters as a tree, each under its first name, detached: nn/state/variables.h.
  [[nodiscard]] Variables v() const;
  /// Copies into the parameters, and so into those of a module that shares their memory, as what
  /// `update` gives does. A place without a value is one here too. Throws StructureError listing
  /// all that does not fit, and then changes nothing.
  void set_v(const Variables& values);
  /// Parameters and all buffers.
  [[nodiscard]] Variables variables() const;

  // --- as a value: nn/tree/copying.cpp, nn/state/flatten.cpp -----------------------------------
  // Copies have new slots with the ties of the old ones, and no hooks. They throw Unsupported
  // naming a class without a copy constructor.

  /// A copy with its own memory.
  [[nodiscard]] ModulePtr clone() const;
  /// The tensors of all slots, each once, detached, and everything else.
  [[nodiscard]] std::pair<std::vector<Tensor>, TreeDef> flatten() const;
  /// The inverse: a module on the memory of `leaves`. Undefined leaves leave slots without a value;
  /// shapes and dtypes are taken as they come. Throws StructureError for another number of leaves.
  [[nodiscard]] static ModulePtr unflatten(const TreeDef& definition,
                                           std::span<const Tensor> leaves);
  /// The ops of these names, which a forward that writes `flatten(x, 1)` means.
  [[nodiscard]] static Tensor clone(const Tensor& x);
  [[nodiscard]] static Tensor flatten(const Tensor& x, int first = 0, int last = -1);
  [[nodiscard]] static Tensor unflatten(const Tensor& x, int dim, const Shape& sizes);
  /// A copy whose slots hold what `value_of` makes of the old ones.
  [[nodiscard]] ModulePtr copy_with(const std::function<Tensor(const Slot&)>& value_of) const;

  /// Written to state dicts, so that a later version of a class can tell what it is given.
  [[nodiscard]] virtual int state_version() const { return 1; }
  /// What a registered class is made again from: nn/state/serialize.h.
  [[nodiscard]] virtual Value config() const { return {}; }

  // --- hooks -----------------------------------------------------------------------------------

  /// Runs before each call of this module, through Child or Ptr: `hook(module, args)` or
  /// `hook(module, args, kwargs)`, which may return new ones; a single tensor stands for the only
  /// argument. Like all but forward hooks, throws ValueError for `always_call`.
  template <class F>
  RemovableHandle register_forward_pre_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().add_forward_pre(std::move(hook), options);
  }
  /// Runs after each call: `hook(module, args, output)` or `hook(module, args, kwargs, output)`,
  /// which may return a new output.
  template <class F>
  RemovableHandle register_forward_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().add_forward(std::move(hook), options);
  }
  /// Runs before this module's gradients are computed: `hook(module, grad_output)`, which may
  /// return new ones.
  template <class F>
  RemovableHandle register_full_backward_pre_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().add_backward_pre(std::move(hook), options);
  }
  /// Runs when the gradients of this module's inputs are there: `hook(module, grad_input,
  /// grad_output)`, which may return new ones for the inputs. See nn/hooks/backward_hooks.h.
  template <class F>
  RemovableHandle register_full_backward_hook(F hook, const HookOptions& options = {}) {
    return own_call_hooks().add_backward(std::move(hook), options, class_name());
  }
  /// The older form, which sees the gradients around the op that computed the first output. Throws
  /// RuntimeError beside full backward hooks.
  template <class F>
  [[deprecated("use register_full_backward_hook")]] RemovableHandle register_backward_hook(F hook) {
    return own_call_hooks().add_legacy(std::move(hook), class_name());
  }
  /// Null when there never were any.
  [[nodiscard]] const CallHooks* call_hooks() const { return call_hooks_.get(); }

  /// Around `state_dict` and `load_state_dict`, also of a tree: see nn/hooks/state_hooks.h.
  RemovableHandle register_state_dict_pre_hook(StateDictPreHook hook);
  RemovableHandle register_state_dict_post_hook(StateDictPostHook hook);
  RemovableHandle register_load_state_dict_pre_hook(LoadPreHook hook);
  RemovableHandle register_load_state_dict_post_hook(LoadPostHook hook);
  [[nodiscard]] const StateHooks* state_hooks() const { return state_hooks_.get(); }

  // --- text ------------------------------------------------------------------------------------

  /// The class-specific part of the printed form.
  [[nodiscard]] virtual std::string extra_repr() const { return ""; }
  /// The printed form, that of torch.nn.Module.
  [[nodiscard]] std::string repr() const;
  [[nodiscard]] virtual std::string class_name() const { return class_->name; }
  /// True when children in a row with one printed form are printed once, with their number.
  [[nodiscard]] virtual bool joins_equal_children() const { return false; }
  /// True when outputs of one sample depend on others (batch statistics): such a module is run on
  /// one microbatch at a time.
  [[nodiscard]] virtual bool mixes_samples() const { return false; }

  // --- for Parameter, Buffer, Child and make ---------------------------------------------------

  /// The entry of a name, new or of the same kind. Throws KeyError for a bad name.
  SlotEntryPtr slot_entry(std::string_view name, Slot::Kind kind);
  ChildEntryPtr child_entry(std::string_view name);
  /// Replaces the value of every slot, and its gradient, by what `f` makes of it; see "casts and
  /// moves". Children come first, then own parameters, then own buffers.
  void for_each_slot_storage(const std::function<Tensor(const Tensor&)>& f, bool recurse = true);
  /// Puts `slot` or `child` behind a name, as the registration hooks give it; null reserves it.
  void put_slot(const SlotEntryPtr& entry, SlotPtr slot);
  void put_child(const ChildEntryPtr& entry, ModulePtr child);
  void put_child(std::string_view name, ModulePtr child);
  /// What `name` of this module is in the whole tree.
  [[nodiscard]] std::string full_name(std::string_view name) const;
  /// Gives the slots of this module and below it their full names.
  void name_slots() const;
  [[nodiscard]] const std::vector<SlotEntryPtr>& slot_entries() const { return slots_; }
  [[nodiscard]] const std::vector<ChildEntryPtr>& child_entries() const { return children_; }
  /// The entry of a name of this module's own, or null.
  [[nodiscard]] SlotEntryPtr find_slot(std::string_view name) const;
  [[nodiscard]] ChildEntryPtr find_child(std::string_view name) const;
  /// What the class is made of, found out when `make` or Child constructed it.
  [[nodiscard]] const ClassInfo& class_info() const { return *class_; }
  /// The name under which the first parent holds this module; empty for a root.
  [[nodiscard]] const std::string& key() const;
  /// As operator(), as the child `key`.
  [[nodiscard]] Tensor call_as(const std::string& key, const Tensor& x) const;
  /// The number of `module` among those of its class in this module's tracked calls.
  [[nodiscard]] int submod_number(const Module& module) const;
  /// False while a call must still build this module, or compare it with what it was given.
  [[nodiscard]] bool ready() const { return ready_; }
  /// Throws RuntimeError unless all names of this module's own state are there.
  void check_state_known() const;
  /// A module that listed its state before its first call, and now has all of it, is built.
  void build_if_loaded();
  /// As named_modules, also of what is not built.
  [[nodiscard]] Named<Module*> all_modules() const;

 protected:
  /// Makes what the constructor could not, from the arguments of `build` or of the first call.
  /// Runs once, before state has values. False: what is made here is complete only after a call,
  /// which the modules in it wait for; until then this one is not built.
  virtual bool do_build(const Args& /*args*/, const Kwargs& /*kwargs*/) { return true; }
  /// Registers more state of the module's own, after `do_build`.
  virtual void create_variables(Device /*device*/, DType /*dtype*/) {}
  /// For constructors: the first call builds this module, whose state is all declared already,
  /// with kInferred for sizes that the call tells.
  void build_on_call();
  /// For containers: the class that all children must be of, or null; and names came or went.
  [[nodiscard]] virtual const ClassInfo* class_of_children() const { return nullptr; }
  virtual void children_changed() {}

 private:
  friend class detail::Builder;
  /// What a name stands for: "parameter", "buffer", "module", or null for nothing.
  [[nodiscard]] const char* kind_of(std::string_view name) const;
  void check_name(std::string_view name, const char* kind) const;
  void check_known(std::string_view name) const;
  /// This module and the names and modules above it, up to the root.
  [[nodiscard]] std::vector<std::pair<std::string, const Module*>> line_up() const;
  bool own(const ModulePtr& child) const;
  void disown(const ModulePtr& child) const;
  void name_slots(const std::string& path, std::unordered_set<const Slot*>& seen) const;
  Module& to_floating(DType dtype);
  Module& to_device(DeviceType type, std::optional<int> index);
  /// Device and dtype of state that is still to be made; nothing leaves them as they are.
  void adopt(std::optional<Device> device, std::optional<DType> dtype);
  void adopt_below(std::optional<Device> device, std::optional<DType> dtype);
  CallHooks& own_call_hooks();
  StateHooks& own_state_hooks();

  const ClassInfo* class_;
  bool training_ = true;
  bool declared_ = false;     ///< do_build ran
  bool partly_ = false;       ///< and left something for the first call
  bool ready_ = false;        ///< calls go straight to forward
  bool lists_state_ = false;  ///< all names are there before do_build
  std::vector<SlotEntryPtr> slots_;
  std::vector<ChildEntryPtr> children_;
  const Module* parent_ = nullptr;            ///< the first; when it lets go, the next
  std::vector<const Module*> other_parents_;  ///< one for each further name, in order
  std::unique_ptr<CallHooks> call_hooks_;
  std::unique_ptr<StateHooks> state_hooks_;
  mutable std::shared_ptr<SubmodNumbers> submod_numbers_;  ///< made by the first tracked call
  std::shared_ptr<const ModuleOptions> options_;           ///< null: the defaults
  std::optional<std::uint64_t> model_key_;  ///< of the random numbers of the model that it came in
  std::string path_;                        ///< its name in that model
  Args build_args_;
  Kwargs build_kwargs_;
};

/// Prints the tree in the form of torch.nn.Module.
std::ostream& operator<<(std::ostream&, const Module&);

}  // namespace tessera::nn
