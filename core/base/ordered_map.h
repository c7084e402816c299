// A map from names that keeps the order in which they were added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>

namespace tessera {

/// Names are looked up one after another: meant for a few of them.
template <class T>
class OrderedMap {
 public:
  using Entry = std::pair<std::string, T>;

  OrderedMap() = default;
  OrderedMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) {
      set(entry.first, entry.second);
    }
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  /// Null for an unknown name.
  [[nodiscard]] const T* find(std::string_view name) const { return find_in(entries_, name); }
  [[nodiscard]] T* find(std::string_view name) { return find_in(entries_, name); }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Throws KeyError for an unknown name.
  [[nodiscard]] const T& at(std::string_view name) const {
    const T* found = find(name);
    check<KeyError>(found != nullptr, "no \"", name, "\" among ", size(), " names");
    return *found;
  }
  /// Adds at the end, or replaces in place.
  void set(std::string_view name, T value) {
    if (T* known = find(name)) {
      *known = std::move(value);
    } else {
      entries_.emplace_back(name, std::move(value));
    }
  }
  /// False when there was nothing to take out.
  bool erase(std::string_view name) {
    return std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; }) > 0;
  }

 private:
  static auto find_in(auto& entries, std::string_view name) -> decltype(&entries.begin()->second) {
    const auto found = std::ranges::find(entries, name, &Entry::first);
    return found == entries.end() ? nullptr : &found->second;
  }

  std::vector<Entry> entries_;
};

}  // namespace tessera
