// What a module keeps besides the members of its class. Only functions of the library see it: see
// nn/tree/module_access.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/nn/hooks/call_hooks.h>
#include <tessera/nn/hooks/state_hooks.h>
#include <tessera/nn/tree/entries.h>
#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

struct ModuleAccess;  // nn/tree/module_access.h

/// How far a module is built, and from what. A first call changes nothing else in a module beside
/// the names that building declares.
struct BuildState {
  bool ready = false;        ///< else a call builds the module, or compares it with what was given
  bool declared = false;     ///< do_build ran
  bool partly = false;       ///< and left something for the first call
  bool lists_state = false;  ///< all names are there before do_build
  std::shared_ptr<const ModuleOptions> options;  ///< null: the defaults
  std::optional<std::uint64_t> model_key;  ///< of the random numbers of the model that it came in
  std::string path;                        ///< its name in that model
  Args args;                               ///< what `build` was given last
  Kwargs kwargs;
  /// Modules in the order of their first tracked calls, by class; not copied.
  std::map<std::string, std::vector<const Module*>> tracked;
};

/// The fields that every call reads come first.
struct ModuleData {
  const ClassInfo* info = nullptr;
  std::unique_ptr<CallHooks> call_hooks = nullptr;  ///< null when there never were any
  mutable BuildState build = {};
  Module* self;                    ///< the module, as whoever made it has it
  const Module* parent = nullptr;  ///< the first; when it lets go, the next
  bool training = true;
  std::vector<SlotEntryPtr> slots = {};
  std::vector<ChildEntryPtr> children = {};
  std::vector<const Module*> other_parents = {};  ///< one for each further name, in order
  std::unique_ptr<StateHooks> state_hooks = nullptr;
};

}  // namespace tessera::nn::detail
