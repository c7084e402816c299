// Frozen parameters keep their gradients and hooks.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// While it lives, `x`, a leaf of a floating or complex dtype, can be told its gradient and hooks
/// even though it is frozen; it keeps them for when it is trained again.
class ThawScope {
 public:
  explicit ThawScope(const Tensor& x) : x_(x), trained_(x.requires_grad()) {
    x_.set_requires_grad(true);
  }
  ~ThawScope() { x_.set_requires_grad(trained_); }
  ThawScope(const ThawScope&) = delete;
  ThawScope& operator=(const ThawScope&) = delete;

 private:
  Tensor x_;
  bool trained_;
};

}  // namespace tessera::nn
