// How two trees of tensors differ.
#include <sstream>

#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/entries.h>

namespace tessera::nn {
namespace {

/// Collects the differences of one tree from another.
class Differences {
 public:
  explicit Differences(const StructureOptions& options) : options_(options) {}

  void compare(const Variables& expected, const Variables& given, const std::string& path) {
    if (expected.is_leaf() != given.is_leaf()) {
      line("kind", path, given.is_leaf() ? "a tensor" : "a tree",
           expected.is_leaf() ? "a tensor" : "a tree");
      return;
    }
    if (expected.is_leaf()) {
      compare_leaves(expected.leaf(), given.leaf(), path);
    }
    for (const auto& [name, value] : expected) {
      const std::string below = detail::dotted(path, name);
      if (const Variables* counterpart = given.find(name)) {
        compare(value, *counterpart, below);
      } else if (!options_.partial) {
        list("missing", value, below);
      }
    }
    for (const auto& [name, value] : given) {
      if (!expected.contains(name)) {
        list("superfluous", value, detail::dotted(path, name));
      }
    }
  }

  /// A line for each.
  [[nodiscard]] std::string text() const {
    std::string text = lines_.str();
    return text.substr(0, text.size() - (text.empty() ? 0 : 1));
  }

 private:
  /// A leaf, or each leaf of a tree, that has no counterpart.
  void list(const char* what, const Variables& value, const std::string& path) {
    for (const auto& [name, leaf] : value.leaves()) {
      lines_ << what << ": \"" << (name.empty() ? path : detail::dotted(path, name)) << "\"\n";
    }
  }

  template <class T>
  void line(const char* what, const std::string& path, const T& given, const T& expected) {
    lines_ << what << " of \"" << path << "\": got " << given << ", expected " << expected << '\n';
  }

  /// Places without a value have no shape and no dtype.
  void compare_leaves(const Tensor& expected, const Tensor& given, const std::string& path) {
    if (!expected.defined() || !given.defined()) {
      return;
    }
    if (options_.shapes && expected.shape() != given.shape()) {
      line("shape", path, given.shape(), expected.shape());
    }
    if (options_.dtypes && expected.dtype() != given.dtype()) {
      line("dtype", path, given.dtype(), expected.dtype());
    }
  }

  StructureOptions options_;
  std::ostringstream lines_;
};

}  // namespace

std::string Variables::diff(const Variables& given, const StructureOptions& options) const {
  Differences differences(options);
  differences.compare(*this, given, "");
  return differences.text();
}

}  // namespace tessera::nn
