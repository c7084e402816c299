// Making root models, and the handle that they are held by.
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/nn/build/builder.h>
#include <tessera/nn/build/construction.h>
#include <tessera/nn/call.h>
#include <tessera/nn/call_checks.h>
#include <tessera/nn/child.h>

namespace tessera::nn {

/// Shared handle on a module that is called like a function.
template <class M>
class Ptr : public std::shared_ptr<M> {
 public:
  using std::shared_ptr<M>::shared_ptr;
  Ptr(std::shared_ptr<M> module) : std::shared_ptr<M>(std::move(module)) {}

  operator std::vector<Parameter>() const = delete;  // for an optimizer: model->parameters()
  template <class... A>
  auto operator()(A&&... arguments) const {
    if constexpr (std::derived_from<M, Module>) {
      return detail::invoke_with_options<M>(**this, detail::key(**this),
                                            std::forward<A>(arguments)...);
    } else {
      return detail::AnyResult();  // check_construction said what is wrong
    }
  }
};

/// Constructs a model and gives its parameters their values, which follow from the seed, the number
/// of models made since, and the parameters' names, whenever they are made. Arguments go to M's
/// constructor. Throws StructureError when `options.v` is not what the model needs.
template <class M, class... A>
Ptr<M> make(const ModuleOptions& options, A&&... arguments) {
  if constexpr (detail::check_construction<M, A...>()) {
    const detail::Construction construction(detail::class_info<M>(), options);
    auto module = std::make_shared<M>(std::forward<A>(arguments)...);
    if (construction.outermost()) {
      detail::finish_make(*module);
    }
    return module;
  } else {
    return nullptr;
  }
}
template <class M, class... A>
requires(!detail::kBeginsWithOptions<A...>)  //
    Ptr<M> make(A&&... arguments) {          // options with their type: ConvOptions{.stride = 2}
  return make<M>(ModuleOptions{}, std::forward<A>(arguments)...);
}

}  // namespace tessera::nn
