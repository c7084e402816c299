// How the lists of the library's own classes are written.
#pragma once

#include <string>
#include <vector>

#include <tessera/nn/state/arguments.h>

namespace tessera::nn::detail {

template <class... M>
[[nodiscard]] std::vector<RegisteredClass> library_classes() {
  return {registered_class<M>(std::string(kLibrary) + class_info<M>().name)...};
}

}  // namespace tessera::nn::detail
