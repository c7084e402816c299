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

namespace tessera::nn::detail {
namespace {

/// Calls `visit` for the tensors in `value`, in order.
template <class F>
void each_tensor(const Value& value, const F& visit) {
  if (value.is<Tensor>()) {
    visit(value.tensor());
  } else if (value.is<Value::List>()) {
    for (const Value& part : value.get<Value::List>()) {
      each_tensor(part, visit);
    }
  } else if (value.is<Value::Map>()) {
    for (const auto& [name, part] : value.get<Value::Map>()) {
      each_tensor(part, visit);
    }
  }
}

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
      : module_(module), slots_(module.slot_entries()), children_(module.child_entries()) {}
  ~NamesGuard() {
    if (!kept_) {
      erase_new(std::vector(module_.slot_entries()), slots_);
      erase_new(std::vector(module_.child_entries()), children_);
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

/// Also of a module that nobody told its class.
std::string class_name_of(const Module& module) {
  return module.class_info().type == nullptr ? demangle(typeid(module).name())
                                             : module.class_name();
}

/// Why a module that is built when it is made was not, and what to write.
std::string why_not_made(const Module& module) {
  const std::string name = class_name_of(module);
  if (module.class_info().type == nullptr) {
    return "was not made by nn::make, so it has no values; write nn::make<" + name + ">(...)";
  }
  return "was made in the constructor of another module and is no part of it, so it has no values; "
         "write nn::Child<" +
         name + "> member{this, \"member\", ...} or register_module(\"member\", ...)";
}

}  // namespace

// --- declaring ----------------------------------------------------------------------------------

/// Tells what is new in a model its key and name there, which its parameters' values follow from.
void Builder::place(Module& module, std::uint64_t model_key, const std::string& path) {
  if (module.model_key_) {
    return;  // made as a model of its own
  }
  module.model_key_ = model_key;
  module.path_ = path;
  for (const ChildEntryPtr& child : module.children_) {
    if (child->module != nullptr) {
      place(*child->module, model_key, dotted(path, child->name));
    }
  }
}

void Builder::declare(Module& module, const Args& args, const Kwargs& kwargs) {
  const Construction construction(module.options_);
  NamesGuard names(module);
  const bool whole = module.do_build(args, kwargs);
  module.create_variables(module.device(), module.dtype());
  names.keep();
  module.declared_ = true;
  module.partly_ = !whole;
  for (const SlotEntryPtr& entry : module.slots_) {
    if (entry->slot != nullptr && !entry->slot->value.defined() && !entry->slot->own_dtype) {
      entry->slot->dtype = module.dtype();
    }
  }
  for (const ChildEntryPtr& child : module.children_) {
    if (child->module != nullptr && !child->module->model_key_) {
      child->module->train(module.training_);
      place(*child->module, module.model_key_.value_or(0), dotted(module.path_, child->name));
    }
  }
}

/// Declares `module`, if it is wanted, and what is built along with it.
void Builder::declare_tree(Module& module, const Args& args, const Kwargs& kwargs, bool wanted) {
  if (wanted && !module.declared_) {
    declare(module, args, kwargs);
  }
  for (const ChildEntryPtr& child : module.children_) {
    if (child->module != nullptr) {
      const BuildMode mode = child->module->build_mode();
      const bool along =
          mode == BuildMode::on_init || (mode == BuildMode::explicitly && module.declared_ &&
                                         module.build_mode() == BuildMode::explicitly);
      declare_tree(*child->module, {}, {}, along);
    }
  }
}

// --- values -------------------------------------------------------------------------------------

bool Builder::has_given(const Module& module) {
  return module.options_ != nullptr && module.options_->v.has_value();
}

bool Builder::keeps_parameters(const Module& module) {
  return module.options_ == nullptr || module.options_->store_vars.value_or(true);
}

/// What was given to `module`, or to one that holds it, for its slot `name`; undefined for nothing
/// that fits.
Tensor Builder::given_to(const Module& module, const std::string& name, const Slot& slot) {
  std::string path = name;
  for (const Module* at = &module; at != nullptr;
       path = dotted(at->key(), path), at = at->parent_) {
    const Variables* leaf = has_given(*at) ? at->options_->v->find(path) : nullptr;
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
Tensor Builder::new_value(const Module& module, const SlotEntry& entry) {
  const Slot& slot = *entry.slot;
  Tensor value = empty(slot.shape, {.dtype = slot.dtype, .device = module.device()});
  if (value.device().type != DeviceType::meta) {
    slot.initializer(value, {.key = mix(module.model_key_.value_or(0),
                                        hash_name(dotted(module.path_, entry.name)))});
  }
  return value;
}

/// What was given for a parameter, or a new value.
Tensor Builder::first_value(const Module& module, const SlotEntry& entry) {
  const bool parameter = entry.kind == Slot::Kind::parameter;
  const Tensor given = parameter ? given_to(module, entry.name, *entry.slot) : Tensor();
  return given.defined() ? given : new_value(module, entry);
}

void Builder::fill_slot(const Module& module, const SlotEntry& entry) {
  Slot& slot = *entry.slot;
  if (slot.value.defined() || !slot.sized() || slot.initializer == nullptr) {
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
void Builder::fill(Module& module) {
  const CategoryScope category(MemoryCategory::parameter);
  const NoGradGuard no_grad;
  const ModeGuard<&Modes::autocast> full_precision(std::nullopt);
  for (const auto& [path, below] : module.all_modules()) {
    for (const SlotEntryPtr& entry : below->slots_) {
      if (below->declared_ && entry->slot != nullptr) {
        fill_slot(*below, *entry);
      }
    }
  }
}

/// Compares what was given to `module` with what it has. False when not all of that is known yet.
bool Builder::check_given(Module& module) {
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
  const ModuleOptions& options = *module.options_;
  const std::string difference =
      own.diff(*options.v, {.dtypes = true, .partial = options.with_partial_v});
  check<StructureError>(difference.empty(), module.class_name(),
                        ": given other variables than it has\n", difference);
  return true;
}

/// A module that keeps no parameters has what it was given to give it again.
bool Builder::lets_go_of_given(const Module& module) {
  return std::ranges::all_of(module.all_modules(),
                             [](const auto& below) { return keeps_parameters(*below.second); });
}

/// Values for what was declared below `root`, unless what was given does not fit.
void Builder::settle(Module& root) {
  std::vector<Module*> settled;
  for (const auto& [path, module] : root.all_modules()) {
    if (module->declared_ && !module->partly_ && (!has_given(*module) || check_given(*module))) {
      settled.push_back(module);
    }
  }
  fill(root);
  for (Module* module : settled) {
    module->ready_ = true;
    if (has_given(*module) && lets_go_of_given(*module)) {
      ModuleOptions rest = *module->options_;
      rest.v.reset();
      module->options_ = std::make_shared<const ModuleOptions>(std::move(rest));
    }
  }
}

// --- the three ways in --------------------------------------------------------------------------

void Builder::finish(Module& root) {
  place(root, next_model_key(), "");
  root.name_slots();
  declare_tree(root, {}, {}, root.build_mode() == BuildMode::on_init);
  settle(root);
}

void Builder::complete(Module& module) {
  module.declared_ = true;
  module.partly_ = false;
  module.ready_ = true;
}

std::optional<Builder::Waiting> Builder::waiting(const Module& module) {
  if (module.declared_ || !module.lists_state_) {
    return std::nullopt;
  }
  return Waiting{module.options_ == nullptr ? std::nullopt : module.options_->dtype,
                 module.model_key_, module.path_};
}

void Builder::set_waiting(Module& module, const Waiting& waiting) {
  module.adopt({}, waiting.dtype);
  module.model_key_ = waiting.model_key;
  module.path_ = waiting.path;
}

BuildStatus Builder::build(Module& root, const Args& args, const Kwargs& kwargs,
                           const BuildOptions& options) {
  root.adopt_below(options.device, options.dtype);
  if (root.build_mode() != BuildMode::on_call) {
    root.build_args_ = args;
    root.build_kwargs_ = kwargs;
    declare_tree(root, args, kwargs, true);
    settle(root);
  }
  return status_of(root);
}

/// The parameters there are; those that are not kept are made.
BuildStatus Builder::status_of(Module& root) {
  BuildStatus status{.complete = root.built(), .variables = {}};
  std::unordered_set<const Slot*> seen;
  for (const auto& [path, module] : root.all_modules()) {
    for (const SlotEntryPtr& entry : module->slots_) {
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

bool Builder::try_on_meta(const Module& module, const Args& args, const Kwargs& kwargs,
                          const Forward& forward) {
  const MetaScope meta(module);
  const CallStateGuard<&CallState::declaring> declaring(true);
  try {
    forward(as_meta(args).get<Args>(), as_meta(kwargs).get<Kwargs>());
    return true;
  } catch (const NotImplementedError&) {
    return false;  // forward reads values: only the call itself can tell
  }
}

void Builder::check_may_build(const Module& module) {
  const CallState& state = CallState::current();
  check<RuntimeError>(state.pure == nullptr || state.declaring, module.class_name(),
                      ": is not built; a pure call does not build");
}

void Builder::prepare_call(const Module& called, const Args& args, const Kwargs& kwargs,
                           const Forward& forward, bool given_to_call) {
  const OutsideRegionScope outside;
  auto& module = const_cast<Module&>(called);
  const CallState& state = CallState::current();
  if (!module.declared_) {
    const BuildMode mode = module.build_mode();
    check<RuntimeError>(mode != BuildMode::on_init, class_name_of(module), ": ",
                        why_not_made(module));
    check<RuntimeError>(mode != BuildMode::explicitly, module.class_name(),
                        ": is not built; call build() first (build mode \"explicit\")");
    check_may_build(module);
    if (module.options_ == nullptr || !module.options_->dtype) {
      module.adopt({}, floating_dtype(args, kwargs));
    }
    declare_tree(module, args, kwargs, true);
  }
  if (module.partly_) {
    check_may_build(module);
  }
  if (state.declaring) {
    return;
  }
  const bool compared = has_given(module) || given_to_call;
  const bool known = compared && try_on_meta(module, args, kwargs, forward);
  module.partly_ = module.partly_ && !known;
  if (compared && !known) {
    fill(module);
  } else {
    settle(module);
  }
}

void Builder::finish_call(const Module& module) {
  if (module.ready_) {
    return;
  }
  auto& called = const_cast<Module&>(module);
  called.partly_ = false;
  if (!CallState::current().declaring) {
    settle(called);
  }
}

}  // namespace tessera::nn::detail
