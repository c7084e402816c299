// A module's state as the contents of a file.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/weights.h>

namespace tessera::nn {

/// Attribute of a file of weights: the version of its layout, and the one that this library writes.
inline constexpr const char* kWeightsFormatAttribute = "weights_format";
inline constexpr std::int64_t kWeightsFormat = 1;
/// Attributes of groups.
inline constexpr const char* kClassAttribute = "class";
inline constexpr const char* kStateVersionAttribute = "state_version";

/// Whether a dotted name is that of extra state.
[[nodiscard]] inline bool is_extra_state(std::string_view name) {
  return name == kExtraState ||
         (name.ends_with(kExtraState) && name[name.size() - kExtraState.size() - 1] == '.');
}

/// The arrays of a module's state in the order of its state dict; holds what they point to.
class StateArrays {
 public:
  StateArrays(const Module& module, Format format, const NameMap& names, WeightsScope scope);
  [[nodiscard]] const ArrayFileContents& contents() const { return contents_; }

 private:
  struct Written {
    const Slot* slot;
    const void* data;
    bool transposed;
    std::string path;
  };

  void add(const std::string& name, const Value& value, const Slot* slot);
  void add_tensor(const std::string& name, const Tensor& value, const Slot* slot);
  void add_extra_state(const std::string& name, const Value& value);
  void describe(const std::string& path, const Slot& slot);
  void describe_modules(const Module& module);
  [[nodiscard]] std::string path_of(const std::string& name) const;

  Format format_;
  const NameMap& names_;
  ArrayFileContents contents_;
  std::vector<Written> written_;
  std::deque<Tensor> tensors_;
  std::deque<std::vector<std::byte>> bytes_;
};

}  // namespace tessera::nn
