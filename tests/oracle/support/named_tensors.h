// Tensors by name, in order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera::oracle {

class NamedTensors {
 public:
  void add(std::string_view name, Tensor x) { entries_.emplace_back(name, std::move(x)); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  /// The i-th; undefined beyond the last.
  [[nodiscard]] Tensor at(std::size_t i) const {
    return i < entries_.size() ? entries_[i].second : Tensor();
  }
  /// Undefined for an unknown name.
  [[nodiscard]] Tensor operator[](std::string_view name) const {
    for (const auto& [known, x] : entries_) {
      if (known == name) {
        return x;
      }
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, Tensor>> entries_;
};

}  // namespace tessera::oracle
