// What tests of layers share.
#pragma once

#include <sstream>
#include <string>
#include <utility>

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/make.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// What `module` prints as.
inline std::string text_of(const Module& module) {
  std::ostringstream text;
  text << module;
  return text.str();
}

/// What an M made of `arguments` is represented by.
template <class M, class... A>
std::string repr_of(A&&... arguments) {
  return make<M>(std::forward<A>(arguments)...)->repr();
}

inline Tensor randn_f64(const Shape& shape) {
  return randn(shape, {.dtype = DType::f64});
}

}  // namespace tessera::nn
