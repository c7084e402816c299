#include <tessera/nn/layers/parameter_dict.h>

#include <algorithm>

#include <tessera/nn/python_text.h>

namespace tessera::nn {

Parameter ParameterDict::operator[](std::string_view key) const {
  const SlotEntryPtr entry = detail::find_slot(*this, key);
  check<KeyError>(entry != nullptr && entry->slot != nullptr, "ParameterDict: no parameter \"", key,
                  "\"");
  return Parameter(entry);
}

bool ParameterDict::contains(std::string_view key) const {
  return std::ranges::count(keys(), key) > 0;
}

std::vector<std::string> ParameterDict::keys() const {
  return mapped(named_parameters({.remove_duplicate = false}),
                [](const auto& entry) { return entry.first; });
}

std::string ParameterDict::extra_repr() const {
  std::string text;
  for (const auto& [name, parameter] : named_parameters({.remove_duplicate = false})) {
    text += (text.empty() ? "  (" : "\n  (") + name + "): Parameter containing: [" +
            python_tensor_type(parameter.slot()->dtype) + " of size " +
            python_sizes(parameter.shape()) + "]";
  }
  return text;
}

}  // namespace tessera::nn
