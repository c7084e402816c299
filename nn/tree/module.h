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
#include <tessera/nn/build/build.h>
#include <tessera/nn/functional/module_calls.h>
#include <tessera/nn/modes.h>
#include <tessera/nn/moves.h>
#include <tessera/nn/print.h>
#include <tessera/nn/state/module_state.h>
#include <tessera/nn/tree/listing.h>
#include <tessera/nn/tree/lookup.h>
#include <tessera/nn/tree/module_data.h>
#include <tessera/nn/tree/position.h>
#include <tessera/nn/tree/registration.h>

namespace tessera::nn {

/// Base of all modules. State is declared by members (Parameter, Buffer, Child) or registered by
/// name; `forward`, const and with any signature, is found by type through Child and Ptr, so it
/// need not be virtual. Lists are in registration order, parents before children, and leave out
/// names that are only reserved; they throw RuntimeError naming a module whose state is not known
/// because it is not built.
///
/// Threading: a built module may be called from several threads; changing it, which the call that
/// builds it does too, may not overlap calls.
///
/// Members say what is done; functions of the face that each section names do it.
class Module : public std::enable_shared_from_this<Module> {
 public:
  Module();
  virtual ~Module();
  /// For `clone` and its like alone: throws RuntimeError outside them. Members are copied by their
  /// own copy constructors, of which those of Parameter, Buffer and Child see to the tree; a class
  /// with members that cannot be copied deletes its copy constructor.
  Module(const Module& other);
  Module& operator=(const Module&) = delete;

  // --- registration: nn/tree/registration.h ----------------------------------------------------

  /// Adds a parameter under `name`, or replaces the one there. `value` becomes the parameter
  /// itself. Throws KeyError for a name that is empty, holds '.' or '/', is `_extra_state` or
  /// stands for something of another kind, ValueError for a tensor that an op computed, and
  /// TypeError for an undefined one; then the name is what it was.
  Parameter register_parameter(const std::string& name, const Tensor& value,
                               bool requires_grad = true) {
    return detail::register_parameter(*this, name, value, requires_grad);
  }
  /// Reserves the name, under which nothing is saved.
  Parameter register_parameter(const std::string& name, std::nullptr_t) {
    return Parameter(detail::reserve(*this, name, Slot::Kind::parameter));
  }
  /// Adds or replaces state that is not trained; when not `persistent` it is left out of state
  /// dicts.
  Buffer register_buffer(const std::string& name, const Tensor& value, bool persistent = true) {
    return detail::register_buffer(*this, name, value, persistent);
  }
  Buffer register_buffer(const std::string& name, std::nullptr_t, bool /*persistent*/ = true) {
    return Buffer(detail::reserve(*this, name, Slot::Kind::buffer));
  }
  /// Adds or replaces a child. Throws ValueError for a module that holds this one, and TypeError
  /// for one that the member declared under the name cannot hold.
  template <std::derived_from<Module> M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> child) {
    detail::put_child(*this, name, child);
    return child;
  }
  void register_module(const std::string& name, std::nullptr_t) {
    detail::put_child(*this, name, nullptr);
  }
  template <std::derived_from<Module> M>
  void register_module(const std::string&, const M&) = delete;  // write nn::make<M>(...)
  template <class M>
  auto add_module(const std::string& name, M&& child) {
    return register_module(name, std::forward<M>(child));
  }
  /// Empties what `name` stands for; the name stays reserved. Throws AttributeError for an unknown
  /// one, as `erase` does.
  void set(std::string_view name, std::nullptr_t) { detail::set(*this, name, nullptr); }
  /// Frees the name.
  void erase(std::string_view name) { detail::erase(*this, name); }

  // --- building: nn/build/build.h --------------------------------------------------------------
  // `make` builds what it constructs, but for what ModuleOptions or its class tell to wait.

  /// Gives the module and all below it what state they lack; what waits for its first call still
  /// does. With ModuleOptions::store_vars off the status holds the only copy of the parameters.
  /// Throws StructureError when the module was given other variables than it has.
  BuildStatus build(const Args& args, const Kwargs& kwargs, const BuildOptions& options);
  BuildStatus build(const Args& args = {}, const Kwargs& kwargs = {});
  /// Whether the module and all below it have what they compute with.
  [[nodiscard]] bool built() const { return detail::built(*this); }
  [[nodiscard]] BuildMode build_mode() const { return detail::build_mode(*this); }
  /// The name under which a function that calls this module holds its state; see
  /// nn/functional/state.h.
  [[nodiscard]] const std::optional<std::string>& name() const { return detail::name(*this); }
  /// The device of new state.
  [[nodiscard]] Device device() const { return detail::device(*this); }
  [[nodiscard]] DType dtype() const { return detail::dtype(*this); }
  /// The devices over which state may be distributed; the first is `device` unless another was
  /// chosen.
  [[nodiscard]] std::vector<Device> devices() const { return detail::devices(*this); }
  /// What `build` was given last.
  [[nodiscard]] const Args& build_args() const { return data_.build.args; }
  [[nodiscard]] const Kwargs& build_kwargs() const { return data_.build.kwargs; }

  // --- lookup by dotted path: nn/tree/lookup.h -------------------------------------------------

  /// Throws AttributeError naming the step that is missing or no module. An empty path gives this.
  [[nodiscard]] Module& get_submodule(std::string_view path) const {
    return detail::get_submodule(*this, path);
  }
  /// Replaces the child at `path`, or, unless `strict`, adds it below a module that is there.
  /// Throws ValueError for an empty path, a null module or a cycle, AttributeError for a path that
  /// leads nowhere, TypeError for a module that the member under that name cannot hold.
  void set_submodule(std::string_view path, const ModulePtr& module, bool strict = false) {
    detail::set_submodule(*this, path, module, strict);
  }
  /// Throws AttributeError for what is missing, empty or no parameter.
  [[nodiscard]] Parameter get_parameter(std::string_view path) const {
    return detail::get_parameter(*this, path);
  }
  /// Nothing for a reserved name. Throws AttributeError for what is missing or no buffer.
  [[nodiscard]] std::optional<Tensor> get_buffer(std::string_view path) const {
    return detail::get_buffer(*this, path);
  }

  // --- place in the tree: nn/tree/position.h ---------------------------------------------------
  // Of several parents the one counts through which the call under way came, else the first.

  /// Steps from the root, which has 0.
  [[nodiscard]] int mod_depth() const { return detail::mod_depth(*this); }
  /// Steps to the deepest module below; a leaf has 0.
  [[nodiscard]] int mod_height() const { return detail::mod_height(*this); }
  /// The root, or the module `levels` above, at most the root.
  [[nodiscard]] const Module& top_mod(std::optional<int> levels = {}) const {
    return detail::top_mod(*this, levels);
  }
  /// The parameters of that module.
  [[nodiscard]] Variables top_v(std::optional<int> levels = {}) const;
  /// What is below, as a tree of names: nn/tree/sub_mods.h.
  [[nodiscard]] SubMods sub_mods(const SubModsOptions& options) const;
  [[nodiscard]] SubMods sub_mods() const;
  /// The dotted path from `top`, by default the root, to this module. Throws ValueError when this
  /// module is not below `top`.
  [[nodiscard]] std::string get_mod_key(const Module* top = nullptr) const {
    return detail::get_mod_key(*this, top);
  }

  // --- lists: nn/tree/listing.h ----------------------------------------------------------------

  [[nodiscard]] Named<Parameter> named_parameters(const IterOptions& options = {}) const {
    return detail::named_parameters(*this, options);
  }
  [[nodiscard]] std::vector<Parameter> parameters(bool recurse = true) const {
    return detail::values_of(named_parameters({.recurse = recurse}));
  }
  operator std::vector<Parameter>() const = delete;  // for an optimizer: model.parameters()
  /// Persistent or not.
  [[nodiscard]] Named<Buffer> named_buffers(const IterOptions& options = {}) const {
    return detail::named_buffers(*this, options);
  }
  [[nodiscard]] std::vector<Buffer> buffers(bool recurse = true) const {
    return detail::values_of(named_buffers({.recurse = recurse}));
  }
  /// Direct children, each once.
  [[nodiscard]] Named<ModulePtr> named_children() const { return detail::named_children(*this); }
  [[nodiscard]] std::vector<ModulePtr> children() const {
    return detail::values_of(named_children());
  }
  /// This module as `prefix` and all below it. What is in `memo` is left out with all below it, and
  /// what is listed is entered; when duplicates stay, nothing is.
  [[nodiscard]] Named<Module*> named_modules(std::unordered_set<const Module*>* memo = nullptr,
                                             const std::string& prefix = "",
                                             bool remove_duplicate = true) const {
    return detail::named_modules(*this, memo, prefix, remove_duplicate);
  }
  [[nodiscard]] std::vector<Module*> modules() const { return detail::values_of(named_modules()); }
  /// Every name of every slot, ties included.
  [[nodiscard]] Named<SlotPtr> named_slots() const { return detail::named_slots(*this); }
  /// Number of elements of all parameters.
  [[nodiscard]] std::int64_t parameter_count() const { return detail::parameter_count(*this); }

  // --- modes: nn/modes.h -----------------------------------------------------------------------

  /// The module's own flag, or what the call under way was told.
  [[nodiscard]] bool training() const { return detail::training(*this); }
  Module& train(bool on = true) { return detail::train(*this, on); }
  Module& eval() { return train(false); }
  /// Drops all gradients; with `set_to_none` false they become zeros, off any tape.
  void zero_grad(bool set_to_none = true) { detail::zero_grad(*this, set_to_none); }
  Module& requires_grad_(bool on = true) { return detail::requires_grad_(*this, on); }
  /// Calls `visit` for all modules of the tree, children before their parents, this one last. A
  /// module below two parents is visited twice, unless `once`.
  Module& apply(const std::function<void(Module&)>& visit, bool once = false) {
    return detail::apply(*this, visit, once);
  }

  // --- casts and moves: nn/moves.h -------------------------------------------------------------
  // All change parameters, their gradients and buffers in place and return this module. Slots, and
  // so ties, hooks and optimizers, stay; handles on the old tensors keep the old values. They throw
  // before anything is changed: NotImplementedError for a device that this build lacks or, but
  // for `to_empty`, for tensors without elements, RuntimeError for state that ranks share. What
  // is moved is there when they return, so `non_blocking` changes nothing.

  /// Converts what is floating or complex. Throws TypeError for a dtype that is neither.
  Module& to(DType dtype, bool /*non_blocking*/ = false) { return detail::to(*this, {}, dtype); }
  /// Moves everything, and converts as above.
  Module& to(Device device, std::optional<DType> dtype = {}, bool /*non_blocking*/ = false) {
    return detail::to(*this, device, dtype);
  }
  /// Moves it to the device and dtype of `like`.
  Module& to(const Tensor& like, bool /*non_blocking*/ = false) {
    return to(like.device(), like.dtype());
  }
  /// Lays out tensors of four and five dims.
  Module& to(MemoryFormat format) { return detail::to(*this, format); }
  /// These convert what is floating, and leave complex numbers alone.
  Module& to_float() { return detail::to(*this, {}, DType::f32, is_floating); }
  Module& to_double() { return detail::to(*this, {}, DType::f64, is_floating); }
  Module& to_half() { return detail::to(*this, {}, DType::f16, is_floating); }
  Module& to_bfloat16() { return detail::to(*this, {}, DType::bf16, is_floating); }
  /// Converts everything, integers too. Throws TypeError for a trained parameter that would not be
  /// floating or complex, InvalidArgument for a name that is no dtype.
  Module& type(DType dtype) { return detail::type(*this, dtype); }
  Module& type(std::string_view dtype) { return type(parse_dtype(dtype)); }
  Module& cpu() { return to(Device{}); }
  Module& cuda(std::optional<int> index = {}) { return detail::to(*this, DeviceType::cuda, index); }
  Module& xpu(std::optional<int> index = {}) { return detail::to(*this, DeviceType::xpu, index); }
  Module& ipu(std::optional<int> index = {}) { return detail::to(*this, DeviceType::ipu, index); }
  Module& mtia(std::optional<int> index = {}) { return detail::to(*this, DeviceType::mtia, index); }
  /// Uninitialised tensors of the same shapes and dtypes on `device`.
  Module& to_empty(Device device, bool recurse = true) {
    return detail::to_empty(*this, device, recurse);
  }
  /// Puts the tensors into memory that processes forked from now on share.
  Module& share_memory() { return detail::share_memory(*this); }

  // --- calls: nn/functional/module_calls.h -----------------------------------------------------
  // For modules of any class whose forward takes and gives one tensor; Ptr and Child call every
  // forward by its own signature, and nn/functional/pure.h has the pure forms for those. They throw
  // NotImplementedError without a forward, Unsupported when it has another signature.

  /// Runs hooks and forward.
  Tensor operator()(const Tensor& x) const { return detail::call_as(*this, detail::key(*this), x); }
  /// Pure: no hooks, nothing is changed. What forward assigned is in the module that `update` and
  /// `call_and_update` give, which shares everything else with this one.
  [[nodiscard]] virtual Tensor call(const Tensor& x) const { return detail::call(*this, x); }
  [[nodiscard]] virtual ModulePtr update(const Tensor& x) const {
    return call_and_update(x).second;
  }
  [[nodiscard]] virtual std::pair<Tensor, ModulePtr> call_and_update(const Tensor& x) const {
    return detail::call_and_update(*this, x);
  }

  // --- state: nn/state/module_state.h ----------------------------------------------------------

  /// Parameters, persistent buffers and extra state by every name, on the modules' own memory.
  StateDict state_dict(const StateDictOptions& options = {}) const {
    return detail::state_dict(*this, options);
  }
  /// Copies into the existing tensors, of which those without elements take nothing, with a
  /// warning; or, with `assign`, takes the given ones. Throws RuntimeError listing all that does
  /// not fit and, when `strict`, every missing and unexpected key; then, and when a hook or
  /// `set_extra_state` throws, nothing is changed.
  LoadResult load_state_dict(const StateDict& state, const LoadOptions& options = {}) {
    return detail::load_state_dict(*this, state, options);
  }
  /// The parameters as a tree, each under its first name, detached: nn/state/variables.h.
  [[nodiscard]] Variables v() const;
  /// Copies into the parameters, and so into those of a module that shares their memory, as what
  /// `update` gives does. A place without a value is one here too. Throws StructureError listing
  /// all that does not fit, and then changes nothing.
  void set_v(const Variables& values) { detail::set_v(*this, values); }
  /// Parameters and all buffers.
  [[nodiscard]] Variables variables() const;

  // --- as a value: nn/tree/copying.h, nn/state/module_state.h ----------------------------------
  // Copies have new slots with the ties of the old ones, and no hooks. They throw Unsupported
  // naming a class without a copy constructor.

  /// A copy with its own memory.
  [[nodiscard]] ModulePtr clone() const { return detail::clone(*this); }
  /// The tensors of all slots, each once, detached, and everything else.
  [[nodiscard]] std::pair<std::vector<Tensor>, TreeDef> flatten() const;
  /// The inverse: a module on the memory of `leaves`. Undefined leaves leave slots without a value;
  /// shapes and dtypes are taken as they come. Throws StructureError for another number of leaves.
  [[nodiscard]] static ModulePtr unflatten(const TreeDef& definition,
                                           std::span<const Tensor> leaves) {
    return detail::unflatten(definition, leaves);
  }
  /// The ops of these names, which a forward that writes `flatten(x, 1)` means.
  [[nodiscard]] static Tensor clone(const Tensor& x);
  [[nodiscard]] static Tensor flatten(const Tensor& x, int first = 0, int last = -1);
  [[nodiscard]] static Tensor unflatten(const Tensor& x, int dim, const Shape& sizes);

  /// Written to state dicts, so that a later version of a class can tell what it is given.
  [[nodiscard]] virtual int state_version() const { return 1; }
  /// What a registered class is made again from: nn/state/serialize.h.
  [[nodiscard]] virtual Value config() const { return {}; }

  // --- hooks: nn/hooks/call_hooks.h, nn/hooks/state_hooks.h ------------------------------------

  /// Runs before each call of this module, through Child or Ptr: `hook(module, args)` or
  /// `hook(module, args, kwargs)`, which may return new ones; a single tensor stands for the only
  /// argument. Like all but forward hooks, throws ValueError for `always_call`.
  template <class F>
  RemovableHandle register_forward_pre_hook(F hook, const HookOptions& options = {}) {
    return detail::own_call_hooks(*this).add_forward_pre(std::move(hook), options);
  }
  /// Runs after each call: `hook(module, args, output)` or `hook(module, args, kwargs, output)`,
  /// which may return a new output.
  template <class F>
  RemovableHandle register_forward_hook(F hook, const HookOptions& options = {}) {
    return detail::own_call_hooks(*this).add_forward(std::move(hook), options);
  }
  /// Runs before this module's gradients are computed: `hook(module, grad_output)`, which may
  /// return new ones.
  template <class F>
  RemovableHandle register_full_backward_pre_hook(F hook, const HookOptions& options = {}) {
    return detail::own_call_hooks(*this).add_backward_pre(std::move(hook), options);
  }
  /// Runs when the gradients of this module's inputs are there: `hook(module, grad_input,
  /// grad_output)`, which may return new ones for the inputs. See nn/hooks/backward_hooks.h.
  template <class F>
  RemovableHandle register_full_backward_hook(F hook, const HookOptions& options = {}) {
    return detail::own_call_hooks(*this).add_backward(std::move(hook), options, class_name());
  }
  /// The older form, which sees the gradients around the op that computed the first output. Throws
  /// RuntimeError beside full backward hooks.
  template <class F>
  [[deprecated("use register_full_backward_hook")]] RemovableHandle register_backward_hook(F hook) {
    return detail::own_call_hooks(*this).add_legacy(std::move(hook), class_name());
  }

  /// Around `state_dict` and `load_state_dict`, also of a tree: see nn/hooks/state_hooks.h.
  RemovableHandle register_state_dict_pre_hook(StateDictPreHook hook) {
    return detail::own_state_hooks(*this).save_pre->add(std::move(hook));
  }
  RemovableHandle register_state_dict_post_hook(StateDictPostHook hook) {
    return detail::own_state_hooks(*this).save_post->add(std::move(hook));
  }
  RemovableHandle register_load_state_dict_pre_hook(LoadPreHook hook) {
    return detail::own_state_hooks(*this).load_pre->add(std::move(hook));
  }
  RemovableHandle register_load_state_dict_post_hook(LoadPostHook hook) {
    return detail::own_state_hooks(*this).load_post->add(std::move(hook));
  }

  // --- text: nn/print.h ------------------------------------------------------------------------

  /// The class-specific part of the printed form.
  [[nodiscard]] virtual std::string extra_repr() const { return ""; }
  /// The printed form, that of torch.nn.Module.
  [[nodiscard]] std::string repr() const { return detail::repr(*this); }
  [[nodiscard]] virtual std::string class_name() const { return data_.info->name; }
  /// True when children in a row with one printed form are printed once, with their number.
  [[nodiscard]] virtual bool joins_equal_children() const { return false; }
  /// True when outputs of one sample depend on others (batch statistics): such a module is run on
  /// one microbatch at a time.
  [[nodiscard]] virtual bool mixes_samples() const { return false; }

 protected:
  /// Makes what the constructor could not, from the arguments of `build` or of the first call.
  /// Runs once, before state has values. False: what is made here is complete only after a call,
  /// which the modules in it wait for; until then this one is not built.
  virtual bool do_build(const Args& /*args*/, const Kwargs& /*kwargs*/) { return true; }
  /// Registers more state of the module's own, after `do_build`.
  virtual void create_variables(Device /*device*/, DType /*dtype*/) {}
  /// For constructors: the first call builds this module, whose state is all declared already,
  /// with kInferred for sizes that the call tells.
  void build_on_call() { detail::build_on_call(*this); }
  /// For containers: the class that all children must be of, or null; and names came or went.
  [[nodiscard]] virtual const ClassInfo* class_of_children() const { return nullptr; }
  virtual void children_changed() {}

 private:
  friend struct detail::ModuleAccess;
  detail::ModuleData data_{.self = this};
};

/// Prints the tree in the form of torch.nn.Module.
std::ostream& operator<<(std::ostream&, const Module&);

}  // namespace tessera::nn
