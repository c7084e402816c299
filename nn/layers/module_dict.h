// Modules by name.
#pragma once

#include <string>
#include <vector>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Children under names of the owner's choice, in the order in which they came. It has no forward:
/// the owner picks. What takes and gives one tensor is called through `[]`, all else through `get`.
///
///   nn::Child<nn::ModuleDict> parts{this, "parts"};
///   MyModel() { parts->add<nn::LSTM>("body", 32, 64); parts->add<nn::Linear>("head", 64, 10); }
///   ... const auto [y, state] = parts->get<nn::LSTM>("body")(x);
///   ... return (*parts)["head"](y);
class ModuleDict : public Module {
 public:
  /// Constructs a module under `key`, in place of the one that is there.
  template <std::derived_from<Module> M, class... A>
  M& add(const std::string& key, A&&... arguments) {
    return *register_module(key, std::shared_ptr<M>(make<M>(std::forward<A>(arguments)...)));
  }
  /// Throws KeyError for a key that is not there.
  [[nodiscard]] Module& operator[](std::string_view key) const { return *find(key)->module; }
  /// The module under `key` as a handle that is called by M's own forward. Throws TypeError for a
  /// module that is no M.
  template <std::derived_from<Module> M>
  [[nodiscard]] Ptr<M> get(std::string_view key) const {
    const ModulePtr& module = find(key)->module;
    check<TypeError>(detail::class_info<M>().can_hold(*module), "ModuleDict: \"", key, "\" is a ",
                     module->class_name(), ", not a ", detail::class_info<M>().name);
    return Ptr<M>(std::static_pointer_cast<M>(module));
  }
  [[nodiscard]] bool contains(std::string_view key) const;
  [[nodiscard]] std::size_t size() const { return keys().size(); }
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Removes a module and gives it. Throws KeyError for a key that is not there.
  ModulePtr pop(std::string_view key);
  void clear();

 private:
  [[nodiscard]] ChildEntryPtr find(std::string_view key) const;
};

}  // namespace tessera::nn
