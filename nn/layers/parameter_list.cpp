#include <tessera/nn/layers/parameter_list.h>

#include <tessera/nn/python_text.h>

namespace tessera::nn {

std::string ParameterList::extra_repr() const {
  std::string text;
  for (const auto& [name, parameter] : named_parameters({.remove_duplicate = false})) {
    text += (text.empty() ? "  (" : "\n  (") + name + "): Parameter containing: [" +
            python_dtype(parameter.slot()->dtype) + " of size " + python_sizes(parameter.shape()) +
            "]";
  }
  return text;
}

}  // namespace tessera::nn
