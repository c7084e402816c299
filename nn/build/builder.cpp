#include <tessera/nn/build/builder.h>

#include <algorithm>

#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/base/random_state.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/build/construction.h>
#include <tessera/nn/build/meta_scope.h>
#include <tessera/nn/tree/module_access.h>
#include <tessera/nn/tree/position.h>

namespace tessera::nn::detail {
namespace {

/// The dtype of the first floating or complex tensor of a call.
std::optional<DType> floating_dtype(const Args& args, const Kwargs& kwargs) {
  std::vector<DType> found;
  each_tensor(Value::List{args, kwargs}, [&](const Tensor& x) {
    if (is_differentiable(x.dtype())) {
      found.push_back(x.dtype());
    }
  });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

/// Puts a module's names back to what they were, unless `keep` is called.
class NamesGuard {
 public:
  explicit NamesGuard(Module& module)
      : module_(module), slots_(slot_entries(module)), children_(child_entries(module)) {}
  ~NamesGuard() {
    if (!kept_) {
      erase_new(std::vector(slot_entries(module_)), slots_);
      erase_new(std::vector(child_entries(module_)), children_);
    }
  }
  NamesGuard(const NamesGuard&) = delete;
  NamesGuard& operator=(const NamesGuard&) = delete;
  void keep() { kept_ = true; }

 private:
  template <class Entries>
  void erase_new(const Entries& now, const Entries& before) {
    for (const auto& entry : now) {
      if (std::ranges::find(before, entry) == before.end()) {
        module_.erase(entry->name);
      }
    }
  }

  Module& module_;
  std::vector<SlotEntryPtr> slots_;
  std::vector<ChildEntryPtr> children_;
  bool kept_ = false;
};

/// The class's name, even of a module that nobody told its class.
std::string class_name_of(const Module& module) {
  return class_info(module).type == nullptr ? demangle(typeid(module).name()) : module.class_name();
}

/// Why a module that is built when it is made was not, and what to write.
std::string why_not_made(const Module& module) {
  const std::string name = class_name_of(module);
  if (class_info(module).type == nullptr) {
    return "was not made by nn::make, so it has no values; write nn::make<" + name + ">(...)";
  }
  return "was made in the constructor of another module and is no part of it, so it has no values; "
         "write nn::Child<" +
         name + "> member{this, \"member\", ...} or register_module(\"member\", ...)";
}

// --- declaring ----------------------------------------------------------------------------------

/// Tells what is new in a model its key and name there, which its parameters' values follow from.
void place(const Module& module, std::uint64_t model_key, const std::string& path) {
  BuildState& build_state = build_state_of(module);
  if (build_state.model_key) {
    return;  // made as a model of its own
  }
  build_state.model_key = model_key;
  build_state.path = path;
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr) {
      place(*child->module, model_key, dotted(path, child->name));
    }
  }
}

void declare(Module& module, const Args& args, const Kwargs& kwargs) {
  BuildState& build_state = build_state_of(module);
  const Construction construction(build_state.options);
  NamesGuard names(module);
  const bool whole = ModuleAccess::do_build(module, args, kwargs);
  ModuleAccess::create_variables(module);
  names.keep();
  build_state.declared = true;
  build_state.partly = !whole;
  for (const SlotEntryPtr& entry : slot_entries(module)) {
    if (entry->slot != nullptr && !entry->slot->value.defined() && !entry->slot->own_dtype) {
      entry->slot->dtype = module.dtype();
    }
  }
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr && !build_state_of(*child->module).model_key) {
      train(*child->module, ModuleAccess::data(module).training);
      place(*child->module, build_state.model_key.value_or(0),
            dotted(build_state.path, child->name));
    }
  }
}

/// Declares `module`, if it is wanted, and what is built along with it.
void declare_tree(Module& module, const Args& args, const Kwargs& kwargs, bool wanted) {
  if (wanted && !build_state_of(module).declared) {
    declare(module, args, kwargs);
  }
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr) {
      const BuildMode mode = child->module->build_mode();
      const bool along = mode == BuildMode::on_init ||
                         (mode == BuildMode::explicitly && build_state_of(module).declared &&
                          module.build_mode() == BuildMode::explicitly);
      declare_tree(*child->module, {}, {}, along);
    }
  }
}

// --- values -------------------------------------------------------------------------------------

bool keeps_parameters(const Module& module) {
  return options_of(module).store_vars.value_or(true);
}

/// What was given to `module`, or to one that holds it, for its slot `name`; undefined for nothing
/// that fits.
Tensor given_to(const Module& module, const std::string& name, const Slot& slot) {
  std::string path = name;
  for (const Module* at = &module; at != nullptr;
       path = dotted(key(*at), path), at = ModuleAccess::data(*at).parent) {
    const std::optional<Variables>& all = options_of(*at).v;
    const Variables* leaf = all ? all->find(path) : nullptr;
    if (leaf == nullptr || !leaf->is_leaf()) {
      continue;
    }
    const Tensor& given = leaf->leaf();
    if (given.defined() && given.shape() == slot.shape && given.dtype() == slot.dtype) {
      return given.detach();
    }
  }
  return {};
}

/// Drawn for the name in the model that `module` was made in, wherever it is now.
Tensor new_value(const Module& module, const SlotEntry& entry) {
  const Slot& slot = *entry.slot;
  Tensor value = empty(slot.shape, {.dtype = slot.dtype, .device = module.device()});
  const BuildState& build_state = build_state_of(module);
  slot.initializer(value, Box::all_of(slot.shape),
                   {.key = mix(build_state.model_key.value_or(0),
                               hash_name(dotted(build_state.path, entry.name)))});
  return value;
}

/// What was given for a parameter, or a new value.
Tensor first_value(const Module& module, const SlotEntry& entry) {
  const bool parameter = entry.kind == Slot::Kind::parameter;
  const Tensor given = parameter ? given_to(module, entry.name, *entry.slot) : Tensor();
  return given.defined() ? given : new_value(module, entry);
}

void fill_slot(const Module& module, const SlotEntry& entry) {
  Slot& slot = *entry.slot;
  if (slot.value.defined() || !slot.sized() || !slot.initializer) {
    return;
  }
  const bool parameter = slot.kind == Slot::Kind::parameter;
  slot.stored = !parameter || keeps_parameters(module);
  if (slot.stored) {
    check(!slot.requires_grad() || is_differentiable(slot.dtype), module.class_name(), ": \"",
          entry.name, "\" is trained and has no gradient; got ", slot.dtype,
          ", expected a floating or complex dtype");
    slot.put(first_value(module, entry));
  }
}

/// Gives what is declared its values, parents first.
void fill(const Module& module) {
  const CategoryScope category(MemoryCategory::parameter);
  const NoGradGuard no_grad;
  const ModeGuard<&Modes::autocast> full_precision(std::nullopt);
  for (const auto& [path, below] : all_modules(module)) {
    for (const SlotEntryPtr& entry : slot_entries(*below)) {
      if (build_state_of(*below).declared && entry->slot != nullptr) {
        fill_slot(*below, *entry);
      }
    }
  }
}

/// Compares what was given to `module` with what it has. False when not all of that is known yet.
bool check_given(const Module& module) {
  if (!module.built()) {
    return false;
  }
  Variables own;
  std::unordered_set<const Slot*> seen;
  for (const auto& [name, slot] : module.named_slots()) {
    if (slot->kind == Slot::Kind::parameter && seen.insert(slot.get()).second) {
      const Device meta{.type = DeviceType::meta};
      own.set(name, empty(slot->shape, {.dtype = slot->dtype, .device = meta}));
    }
  }
  const ModuleOptions& options = options_of(module);
  const std::string difference =
      own.diff(*options.v, {.dtypes = true, .partial = options.with_partial_v});
  check<StructureError>(difference.empty(), module.class_name(),
                        ": given other variables than it has\n", difference);
  return true;
}

/// A module that keeps no parameters has what it was given to give it again.
bool lets_go_of_given(const Module& module) {
  return std::ranges::all_of(all_modules(module),
                             [](const auto& below) { return keeps_parameters(*below.second); });
}

/// Values for what was declared below `root`, unless what was given does not fit.
void settle(const Module& root) {
  std::vector<Module*> settled;
  for (const auto& [path, module] : all_modules(root)) {
    const BuildState& build_state = build_state_of(*module);
    if (build_state.declared && !build_state.partly &&
        (!options_of(*module).v || check_given(*module))) {
      settled.push_back(module);
    }
  }
  fill(root);
  for (Module* module : settled) {
    BuildState& build_state = build_state_of(*module);
    build_state.ready = true;
    if (options_of(*module).v && lets_go_of_given(*module)) {
      ModuleOptions rest = options_of(*module);
      rest.v.reset();
      build_state.options = std::make_shared<const ModuleOptions>(std::move(rest));
    }
  }
}

/// The parameters there are; those that are not kept are made.
BuildStatus status_of(const Module& root) {
  BuildStatus status{.complete = root.built(), .variables = {}};
  std::unordered_set<const Slot*> seen;
  for (const auto& [path, module] : all_modules(root)) {
    for (const SlotEntryPtr& entry : slot_entries(*module)) {
      const SlotPtr& slot = entry->slot;
      const bool listed = slot != nullptr && entry->kind == Slot::Kind::parameter &&
                          (slot->value.defined() || !slot->stored) &&
                          seen.insert(slot.get()).second;
      if (listed) {
        status.variables.set(dotted(path, entry->name),
                             slot->stored ? slot->value.detach() : first_value(*module, *entry));
      }
    }
  }
  return status;
}

bool try_on_meta(const Module& module, const Args& args, const Kwargs& kwargs,
                 const std::function<void(const Args&, const Kwargs&)>& forward) {
  const MetaScope meta(module);
  const CallStateGuard<&CallState::declaring> declaring(true);
  try {
    forward(as_meta(args).get<Args>(), as_meta(kwargs).get<Kwargs>());
    return true;
  } catch (const NotImplementedError&) {
    return false;  // forward reads values: only the call itself can tell
  }
}

void check_may_build(const Module& module) {
  const CallState& state = CallState::current();
  check<RuntimeError>(state.pure == nullptr || state.declaring, module.class_name(),
                      ": is not built; a pure call does not build");
}

}  // namespace

namespace {

/// Declares by a first call, whose inputs give the dtype that was not chosen: inputs that are
/// refused give none.
void declare_with_dtype_of(const Module& module, const Args& args, const Kwargs& kwargs) {
  BuildState& build_state = build_state_of(module);
  const std::shared_ptr<const ModuleOptions> chosen = build_state.options;
  if (!options_of(module).dtype) {
    adopt(module, {}, floating_dtype(args, kwargs));
  }
  try {
    declare_tree(self(module), args, kwargs, true);
  } catch (...) {
    if (!build_state.declared) {
      build_state.options = chosen;
    }
    throw;
  }
}

}  // namespace

// --- the three ways in --------------------------------------------------------------------------

void finish_make(Module& root) {
  const std::uint64_t made = Context::current().models_made;
  try {
    place(root, next_model_key(), "");
    name_slots(root);
    declare_tree(root, {}, {}, root.build_mode() == BuildMode::on_init);
    settle(root);
  } catch (...) {
    Context::current().models_made = made;  // one that is refused takes no number
    throw;
  }
}

BuildStatus build(Module& root, const Args& args, const Kwargs& kwargs,
                  const BuildOptions& options) {
  adopt_below(root, options.device, options.dtype);
  if (root.build_mode() != BuildMode::on_call) {
    build_state_of(root).args = args;
    build_state_of(root).kwargs = kwargs;
    declare_tree(root, args, kwargs, true);
    settle(root);
  }
  return status_of(root);
}

void prepare_call(const Module& module, const Args& args, const Kwargs& kwargs,
                  const std::function<void(const Args&, const Kwargs&)>& forward,
                  bool given_to_call) {
  const OutsideRegionScope outside;
  const CallState& state = CallState::current();
  BuildState& build_state = build_state_of(module);
  if (!build_state.declared) {
    const BuildMode mode = module.build_mode();
    check<RuntimeError>(mode != BuildMode::on_init, class_name_of(module), ": ",
                        why_not_made(module));
    check<RuntimeError>(mode != BuildMode::explicitly, module.class_name(),
                        ": is not built; call build() first (build mode \"explicit\")");
    check_may_build(module);
    declare_with_dtype_of(module, args, kwargs);
  }
  if (build_state.partly) {
    check_may_build(module);
  }
  if (state.declaring) {
    return;
  }
  const bool compared = options_of(module).v.has_value() || given_to_call;
  const bool known = compared && try_on_meta(module, args, kwargs, forward);
  build_state.partly = build_state.partly && !known;
  if (compared && !known) {
    fill(module);
  } else {
    settle(module);
  }
}

void finish_call(const Module& module) {
  BuildState& build_state = build_state_of(module);
  if (build_state.ready) {
    return;
  }
  build_state.partly = false;
  if (!CallState::current().declaring) {
    settle(module);
  }
}

}  // namespace tessera::nn::detail
