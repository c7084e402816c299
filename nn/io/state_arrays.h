// A module's state as the contents of a file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/nn/io/outgoing_arrays.h>
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

/// The slots below `module` by all names that they have.
[[nodiscard]] std::map<std::string, const Slot*> slots_by_name(const Module& module);

/// Names of all extra state below `module`, and the modules that have it.
[[nodiscard]] std::vector<std::pair<std::string, HasExtraState*>> named_extra_states(
    const Module& module);

/// Calls `visit` for all that the state dict of `module` holds, in its order: the name, the value,
/// and the slot of that name, null for what is no slot's.
void visit_state(const Module& module,
                 const std::function<void(const std::string& name, const Value& value,
                                          const Slot* slot)>& visit);

/// Adds what a module's state dict holds as `name`: extra state as bytes, else a tensor, which is
/// written once for all names of `slot`, null for one that is no slot's. True where a slot's value
/// was written, and no name was added to it. Throws TypeError for another value.
bool add_state(OutgoingArrays& arrays, const std::string& path, const std::string& name,
               const Value& value, const Slot* slot, bool transposed = false);

/// The inverse: the value of a state dict's `name` that a file holds as `array`. Throws IoError
/// that begins with `what` for bytes that are no extra state.
[[nodiscard]] Value state_value(const std::string& name, const Tensor& array,
                                const std::string& what);

/// The arrays of a module's state in the order of its state dict; holds what they point to.
class StateArrays {
 public:
  StateArrays(const Module& module, Format format, const NameMap& names, WeightsScope scope);
  [[nodiscard]] const ArrayFileContents& contents() const { return arrays_.contents(); }

 private:
  void add(const std::string& name, const Value& value, const Slot* slot);
  void describe(const std::string& path, const Slot& slot);
  void describe_modules(const Module& module);
  void attribute(const std::string& owner, const char* name, const AttributeValue& value) {
    arrays_.contents().attributes.push_back({owner, name, value});
  }
  [[nodiscard]] std::string path_of(const std::string& name) const;

  Format format_;
  const NameMap& names_;
  OutgoingArrays arrays_;
};

}  // namespace tessera::nn
