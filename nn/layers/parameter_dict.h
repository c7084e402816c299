// Parameters by name.
#pragma once

#include <string>
#include <vector>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Parameters under names of the owner's choice, in the order in which they came. It has no
/// forward.
class ParameterDict : public Module {
 public:
  /// Adds one: its value is made when the root model is, or is `value` itself, which replaces the
  /// parameter that is there.
  Parameter add(const std::string& key, const Shape& shape, Initializer initializer) {
    return {this, key, shape, std::move(initializer)};
  }
  Parameter add(const std::string& key, const Tensor& value) {
    return register_parameter(key, value);
  }
  /// Throws KeyError for a key that is not there.
  [[nodiscard]] Parameter operator[](std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const;
  [[nodiscard]] std::size_t size() const { return keys().size(); }
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tessera::nn
