// Making root models, and the handle that they are held by.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <tessera/nn/call.h>
#include <tessera/nn/child.h>
#include <tessera/nn/tree/construction.h>

namespace tessera::nn {

/// Shared handle on a module that is called like a function.
template <class M>
class Ptr : public std::shared_ptr<M> {
 public:
  using std::shared_ptr<M>::shared_ptr;
  Ptr(std::shared_ptr<M> module) : std::shared_ptr<M>(std::move(module)) {}

  template <class... A>
  auto operator()(A&&... arguments) const {
    return detail::invoke_with_options<M>(**this, (*this)->key(), std::forward<A>(arguments)...);
  }
};

/// Constructs a model and gives its parameters their values, which follow from the seed, the number
/// of models made since, and the parameters' names. Arguments go to M's constructor.
template <std::derived_from<Module> M, class... A>
Ptr<M> make(A&&... arguments) {
  const detail::Construction construction(detail::class_info<M>());
  auto module = std::make_shared<M>(std::forward<A>(arguments)...);
  if (construction.outermost()) {
    module->materialize();
  }
  return module;
}

}  // namespace tessera::nn
