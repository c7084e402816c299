// Modules by name.
#pragma once

#include <string>
#include <vector>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Children under names of the owner's choice, in the order in which they came. It has no forward:
/// the owner picks.
///
///   nn::Child<nn::ModuleDict> heads{this, "heads"};
///   MyModel() { heads->add<nn::Linear>("digit", 64, 10); }
///   ... return (*heads)["digit"].call(x);
class ModuleDict : public Module {
 public:
  /// Constructs a module under `key`, in place of the one that is there.
  template <std::derived_from<Module> M, class... A>
  M& add(const std::string& key, A&&... arguments) {
    return *register_module(key, std::shared_ptr<M>(make<M>(std::forward<A>(arguments)...)));
  }
  /// Throws KeyError for a key that is not there.
  [[nodiscard]] Module& operator[](std::string_view key) const { return *find(key)->module; }
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
