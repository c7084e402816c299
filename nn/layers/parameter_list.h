// Parameters by number.
#pragma once

#include <string>

#include <tessera/nn/module.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// Parameters named "0", "1", ... in order. It has no forward.
class ParameterList : public Module {
 public:
  /// Adds one more at the end: one whose value is made when the root model is, or `value` itself.
  Parameter append(const Shape& shape, Initializer initializer) {
    return {this, detail::next_number(detail::slot_entries(*this)), shape, std::move(initializer)};
  }
  Parameter append(const Tensor& value) {
    return register_parameter(detail::next_number(detail::slot_entries(*this)), value);
  }
  [[nodiscard]] std::size_t size() const { return detail::slot_entries(*this).size(); }
  /// Throws KeyError beyond the end.
  [[nodiscard]] Parameter operator[](std::size_t i) const {
    check<KeyError>(i < size(), "ParameterList: no parameter ", i, "; got ", size());
    return Parameter(detail::slot_entries(*this)[i]);
  }
  [[nodiscard]] std::string extra_repr() const override {
    std::string text;
    for (const auto& [name, parameter] : named_parameters({.remove_duplicate = false})) {
      text += (text.empty() ? "  (" : "\n  (") + name + "): Parameter containing: [" +
              python_dtype(parameter.slot()->dtype) + " of size " +
              python_sizes(parameter.shape()) + "]";
    }
    return text;
  }
};

}  // namespace tessera::nn
