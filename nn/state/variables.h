// Trees of tensors: a module's state as a value, to compute with and to give to calls.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/base/ordered_map.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/state/state_dict.h>

namespace tessera::nn {

/// What is compared besides names and nesting.
struct StructureOptions {
  bool shapes = true;
  bool dtypes = false;
  bool partial = false;  ///< names may be missing
};

/// A tensor, or names and what is below them, in order. Paths may be written with '.' or '/'.
/// Copies share tensors.
///
///   params = params - 0.1 * grads;
class Variables {
 public:
  using Entry = std::pair<std::string, Variables>;

  /// No names.
  Variables();
  /// A leaf; an undefined tensor is one too, a place without a value.
  Variables(Tensor leaf);
  Variables(std::initializer_list<Entry> entries);
  Variables(const Variables&);
  Variables(Variables&&) noexcept;
  Variables& operator=(const Variables&);
  Variables& operator=(Variables&&) noexcept;
  ~Variables();

  [[nodiscard]] bool is_leaf() const { return leaf_.has_value(); }
  /// Throws KeyError unless this is a leaf.
  [[nodiscard]] const Tensor& leaf() const;
  /// The names directly below and what they stand for.
  [[nodiscard]] auto begin() const { return below_.begin(); }
  [[nodiscard]] auto end() const { return below_.end(); }
  [[nodiscard]] std::size_t size() const { return below_.size(); }
  [[nodiscard]] bool empty() const { return !is_leaf() && below_.empty(); }

  /// What is directly below `name`. Throws KeyError for an unknown one.
  [[nodiscard]] const Variables& operator[](std::string_view name) const;
  /// The tree or leaf at a path, or null.
  [[nodiscard]] const Variables* find(std::string_view path) const;
  [[nodiscard]] bool contains(std::string_view path) const { return find(path) != nullptr; }
  /// The leaf at a path. Throws KeyError for a path that leads to none.
  [[nodiscard]] const Tensor& at(std::string_view path) const;
  [[nodiscard]] Tensor& at(std::string_view path);
  /// Puts a leaf or tree at a path, making what is above it. Throws KeyError where a leaf is above.
  void set(std::string_view path, Variables value);

  /// All leaves with their dotted paths, in order.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> leaves() const;
  /// The tree of the same structure with these leaves, in the order of `leaves`. Throws
  /// StructureError for another number of them.
  [[nodiscard]] Variables unflatten(const std::vector<Tensor>& leaves) const;
  /// These variables, names sorted.
  [[nodiscard]] Variables alphabetical() const;

  /// `f` of every leaf that is defined.
  [[nodiscard]] Variables map(const std::function<Tensor(const Tensor&)>& f) const;
  /// `f` of every leaf and its counterpart; where one of them is undefined, the other. Throws
  /// StructureError for a tree of other names, where those of `other` without a value do not count.
  [[nodiscard]] Variables zip_map(const std::function<Tensor(const Tensor&, const Tensor&)>& f,
                                  const Variables& other) const;

  /// Leaf by leaf; with a tree of other names they throw StructureError. An undefined leaf leaves
  /// the other operand as it is.
  friend Variables operator+(const Variables& a, const Variables& b);
  friend Variables operator-(const Variables& a, const Variables& b);
  friend Variables operator*(const Variables& a, const Variables& b);
  friend Variables operator/(const Variables& a, const Variables& b);
  friend Variables operator+(const Variables& a, double b);
  friend Variables operator-(const Variables& a, double b);
  friend Variables operator*(const Variables& a, double b);
  friend Variables operator/(const Variables& a, double b);
  friend Variables operator+(double a, const Variables& b);
  friend Variables operator*(double a, const Variables& b);

  /// One line for each difference of `given` from this tree; empty when there is none.
  [[nodiscard]] std::string diff(const Variables& given,
                                 const StructureOptions& options = {}) const;
  [[nodiscard]] bool same_structure(const Variables& other,
                                    const StructureOptions& options = {}) const {
    return diff(other, options).empty();
  }
  /// Whether `whole` has all of this tree's names, with the same shapes.
  [[nodiscard]] bool is_substructure_of(const Variables& whole) const {
    return whole.same_structure(*this, {.partial = true});
  }

  /// The values under dotted names, without names that have none.
  [[nodiscard]] StateDict to_state_dict() const;
  /// Throws TypeError for a value that is no tensor.
  static Variables from_state_dict(const StateDict& state);

  /// Further names of leaves that are listed under their first: dotted alias -> dotted name.
  [[nodiscard]] const OrderedMap<std::string>& aliases() const { return aliases_; }
  void add_alias(std::string_view alias, std::string_view name);

 private:
  void visit_leaves(const std::string& path, const auto& visit) const;

  std::optional<Tensor> leaf_;
  OrderedMap<Variables> below_;
  OrderedMap<std::string> aliases_;
};

}  // namespace tessera::nn
