// A module's state under its names.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tessera/core/base/ordered_map.h>
#include <tessera/nn/value.h>

namespace tessera::nn {

/// What one module says of its part of a state dict: its `version`, and what hooks add.
using Metadata = Value::Map;

/// The last part of the name under which a module's extra state is kept.
inline constexpr std::string_view kExtraState = "_extra_state";

/// Dotted names and tensors, and under names that end in `_extra_state` any values, in order.
/// A copy shares the tensors.
class StateDict {
 public:
  using Entry = std::pair<std::string, Value>;

  StateDict() = default;
  StateDict(std::initializer_list<Entry> entries);

  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The value under `name`; null for an unknown one.
  [[nodiscard]] const Value* find(std::string_view name) const;
  /// Throws KeyError for an unknown name.
  [[nodiscard]] const Value& at(std::string_view name) const;
  /// Throws KeyError for an unknown name, TypeError for a value that is no tensor.
  [[nodiscard]] Tensor tensor(std::string_view name) const { return at(name).get<Tensor>(); }
  /// Adds at the end, or replaces in place.
  void set(std::string_view name, Value value);
  /// False when there was nothing to take out.
  bool erase(std::string_view name);
  /// The entries whose names begin with `prefix`, and all metadata.
  [[nodiscard]] StateDict below(std::string_view prefix) const;

  /// What modules say, by their paths; the root's is empty.
  [[nodiscard]] OrderedMap<Metadata>& metadata() { return metadata_; }
  [[nodiscard]] const OrderedMap<Metadata>& metadata() const { return metadata_; }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> places_;
  OrderedMap<Metadata> metadata_;
};

/// A path as what `StateDictOptions::prefix` takes for it: "net" and "net." give "net.", "" gives
/// "".
[[nodiscard]] std::string prefix_of(std::string_view path);

struct StateDictOptions {
  StateDict* destination = nullptr;  ///< filled as well; what it holds stays in front
  std::string prefix{};              ///< put before every name as it is: see `prefix_of`
  bool keep_vars = false;            ///< the modules' own tensors, not detached from their tape
};

struct LoadOptions {
  bool strict = true;   ///< the names must be those of the module
  bool assign = false;  ///< the given tensors, and their dtypes, become the module's own
};

struct LoadResult {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// "all keys matched", or which did not.
std::ostream& operator<<(std::ostream&, const LoadResult&);

/// State besides tensors that a module saves: derive from this as well as from Module.
struct HasExtraState {
  virtual ~HasExtraState() = default;
  [[nodiscard]] virtual Value get_extra_state() const = 0;
  virtual void set_extra_state(const Value& state) = 0;
};

}  // namespace tessera::nn
