// What a plain function declares and changes when it is a module.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/nn/make.h>

namespace tessera::nn {

class FunctionModuleBase;

/// What declaring a name for the second time in one call does.
enum class DeclareMode : std::uint8_t {
  strict,              ///< throws ValueError
  append,              ///< declares name_1, name_2, ... instead
  clobber,             ///< counts, and the first does not
  conditional_clobber  ///< does not count, the first does
};

struct VariableOptions {
  bool trainable = true;  ///< a parameter; otherwise a buffer
  DeclareMode mode = DeclareMode::strict;
};

/// The first argument of a function that is a module; see nn/functional/module_of.h.
class State {
 public:
  /// The state of a call of `module`; `initialised` is that module again in the call that finds out
  /// what the function declares, else null.
  State(const FunctionModuleBase& module, FunctionModuleBase* initialised)
      : module_(module), initialised_(initialised) {}

  /// The variable `name`, whose first value is what `make` gives when the module is initialised.
  /// Throws ValueError for a name that this call declared before, and KeyError for one that was not
  /// declared when the module was initialised.
  Tensor variable(std::string_view name, const std::function<Tensor()>& make,
                  const VariableOptions& options = {});
  /// Declares the next value of a variable; the last one counts. Throws ValueError for a name that
  /// was not declared.
  void assign(std::string_view name, const Tensor& value);
  /// Calls a module, whose state becomes part of this one's: below its name when it has one,
  /// otherwise variable by variable. Throws ValueError where names clash, and for a module that was
  /// not called when this one was initialised.
  template <class M, class... A>
  auto call(const Ptr<M>& module, A&&... arguments) {
    return Ptr<M>(std::static_pointer_cast<M>(adopt(module)))(std::forward<A>(arguments)...);
  }

 private:
  ModulePtr adopt(const ModulePtr& module);
  [[nodiscard]] std::string declare(std::string_view name, const VariableOptions& options);

  const FunctionModuleBase& module_;
  FunctionModuleBase* initialised_;
  std::vector<std::string> declared_;
};

}  // namespace tessera::nn
