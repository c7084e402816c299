// A module that does nothing.
#pragma once

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Gives what it gets. Arguments of the constructor are of no account, so that it can stand where
/// another module was.
class Identity : public Module {
 public:
  template <class... A>
  explicit Identity(const A&...) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const { return x; }
};

}  // namespace tessera::nn
