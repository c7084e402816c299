// What PyTorch gave: tests/fixtures/layers.h5 as a tree.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/io/array_file.h>

namespace tessera::oracle {

/// Numbers and texts by name, such as the arguments of PyTorch's constructor. What was never asked
/// for can be listed, so that no argument is passed over. Without a fallback a missing name is a
/// KeyError.
class Attributes {
 public:
  void add(const std::string& name, nn::AttributeValue value) { values_[name] = std::move(value); }

  [[nodiscard]] bool has(const std::string& name) const;
  /// PyTorch's None, which is kept as the text "None".
  [[nodiscard]] bool is_none(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name, double fallback) const;
  [[nodiscard]] bool flag(const std::string& name, bool fallback) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback) const;
  [[nodiscard]] bool is_text(const std::string& name) const;
  /// A single number is a list of one.
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const;
  [[nodiscard]] Dims dims(const std::string& name) const { return Dims(integers(name)); }
  [[nodiscard]] Dims dims(const std::string& name, const Dims& fallback) const {
    return has(name) ? dims(name) : fallback;
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const;
  /// The names that nobody asked for, since the last call.
  [[nodiscard]] std::set<std::string> unread() const;

 private:
  [[nodiscard]] const nn::AttributeValue& at(const std::string& name) const;

  std::map<std::string, nn::AttributeValue> values_;
  mutable std::set<std::string> read_;
};

/// A group or an array.
struct Node {
  Attributes attributes;
  Tensor values;  ///< undefined for a group
  std::vector<std::pair<std::string, Node>> children;

  [[nodiscard]] bool has(std::string_view name) const;
  /// An empty group where there is none of that name.
  [[nodiscard]] const Node& operator[](std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
};

/// The committed fixture, or the one that TESSERA_LAYERS_FIXTURE names; read once.
[[nodiscard]] const Node& fixture();

}  // namespace tessera::oracle
